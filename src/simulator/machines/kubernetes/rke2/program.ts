import { errorMessage } from '../../../../machinery/index.ts';
import type { ClusterRegistry } from '../../../../simkube/index.ts';
import { readyFile } from '../../boot/systemd/control.ts';
import type { Program, RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { runAgent } from './agent.ts';
import { readConfig } from './config.ts';
import { installedRke2 } from './installer.ts';
import type { Say } from './node.ts';
import { runServer } from './server.ts';
import { ServerAddresses } from './server-addresses.ts';

export interface Rke2Options {
  readonly registry: ClusterRegistry;
  kubeletOf(machine: RunningMachine): Kubelet;
}

const notFound = 127;

/** The rke2 program of a machine. `rke2 server` and `rke2 agent` run until power-off. */
export function rke2Program({ registry, kubeletOf }: Rke2Options): Program {
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
    if (verb !== 'server' && verb !== 'agent') {
      machine.console.write(`rke2: "rke2 ${verb}" is not simulated; server, agent and --version are\n`);
      return 1;
    }
    try {
      const config = readConfig(machine, verb, (text) => say('warning', text));
      say('info', `Starting rke2 ${verb} ${version}`);
      const run = { machine, registry, kubelet: kubeletOf(machine), addresses, config, version, say };
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

function switchedOff({ signal }: RunningMachine): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(0);
    else signal.addEventListener('abort', () => resolve(0), { once: true });
  });
}
