import type { Command, Option } from 'commander';

/** Where on a command line the cursor is, and what was said before it. */
export interface CompletionPoint {
  readonly command: Command;
  /** what is being written */
  readonly partial: string;
  /** the option whose value that is */
  readonly option: Option | undefined;
  /** number of the argument that is being written, from 0 */
  readonly argument: number;
  /** arguments before it */
  readonly arguments: readonly string[];
  /** values of options by their long names, the last that was given */
  readonly given: ReadonlyMap<string, string>;
}

/** Reads the words of a command line up to the cursor; the last one is the one being written. */
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

/** bash takes `--context=a` for three words. */
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
