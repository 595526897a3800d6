import type { ShellHost, ShellState } from '../../../../simkube/index.ts';
import type { HostedMachine } from '../../host/running-machine.ts';
import type { Software } from '../../types.ts';

type OpenShell = (name: string, environment?: Readonly<Record<string, string>>) => ShellState;

/** Environment of a machine's shell. */
export interface MachineShell {
  readonly machine: HostedMachine;
  readonly software: Software;
  /** opens another shell on the same machine, for commands that start a unit */
  readonly open: OpenShell;
}

const shells = new WeakMap<ShellHost, MachineShell>();

export function bindShell(host: ShellHost, shell: MachineShell): void {
  shells.set(host, shell);
}

/** Returns the machine of a shell. */
export function machineOf({ host }: ShellState): MachineShell {
  const shell = shells.get(host);
  if (!shell) throw new TypeError('this shell runs on no machine');
  return shell;
}
