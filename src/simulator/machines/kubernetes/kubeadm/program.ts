import { errorMessage } from '../../../../machinery/index.ts';
import type { ClusterRegistry } from '../../../../simkube/index.ts';
import type { Program, RunningMachine } from '../../types.ts';
import { installedVersion } from '../installed.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { type KubeadmCommand, parseCommand } from './arguments.ts';
import type { KubeadmContext } from './context.ts';
import { readDocuments } from './documents.ts';
import { KubeadmFailure } from './failure.ts';
import { kubeadmInit } from './init.ts';
import { kubeadmJoin } from './join.ts';

export interface KubeadmOptions {
  readonly registry: ClusterRegistry;
  kubeletOf(machine: RunningMachine): Kubelet;
}

/** The kubeadm program of a machine. */
export function kubeadmProgram(options: KubeadmOptions): Program {
  return async (machine, args) => {
    const say = (line: string): void => machine.console.write(`${line}\n`);
    try {
      return await run(options, machine, parseCommand(args), say);
    } catch (error) {
      // The machine was switched off, so there is no console for the error.
      if (machine.signal.aborted) throw error;
      const failure = error instanceof KubeadmFailure ? error : new KubeadmFailure(undefined, errorMessage(error));
      machine.console.write(failure.text());
      return failure.exitCode;
    }
  };
}

async function run(
  options: KubeadmOptions,
  machine: RunningMachine,
  command: KubeadmCommand,
  say: (line: string) => void,
): Promise<number> {
  const [verb, ...rest] = command.words;
  const context: KubeadmContext = {
    machine,
    registry: options.registry,
    flags: command.flags,
    kubelet: options.kubeletOf(machine),
    say,
  };
  switch (verb) {
    case 'init':
      await kubeadmInit(context, configuration(context, 'init'));
      return 0;
    case 'join':
      await kubeadmJoin(context, configuration(context, 'join'));
      return 0;
    case 'version':
      say(installedVersion(machine)?.text ?? 'v1.34.0');
      return 0;
    case 'config':
      // Simulated machines do not pull images.
      if (rest[0] === 'images') return 0;
      throw new KubeadmFailure(undefined, `kubeadm config ${rest[0] ?? ''} is not simulated`);
    case 'reset':
      reset(machine);
      return 0;
    default:
      throw new KubeadmFailure(
        undefined,
        verb === undefined ? 'kubeadm needs a command: init, join or reset' : `unknown command "${verb}" for "kubeadm"`,
      );
  }
}

function configuration(context: KubeadmContext, verb: string): ReturnType<typeof readDocuments> {
  const { machine, flags, say } = context;
  const path = flags.get('config');
  if (path === undefined) {
    throw new KubeadmFailure(undefined, `simulated machines run "kubeadm ${verb}" with --config only`);
  }
  const text = machine.disk.read(path);
  if (text === undefined) {
    throw new KubeadmFailure(
      undefined,
      `unable to read config from "${path}" : open ${path}: no such file or directory`,
    );
  }
  const documents = readDocuments(text, installedVersion(machine));
  for (const warning of documents.warnings) say(`W initconfiguration.go] ${warning}`);
  return documents;
}

/** Removes everything that init or join wrote. */
function reset(machine: RunningMachine): void {
  for (const prefix of ['/var/lib/kubelet/', '/var/lib/etcd/', '/etc/kubernetes/']) {
    for (const path of machine.disk.list(prefix)) machine.disk.remove(path);
  }
}
