import { errorMessage, type JsonObject } from '../../../../machinery/index.ts';
import type { ClusterRegistry } from '../../../../simkube/index.ts';
import { readyFile } from '../../boot/systemd/control.ts';
import type { Program, RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { runAgent } from './agent.ts';
import type { Buckets } from './buckets.ts';
import { readConfig } from './config.ts';
import { installedRke2 } from './installer.ts';
import type { Say } from './node.ts';
import { resetCluster } from './reset.ts';
import { runServer } from './server.ts';
import { ServerAddresses } from './server-addresses.ts';
import { snapshotCommand } from './snapshots.ts';

export interface Rke2Options {
  readonly registry: ClusterRegistry;
  readonly buckets: Buckets;
  kubeletOf(machine: RunningMachine): Kubelet;
}

const notFound = 127;

/** The rke2 program of a machine. `rke2 server` and `rke2 agent` run until power-off. */
export function rke2Program({ registry, buckets, kubeletOf }: Rke2Options): Program {
  const addresses = new ServerAddresses();
  return async (machine, args) => {
    const version = installedRke2(machine);
    const say: Say = (level, message) => machine.console.write(`rke2: level=${level} msg="${message}"\n`);
    if (version === undefined) {
      machine.console.write('rke2: command not found\n');
      return notFound;
    }
    const [verb = ''] = args;
    if (verb === '--version' || verb === '-v') {
      machine.console.write(`rke2 version ${version}\n`);
      return 0;
    }
    if (verb !== 'server' && verb !== 'agent' && verb !== 'etcd-snapshot') {
      machine.console.write(`rke2: "rke2 ${verb}" is not simulated; server, agent, etcd-snapshot and --version are\n`);
      return 1;
    }
    try {
      const { flags, words } = readFlags(args.slice(1));
      const role = verb === 'agent' ? 'agent' : 'server';
      const config = readConfig(machine, role, { warn: (text) => say('warning', text), flags });
      const run = { machine, registry, kubelet: kubeletOf(machine), addresses, buckets, config, version, say };
      if (verb === 'etcd-snapshot') return await snapshotCommand(run, words, flags);
      if (config.reset.isRequested) return await resetCluster(run);
      say('info', `Starting rke2 ${verb} ${version}`);
      await (verb === 'server' ? runServer(run) : runAgent(run));
    } catch (error) {
      // The machine was switched off, so there is no console for the error.
      if (machine.signal.aborted) throw error;
      say('fatal', errorMessage(error));
      return 1;
    }
    machine.disk.write(readyFile(`rke2-${verb}.service`), '');
    return await switchedOff(machine);
  };
}

/** Reads flags like `--name=value`, `--name value` and `--switch`. */
function readFlags(args: readonly string[]): { flags: JsonObject; words: string[] } {
  const flags: JsonObject = {};
  const words: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(args[i] ?? '') ?? [];
    const next = args[i + 1];
    if (name === undefined) words.push(args[i] ?? '');
    else if (value !== undefined) flags[name] = value;
    else if (switches.has(name) || next === undefined || next.startsWith('--')) flags[name] = true;
    else flags[name] = args[++i] ?? '';
  }
  return { flags, words };
}

const switches: ReadonlySet<string> = new Set(['cluster-reset', 'etcd-s3', 'debug']);

function switchedOff({ signal }: RunningMachine): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(0);
    else signal.addEventListener('abort', () => resolve(0), { once: true });
  });
}
