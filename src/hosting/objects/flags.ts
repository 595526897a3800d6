/** A command line under construction: flags by name, without their dashes. */
export type Flags = Readonly<Record<string, string>>;

/** `--name=value`, sorted by name. */
export function formatFlags(flags: Flags): string[] {
  return Object.keys(flags)
    .sort()
    .map((name) => `--${name}=${flags[name]}`);
}

/** The name of a flag as a user wrote it: `--v=2`, `-v`, `v=2`. */
export function flagName(argument: string): string {
  const name = argument.replace(/^-+/, '');
  const equals = name.indexOf('=');
  return equals < 0 ? name : name.slice(0, equals);
}

export interface MergedFlags {
  readonly args: readonly string[];
  /** names of flags the user gave in vain */
  readonly overridden: readonly string[];
}

/**
 * One command line of ours and a user's: `fixed` flags are ours whatever the user says, `defaults` are ours until the user
 * says otherwise. What else the user gives follows verbatim and in order, so that flags can be repeated.
 */
export function mergeFlags(fixed: Flags, defaults: Flags, user: readonly string[] = []): MergedFlags {
  const given = new Set(user.map(flagName));
  const own: Record<string, string> = { ...fixed };
  for (const [name, value] of Object.entries(defaults)) if (!given.has(name)) own[name] = value;
  const isFixed = (argument: string): boolean => Object.hasOwn(fixed, flagName(argument));
  return {
    args: [...formatFlags(own), ...user.filter((argument) => !isFixed(argument))],
    overridden: [...new Set(user.filter(isFixed).map(flagName))],
  };
}
