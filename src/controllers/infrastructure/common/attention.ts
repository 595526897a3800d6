import { formatKey, type ObjectKey } from '../../../client/index.ts';
import type { ObservedType, Observer } from '../../../openstack/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';

/** A cloud resource that an object depends on. */
export interface Followed {
  readonly type: ObservedType;
  readonly id: string;
  /** being created, changed or deleted; poll often */
  readonly closely?: boolean;
}

/** Tracks which cloud resources the objects of a controller depend on, and enqueues an object when one changes. */
export interface Attention {
  /** must be a source of the controller */
  readonly source: ExternalSource;
  /** adds a subscription to the existing ones */
  also(key: ObjectKey, observer: Observer, thing: Followed): void;
  /** replaces the subscriptions by exactly these */
  follow(key: ObjectKey, observer: Observer, things: readonly Followed[]): void;
  /** removes all subscriptions of the object */
  forget(key: ObjectKey): void;
}

interface Entry {
  observer: Observer;
  /** unsubscribe functions by type and id */
  readonly subscriptions: Map<string, () => void>;
}

export function createAttention(): Attention {
  const entries = new Map<string, Entry>();
  let enqueue: ((key: ObjectKey) => void) | undefined;

  const end = (entry: Entry): void => {
    for (const stop of entry.subscriptions.values()) stop();
    entry.subscriptions.clear();
  };

  const subscribe = (key: ObjectKey, observer: Observer, thing: Followed): (() => void) => {
    const stops = [observer.subscribe(thing.type, () => enqueue?.(key), { id: thing.id })];
    if (thing.closely === true) stops.push(observer.watchClosely(thing.type, thing.id));
    return () => {
      for (const stop of stops) stop();
    };
  };

  const entryOf = (key: ObjectKey, observer: Observer): Entry => {
    const name = formatKey(key);
    let entry = entries.get(name);
    if (entry && entry.observer !== observer) {
      // other credentials have another observer
      end(entry);
      entry.observer = observer;
    }
    if (!entry) {
      entry = { observer, subscriptions: new Map() };
      entries.set(name, entry);
    }
    return entry;
  };

  return {
    source: {
      start({ enqueue: add, signal }) {
        enqueue = (key) => add(key);
        signal.addEventListener(
          'abort',
          () => {
            enqueue = undefined;
            for (const entry of entries.values()) end(entry);
            entries.clear();
          },
          { once: true },
        );
      },
    },
    also(key, observer, thing) {
      if (!enqueue) return;
      const { subscriptions } = entryOf(key, observer);
      const name = nameOf(thing);
      if (!subscriptions.has(name)) subscriptions.set(name, subscribe(key, observer, thing));
    },
    follow(key, observer, things) {
      // a stopping process starts no polls
      if (!enqueue) return;
      const entry = entryOf(key, observer);
      const wanted = new Map(things.map((thing) => [nameOf(thing), thing]));
      // subscribe before unsubscribing: an observer without subscribers drops its data
      for (const [id, thing] of wanted) {
        if (!entry.subscriptions.has(id)) entry.subscriptions.set(id, subscribe(key, observer, thing));
      }
      for (const [id, stop] of entry.subscriptions) {
        if (wanted.has(id)) continue;
        entry.subscriptions.delete(id);
        stop();
      }
    },
    forget(key) {
      const name = formatKey(key);
      const entry = entries.get(name);
      if (!entry) return;
      entries.delete(name);
      end(entry);
    },
  };
}

const nameOf = ({ type, id, closely }: Followed): string => `${type}/${id}/${closely === true}`;
