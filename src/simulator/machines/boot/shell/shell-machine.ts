import type { ShellHost, ShellState } from '../../../../simkube/index.ts';
import type { HostedMachine } from '../../host/running-machine.ts';
import type { Software } from '../../types.ts';

/** Opens a shell on a machine. */
type OpenShell = (name: string, environment?: Readonly<Record<string, string>>) => ShellState;

/** What a shell of a machine runs on. */
export interface MachineShell {
  readonly machine: HostedMachine;
  readonly software: Software;
  /** another shell on the same machine: a command may start a unit, whose lines are commands again */
  readonly open: OpenShell;
}

const shells = new WeakMap<ShellHost, MachineShell>();

export function bindShell(host: ShellHost, shell: MachineShell): void {
  shells.set(host, shell);
}

/** The machine a shell runs on. */
export function machineOf({ host }: ShellState): MachineShell {
  const shell = shells.get(host);
  if (!shell) throw new TypeError('this shell runs on no machine');
  return shell;
}
