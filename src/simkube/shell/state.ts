import type { ShellHost } from './host.ts';
import { ShellLimitError, ShellUse, ShellVariables, shellLimits } from './limits.ts';
import type { Command } from './syntax.ts';

/** What is still to be read; commands of a loop share it. */
export interface Input {
  text: string;
}

/** Where a command reads and writes. */
export interface Streams {
  readonly input: Input;
  out(text: string): void;
  error(text: string): void;
}

/** What a shell remembers between commands. */
export interface ShellState {
  readonly host: ShellHost;
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Command>;
  readonly options: { stopsAtErrors: boolean; traces: boolean; failsInPipes: boolean; refusesUnset: boolean };
  /** what the script is called, for messages */
  name: string;
  arguments: readonly string[];
  directory: string;
  status: number;
  line: number;
  /** scripts that call scripts */
  readonly depth: number;
  /** functions, substitutions and scripts this is in the middle of */
  nesting: number;
  readonly use: ShellUse;
  readonly background: Set<Promise<unknown>>;
}

/** A part of a shell that others call: brings commands and scripts to run. */
export interface Runner {
  /** Runs a command that is already in words. */
  run(state: ShellState, words: readonly string[], streams: Streams): Promise<number>;
  /** Runs the text of a script in the same shell. */
  source(state: ShellState, text: string, streams: Streams): Promise<number>;
}

/** A command of the shell or of a usual image. */
export type Tool = (
  context: { readonly state: ShellState; readonly streams: Streams; readonly runner: Runner },
  args: readonly string[],
) => Promise<number> | number;

/** `exit`, `return`, `break` and `continue` on their way to whom they concern. */
export class Leave extends Error {
  readonly what: 'exit' | 'return' | 'break' | 'continue';
  readonly value: number;

  constructor(what: Leave['what'], value: number) {
    super(what);
    this.what = what;
    this.value = value;
  }
}

export function freshState(
  host: ShellHost,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): ShellState {
  const variables = new ShellVariables(
    Object.entries({
      HOME: '/root',
      USER: 'root',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin',
      PWD: '/',
      SHELL: '/bin/sh',
      ...environment,
    }),
  );
  return {
    host,
    variables,
    exported: new Set(variables.keys()),
    functions: new Map(),
    options: { stopsAtErrors: false, traces: false, failsInPipes: false, refusesUnset: false },
    name,
    arguments: [],
    directory: '/',
    status: 0,
    line: 1,
    depth: 0,
    nesting: 0,
    use: new ShellUse(),
    background: new Set(),
  };
}

/** Does something one level deeper. Throws ShellLimitError when that is too deep. */
export async function nested<R>(state: ShellState, work: () => Promise<R>): Promise<R> {
  if (state.nesting >= shellLimits.nesting) {
    throw new ShellLimitError(`maximum nesting level exceeded (${shellLimits.nesting})`);
  }
  state.nesting++;
  try {
    return await work();
  } finally {
    state.nesting--;
  }
}

/** A shell that begins where another one is and leaves it as it was. */
export function subshell(state: ShellState): ShellState {
  return {
    ...state,
    variables: copied(state),
    exported: new Set(state.exported),
    functions: new Map(state.functions),
    options: { ...state.options },
  };
}

function copied({ variables, use }: ShellState): ShellVariables {
  use.spend(variables.size / 50);
  return new ShellVariables(variables);
}

/** A new program that gets the environment and nothing else. */
export function childProcess(state: ShellState, name: string, args: readonly string[]): ShellState {
  const variables = new ShellVariables();
  for (const key of state.exported) variables.set(key, state.variables.get(key) ?? '');
  return {
    ...state,
    variables,
    exported: new Set(variables.keys()),
    functions: new Map(),
    options: { stopsAtErrors: false, traces: false, failsInPipes: false, refusesUnset: false },
    name,
    arguments: args,
    line: 1,
    depth: state.depth + 1,
  };
}

/** An absolute path, from where the shell is. */
export function pathIn({ directory, variables }: ShellState, path: string): string {
  if (path.startsWith('/')) return path;
  if (path === '~' || path.startsWith('~/')) return `${variables.get('HOME') ?? '/root'}${path.slice(1)}`;
  return `${directory === '/' ? '' : directory}/${path}`;
}
