import type { StoreEvent } from './types.ts';

export interface Watcher<V> {
  readonly prefix: string;
  /** only events after this revision are delivered */
  readonly fromRevision: number;
  readonly onEvents: (events: readonly StoreEvent<V>[]) => void;
  /** events of the current commit */
  batch: StoreEvent<V>[];
  ended: boolean;
}

/** Watchers whose prefix ends directly in one directory of the key space. */
interface Directory<V> {
  /** watchers of the whole directory */
  all: Set<Watcher<V>>;
  /** watchers of name prefixes: length of the prefix -> prefix -> watchers */
  partial: Map<number, Map<string, Set<Watcher<V>>>>;
}

function directoryOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

function eventKey<V>(event: StoreEvent<V>): string {
  return event.type === 'put' ? event.record.key : event.key;
}

/**
 * Finds the watchers of a key by looking up each directory on its path, and there each used prefix length. The cost of
 * an event does not depend on the number of watchers of other keys.
 */
export class Watchers<V> {
  readonly #directories = new Map<string, Directory<V>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(watcher: Watcher<V>): void {
    const { prefix } = watcher;
    const path = directoryOf(prefix);
    let directory = this.#directories.get(path);
    if (!directory) {
      directory = { all: new Set(), partial: new Map() };
      this.#directories.set(path, directory);
    }
    if (path === prefix) {
      directory.all.add(watcher);
      return;
    }
    let sameLength = directory.partial.get(prefix.length);
    if (!sameLength) {
      sameLength = new Map();
      directory.partial.set(prefix.length, sameLength);
    }
    const watchers = sameLength.get(prefix);
    if (watchers) watchers.add(watcher);
    else sameLength.set(prefix, new Set([watcher]));
  }

  remove(watcher: Watcher<V>): void {
    watcher.ended = true;
    const { prefix } = watcher;
    const path = directoryOf(prefix);
    const directory = this.#directories.get(path);
    if (!directory) return;
    if (path === prefix) {
      directory.all.delete(watcher);
    } else {
      const sameLength = directory.partial.get(prefix.length);
      const watchers = sameLength?.get(prefix);
      watchers?.delete(watcher);
      if (watchers?.size === 0) sameLength?.delete(prefix);
      if (sameLength?.size === 0) directory.partial.delete(prefix.length);
    }
    if (directory.all.size === 0 && directory.partial.size === 0) this.#directories.delete(path);
  }

  /** Delivers the events of one commit to each watcher, in order. */
  dispatch(events: readonly StoreEvent<V>[]): void {
    if (this.#directories.size === 0) return;
    // Events are distributed before any callback, because a callback may start another watch.
    const touched: Watcher<V>[] = [];
    for (const event of events) this.#share(event, touched);
    for (const watcher of touched) {
      const { batch } = watcher;
      watcher.batch = [];
      if (watcher.ended) continue;
      try {
        watcher.onEvents(batch);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #share(event: StoreEvent<V>, touched: Watcher<V>[]): void {
    const key = eventKey(event);
    // The root directory has the empty path.
    for (let end = 0; ; ) {
      const directory = this.#directories.get(key.slice(0, end));
      if (directory) {
        for (const watcher of directory.all) give(watcher, event, touched);
        for (const [length, sameLength] of directory.partial) {
          if (length > key.length) continue;
          const watchers = sameLength.get(key.slice(0, length));
          if (watchers) for (const watcher of watchers) give(watcher, event, touched);
        }
      }
      end = key.indexOf('/', end) + 1;
      if (end === 0) return;
    }
  }
}

function give<V>(watcher: Watcher<V>, event: StoreEvent<V>, touched: Watcher<V>[]): void {
  if (event.revision <= watcher.fromRevision) return;
  if (watcher.batch.length === 0) touched.push(watcher);
  watcher.batch.push(event);
}
