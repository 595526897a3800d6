import type { ShellHost } from './host.ts';
import { ShellLimitError, ShellUse, ShellVariables, shellLimits } from './limits.ts';
import type { Command } from './syntax.ts';

/** Remaining input, shared by the commands of a loop. */
export interface Input {
  text: string;
}

/** Input and output of a command. */
export interface Streams {
  readonly input: Input;
  out(text: string): void;
  error(text: string): void;
}

/** State of a shell between commands. */
export interface ShellState {
  readonly host: ShellHost;
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Command>;
  readonly options: { stopsAtErrors: boolean; traces: boolean; failsInPipes: boolean; refusesUnset: boolean };
  /** name of the script for messages */
  name: string;
  arguments: readonly string[];
  directory: string;
  status: number;
  line: number;
  /** nesting depth of scripts that call scripts */
  readonly depth: number;
  /** present nesting of functions, substitutions and scripts */
  nesting: number;
  readonly use: ShellUse;
  readonly background: Set<Promise<unknown>>;
}

/** Runs commands and scripts on behalf of tools. */
export interface Runner {
  /** Runs a command given as expanded words. */
  run(state: ShellState, words: readonly string[], streams: Streams): Promise<number>;
  /** Runs a script text in the same shell. */
  source(state: ShellState, text: string, streams: Streams): Promise<number>;
}

/** A builtin of the shell or a command of common images. */
export type Tool = (
  context: { readonly state: ShellState; readonly streams: Streams; readonly runner: Runner },
  args: readonly string[],
) => Promise<number> | number;

/** `exit`, `return`, `break` and `continue` as an exception on the way to their target. */
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

/** Runs work one nesting level deeper. Throws ShellLimitError if the limit is exceeded. */
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

/** Creates a subshell with a copy of the state. */
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

/** Creates the state of a new program, which inherits only the environment. */
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

/** Resolves a path against the directory of the shell. */
export function pathIn({ directory, variables }: ShellState, path: string): string {
  if (path.startsWith('/')) return path;
  if (path === '~' || path.startsWith('~/')) return `${variables.get('HOME') ?? '/root'}${path.slice(1)}`;
  return `${directory === '/' ? '' : directory}/${path}`;
}
