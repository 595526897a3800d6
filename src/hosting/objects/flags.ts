/** Flags by name, without dashes. */
export type Flags = Readonly<Record<string, string>>;

/** Formats flags as `--name=value`, sorted by name. */
export function formatFlags(flags: Flags): string[] {
  return Object.keys(flags)
    .sort()
    .map((name) => `--${name}=${flags[name]}`);
}

/** Returns the name of a user-defined flag: `--v=2`, `-v`, `v=2`. */
export function flagName(argument: string): string {
  const name = argument.replace(/^-+/, '');
  const equals = name.indexOf('=');
  return equals < 0 ? name : name.slice(0, equals);
}

export interface MergedFlags {
  readonly args: readonly string[];
  /** names of ignored user flags */
  readonly overridden: readonly string[];
}

/**
 * Merges flags: `fixed` override the user, the user overrides `defaults`. Other user flags follow verbatim in order, so
 * they may repeat.
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
