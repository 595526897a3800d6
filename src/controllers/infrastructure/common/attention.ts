import { formatKey, type ObjectKey } from '../../../client/index.ts';
import type { ObservedType, Observer } from '../../../openstack/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';

/** A cloud resource somebody depends on. */
export interface Followed {
  readonly type: ObservedType;
  readonly id: string;
  /** it is being made, changed or deleted: look often */
  readonly closely?: boolean;
}

/** Which cloud resources the objects of one controller depend on; a change of one wakes the object. */
export interface Attention {
  /** to be named among the controller's sources */
  readonly source: ExternalSource;
  /** this one too, besides those followed already */
  also(key: ObjectKey, observer: Observer, thing: Followed): void;
  /** from now on exactly these; what was followed before and is not named any more is let go */
  follow(key: ObjectKey, observer: Observer, things: readonly Followed[]): void;
  /** nothing of this object is followed any more */
  forget(key: ObjectKey): void;
}

interface Entry {
  observer: Observer;
  /** what ends each subscription, by type and id */
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
      // other credentials, another observer
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
      // a program that is stopping starts no new polls
      if (!enqueue) return;
      const entry = entryOf(key, observer);
      const wanted = new Map(things.map((thing) => [nameOf(thing), thing]));
      // new ones first: an observer that nobody wants for a moment forgets what it knows
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
