import type { IgnitionContent } from './types.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Merge key of the entries in each list. */
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
 * Merges two configurations like Ignition does: entries with the same key become one and the later value wins; other
 * lists (SSH keys of a user, appended text) are concatenated.
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
