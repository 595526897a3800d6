import type { KubeObject, Resource } from '../../machinery/index.ts';
import type { ObjectKey } from '../types.ts';

/** Called in the order of events, synchronously: a handler notes what happened (in a queue) and returns. */
export interface InformerHandler<T extends KubeObject> {
  /** `initial` is true for objects that were already there when the handler was added or the cache synced */
  onAdd?(object: T, initial: boolean): void;
  /** also called with an unchanged object on resync; `missed`: there may have been versions in between, after a lost stream */
  onUpdate?(object: T, old: T, missed?: boolean): void;
  /** `finalStateUnknown`: the delete itself was missed, `object` is the last state seen */
  onDelete?(object: T, finalStateUnknown: boolean): void;
}

/** Values under which an object is found; computed once per change. */
export type Indexer<T extends KubeObject> = (object: T) => readonly string[];

/** Reads from a cache. Objects are shared and immutable. */
export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(options?: { namespace?: string; filter?: (object: T) => boolean }): T[];
  /** throws when no such index was registered */
  byIndex(index: string, value: string): T[];
  /** how many objects `byIndex` would find, without touching them */
  countByIndex(index: string, value: string): number;
  /** all values of an index that objects have at the moment */
  indexValues(index: string): Iterable<string>;
  readonly size: number;
}

/** A cache of one resource, kept current by a watch. */
export interface Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly lister: Lister<T>;
  /** the informers this one is made of, where it is made of several */
  readonly parts?: readonly Informer<T>[];
  /** and the one of them that has an object like this */
  partWith?(object: KubeObject): Informer<T>;
  /** runs until the signal aborts; never rejects. Starting twice is an error. */
  run(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  /** resolves when the cache is filled for the first time */
  waitForSync(signal?: AbortSignal): Promise<void>;
  /** objects already cached are handed to `onAdd` at once; returns the function that removes the handler */
  addHandler(handler: InformerHandler<T>): () => void;
  /** may be added at any time; the same name twice replaces the function */
  addIndexer(name: string, indexer: Indexer<T>): void;
  /** newest resource version the cache has seen, empty before the first sync */
  resourceVersion(): string;
  /** true once the cache has seen `resourceVersion`; false when `timeoutMs` passed first */
  waitForResourceVersion(
    resourceVersion: string,
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<boolean>;
  /** what went wrong last, undefined while all is well */
  lastError(): unknown;
}
