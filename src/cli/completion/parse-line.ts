import type { Command, Option } from 'commander';

/** Position of the cursor and the words before it. */
export interface CompletionPoint {
  readonly command: Command;
  /** incomplete word at the cursor */
  readonly partial: string;
  /** option that takes this value */
  readonly option: Option | undefined;
  /** index of the argument at the cursor, from 0 */
  readonly argument: number;
  /** previous arguments */
  readonly arguments: readonly string[];
  /** values of options by long name; the last one wins */
  readonly given: ReadonlyMap<string, string>;
}

/** Parses the words of a command line up to the cursor; the last one is incomplete. */
export function parseLine(program: Command, line: readonly string[]): CompletionPoint {
  const words = joinAssignments(line);
  const before = words.slice(0, -1);
  let partial = words.at(-1) ?? '';
  let command = program;
  let waiting: Option | undefined;
  const args: string[] = [];
  const given = new Map<string, string>();
  const find = (word: string): Option | undefined =>
    [...command.options, ...program.options].find(({ long, short }) => word === long || word === short);
  for (const word of before) {
    if (waiting) {
      given.set(nameOf(waiting), word);
      waiting = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const at = word.indexOf('=');
      const option = find(at < 0 ? word : word.slice(0, at));
      if (option && at > 0) given.set(nameOf(option), word.slice(at + 1));
      else if (option?.required) waiting = option;
      continue;
    }
    const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (child && args.length === 0) command = child;
    else args.push(word);
  }
  const assigned = /^(--[^=]+)=(.*)$/s.exec(partial);
  const option = waiting ?? (assigned ? find(assigned[1] ?? '') : undefined);
  if (!waiting && assigned && option) partial = assigned[2] ?? '';
  return { command, partial, option, argument: args.length, arguments: args, given };
}

function nameOf({ long, short }: Option): string {
  return long ?? short ?? '';
}

/** bash splits `--context=a` into three words. */
function joinAssignments(line: readonly string[]): string[] {
  const words: string[] = [];
  for (const word of line) {
    const last = words.at(-1);
    if (word === '=' && last?.startsWith('--')) words[words.length - 1] = `${last}=`;
    else if (last?.startsWith('--') && last.endsWith('=')) words[words.length - 1] = last + word;
    else words.push(word);
  }
  return words;
}
