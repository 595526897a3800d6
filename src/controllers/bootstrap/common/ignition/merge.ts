import type { IgnitionContent } from './types.ts';

type Entry = Readonly<Record<string, unknown>>;

/** What tells the entries of each list apart. */
const keys: Readonly<Record<keyof IgnitionContent | 'dropins' | 'partitions', (entry: Entry) => string>> = {
  users: ({ name }) => String(name),
  groups: ({ name }) => String(name),
  units: ({ name }) => String(name),
  dropins: ({ name }) => String(name),
  disks: ({ device }) => String(device),
  partitions: ({ number, label }) => (number ? `number ${String(number)}` : `label ${String(label)}`),
  raid: ({ name }) => String(name),
  filesystems: ({ device }) => String(device),
  files: ({ path }) => String(path),
  directories: ({ path }) => String(path),
  links: ({ path }) => String(path),
};

/**
 * Ignition's own way to put one configuration over another: entries of the same name become one, in which the later says
 * what counts; other lists (keys of a user, text added to a file) are joined.
 */
export function mergeIgnition(first: IgnitionContent, second: IgnitionContent): IgnitionContent {
  const merged: Record<string, readonly Entry[]> = {};
  for (const content of [first, second]) {
    for (const [name, list] of Object.entries(content) as [keyof typeof keys, Entry[]][]) {
      merged[name] = mergeList(keys[name], merged[name] ?? [], list);
    }
  }
  return merged as IgnitionContent;
}

function mergeList(keyOf: (entry: Entry) => string, first: readonly Entry[], second: readonly Entry[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const entry of [...first, ...second]) {
    const key = keyOf(entry);
    const known = entries.get(key);
    entries.set(key, known ? mergeEntry(known, entry) : entry);
  }
  return [...entries.values()];
}

function mergeEntry(first: Entry, second: Entry): Entry {
  const merged: Record<string, unknown> = { ...first };
  for (const [name, value] of Object.entries(second)) {
    const known = merged[name];
    if (!Array.isArray(value) || !Array.isArray(known)) merged[name] = value;
    else if (name === 'dropins' || name === 'partitions') merged[name] = mergeList(keys[name], known, value);
    else merged[name] = [...known, ...value];
  }
  return merged;
}
