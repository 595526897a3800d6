import { errorMessage } from '../../../../machinery/index.ts';
import type { Program, RunningMachine } from '../../types.ts';
import { K0sRefusal, parseWorkerArguments, unitFile, workerUnit } from './arguments.ts';
import { installedK0s } from './binary.ts';
import type { K0sWorker } from './worker.ts';

/** The k0s program of worker machines. */
export function k0sMachineProgram(workerOf: (machine: RunningMachine) => K0sWorker): Program {
  return async (machine, args) => {
    const say = (line: string): void => machine.console.write(`${line}\n`);
    const installed = installedK0s(machine);
    if (!installed) {
      say('sh: k0s: command not found');
      return 127;
    }
    try {
      return await run(machine, workerOf, installed, args, say);
    } catch (error) {
      if (machine.signal.aborted) throw error;
      say(`Error: ${errorMessage(error)}`);
      return 1;
    }
  };
}

async function run(
  machine: RunningMachine,
  workerOf: (machine: RunningMachine) => K0sWorker,
  { path, version }: { path: string; version: string },
  [verb = '', ...rest]: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  const { disk } = machine;
  switch (verb) {
    case 'version':
      say(version);
      return 0;
    case 'install': {
      const [role, ...args] = rest;
      if (role !== 'worker')
        throw new K0sRefusal(`simulated machines run k0s as a worker only, not as ${role ?? 'nothing'}`);
      if (disk.read(unitFile) !== undefined && !args.includes('--force')) {
        throw new K0sRefusal(
          'failed to install k0s service: Init already exists: /etc/systemd/system/k0sworker.service',
        );
      }
      parseWorkerArguments(args);
      disk.write(
        unitFile,
        workerUnit(
          path,
          args.filter((word) => word !== '--force' && word !== '--start'),
        ),
        0o644,
      );
      if (args.includes('--start')) workerOf(machine).start();
      return 0;
    }
    case 'start':
      if (disk.read(unitFile) === undefined) throw new K0sRefusal('failed to start k0s: the service is not installed');
      workerOf(machine).start();
      return 0;
    case 'worker':
      if (disk.read(unitFile) === undefined) disk.write(unitFile, workerUnit(path, rest), 0o644);
      workerOf(machine).start();
      return 0;
    case 'status':
      if (disk.read('/var/lib/k0s/kubelet.conf') === undefined) {
        throw new K0sRefusal('can\'t get "status" via "/run/k0s/status.sock": connect: no such file or directory');
      }
      for (const line of [`Version: ${version}`, 'Process ID: 1', 'Role: worker', 'Workloads: true']) say(line);
      return 0;
    case 'stop':
      return 0;
    case 'reset':
      for (const file of [unitFile, ...disk.list('/var/lib/k0s/')]) disk.remove(file);
      return 0;
    default:
      throw new K0sRefusal(`unknown command "${verb}" for "k0s"`);
  }
}
