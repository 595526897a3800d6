import { freshState, type ShellHost, ShellPace, type ShellState, type Tool } from '../../../../simkube/index.ts';
import type { HostedMachine } from '../../host/running-machine.ts';
import type { Software } from '../../types.ts';
import { bindShell, type MachineShell, machineOf } from './shell-machine.ts';
import { machineTools } from './tools/index.ts';

/** machines with the same software belong to the same cloud */
const paces = new WeakMap<Software, ShellPace>();

function paceOf(software: Software): ShellPace {
  let pace = paces.get(software);
  if (!pace) {
    pace = new ShellPace();
    paces.set(software, pace);
  }
  return pace;
}

/** Opens a root shell on a machine. */
export function machineShell(
  machine: HostedMachine,
  software: Software,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): ShellState {
  const host: ShellHost = {
    disk: machine.disk,
    get hostname() {
      return machine.hostname;
    },
    random: machine.random,
    signal: machine.signal,
    pace: paceOf(software),
    get timeScale() {
      return machine.timings.scale;
    },
    now: () => machine.clock.now(),
    pass: (ms) => machine.pass(ms),
    command: (command) =>
      (software.has?.(machine, command) ?? true)
        ? (programTool(software, command) ?? machineTools.get(command))
        : undefined,
  };
  bindShell(host, shellsOf(machine, software));
  return freshState(host, name, environment);
}

/** Returns a function that opens shells on a machine. */
export function shellsOf(machine: HostedMachine, software: Software): MachineShell {
  return { machine, software, open: (name, environment) => machineShell(machine, software, name, environment) };
}

/** Wraps a program of the image as a shell command, with its output redirected to the command's output. */
function programTool(software: Software, name: string): Tool | undefined {
  const program = Object.hasOwn(software.programs, name) ? software.programs[name] : undefined;
  if (!program) return undefined;
  return ({ state, streams }, args) => {
    const { machine } = machineOf(state);
    const env: Record<string, string> = {};
    for (const key of state.exported) env[key] = state.variables.get(key) ?? '';
    return machine.whileWriting(streams.out, () => program(machine, args, { env, input: streams.input.text }));
  };
}
