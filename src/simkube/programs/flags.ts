import { must } from '../../machinery/index.ts';
import { ProgramFailure } from './failure.ts';

/** Flags of a program by name. A repeated flag has several values. */
export type Flags = ReadonlyMap<string, readonly string[]>;

export interface FlagTable {
  /** flags that require a value */
  readonly valued: ReadonlySet<string>;
  /** flags that are true without a value */
  readonly switches: ReadonlySet<string>;
  /** prefixes of flag families, which have a value only after an equals sign */
  readonly families?: readonly string[];
  /** short forms of flags */
  readonly short?: Readonly<Record<string, string>>;
  unknown(name: string, written: string): ProgramFailure;
  missing(name: string): ProgramFailure;
}

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
}

/** Parses a command line like Go programs. Throws the program's errors. */
export function parseFlags(args: readonly string[], table: FlagTable): CommandLine {
  const flags = new Map<string, string[]>();
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = must(args[index], 'args[index]');
    const match = /^--?([A-Za-z][\w.-]*)(?:=(.*))?$/s.exec(word);
    if (!match) {
      if (word !== '--') words.push(word);
      continue;
    }
    const name = table.short?.[match[1] ?? ''] ?? match[1] ?? '';
    const isSwitch = table.switches.has(name);
    const isFamily = table.families?.some((beginning) => name.startsWith(beginning)) ?? false;
    if (!isSwitch && !isFamily && !table.valued.has(name)) throw table.unknown(name, word);
    let value = match[2];
    if (value === undefined) {
      const next = args[index + 1];
      if (isSwitch || (isFamily && (next === undefined || next.startsWith('-')))) value = 'true';
      else if (next === undefined) throw table.missing(name);
      else {
        value = next;
        index++;
      }
    }
    const values = flags.get(name);
    if (values) values.push(value);
    else flags.set(name, [value]);
  }
  return { flags, words };
}

/** Returns the last value of a flag. */
export function flagValue(flags: Flags, name: string): string | undefined {
  return flags.get(name)?.at(-1);
}

export function isSwitchedOn(flags: Flags, name: string, { otherwise = false }: { otherwise?: boolean } = {}): boolean {
  const value = flagValue(flags, name);
  return value === undefined ? otherwise : value === 'true' || value === '1';
}

/** Returns all values of a list flag: repeated, or separated by commas. */
export function listValue(flags: Flags, name: string): string[] {
  return (flags.get(name) ?? []).flatMap((value) => value.split(',')).filter((item) => item !== '');
}

/** Builds a flag table with the error style of Kubernetes programs. */
export function cobraTable(valued: readonly string[], switches: readonly string[]): FlagTable {
  return {
    valued: new Set(valued),
    switches: new Set([...switches, 'help', 'version']),
    short: { v: 'v' },
    unknown: (name) => new ProgramFailure(`Error: unknown flag: --${name}`),
    missing: (name) => new ProgramFailure(`Error: flag needs an argument: --${name}`),
  };
}

/** Splits names at white space. */
export function names(text: string): string[] {
  return text.trim().split(/\s+/);
}
