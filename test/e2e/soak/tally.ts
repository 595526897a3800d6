/** Summary of the events of a watcher, small enough to keep for a thousand watchers during a long run. */
export interface Tally {
  /** ADDED and MODIFIED */
  puts: number;
  /** sum of their revisions, to detect missing, duplicate and wrong events */
  sum: number;
  /** DELETED, including objects that left the selection */
  deletes: number;
}

export function emptyTally(): Tally {
  return { puts: 0, sum: 0, deletes: 0 };
}

/** Labels of an object before and after a change; undefined if it does not exist. */
export interface Change {
  revision: number;
  before: Readonly<Record<string, string>> | undefined;
  after: Readonly<Record<string, string>> | undefined;
}

/** A selection of objects with its label selector. */
export interface Selection {
  readonly name: string;
  readonly labelSelector: string;
  matches(labels: Readonly<Record<string, string>>): boolean;
}

export const shards = 20;

export const everything: Selection = { name: 'everything', labelSelector: '', matches: () => true };

export function shard(index: number): Selection {
  const value = String(index % shards);
  return { name: `shard ${value}`, labelSelector: `shard=${value}`, matches: (labels) => labels['shard'] === value };
}

export const blue: Selection = {
  name: 'blue',
  labelSelector: 'colour in (blue),!gone',
  matches: (labels) => labels['colour'] === 'blue',
};

/** Expected events per selection, derived from the answers to the writers. */
export class Model {
  readonly #tallies = new Map<Selection, Tally>();

  expect(selection: Selection): void {
    if (!this.#tallies.has(selection)) this.#tallies.set(selection, emptyTally());
  }

  record({ revision, before, after }: Change): void {
    for (const [selection, tally] of this.#tallies) {
      const matched = before !== undefined && selection.matches(before);
      if (after !== undefined && selection.matches(after)) {
        tally.puts++;
        tally.sum += revision;
      } else if (matched) tally.deletes++;
    }
  }

  tallyOf(selection: Selection): Tally {
    return this.#tallies.get(selection)!;
  }
}
