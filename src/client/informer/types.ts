import type { KubeObject, Resource } from '../../machinery/index.ts';
import type { ObjectKey } from '../types.ts';

/** Callbacks run synchronously in the order of events, so a handler should only enqueue work and return. */
export interface InformerHandler<T extends KubeObject> {
  /** `initial` is true for objects that existed when the handler was added or the cache synced */
  onAdd?(object: T, initial: boolean): void;
  /**
   * also called with unchanged objects on resync; `missed`: intermediate versions may be missing after a lost stream
   */
  onUpdate?(object: T, old: T, missed?: boolean): void;
  /** `finalStateUnknown`: the delete event was missed and `object` is the last known state */
  onDelete?(object: T, finalStateUnknown: boolean): void;
}

/** Computes the index values of an object, once per change. */
export type Indexer<T extends KubeObject> = (object: T) => readonly string[];

/** Reads from a cache. Objects are shared and immutable. */
export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(options?: { namespace?: string; filter?: (object: T) => boolean }): T[];
  /** throws for an unknown index */
  byIndex(index: string, value: string): T[];
  /** number of objects that `byIndex` would return, without reading them */
  countByIndex(index: string, value: string): number;
  indexValues(index: string): Iterable<string>;
  readonly size: number;
}

/** A cache of one resource, updated by a watch. */
export interface Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly lister: Lister<T>;
  /** the combined informers of a parted resource */
  readonly parts?: readonly Informer<T>[];
  /** returns the part that contains such an object */
  partWith?(object: KubeObject): Informer<T>;
  /** runs until the signal aborts and never rejects; must not be called twice */
  run(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  /** resolves after the first sync */
  waitForSync(signal?: AbortSignal): Promise<void>;
  /** calls `onAdd` at once for cached objects; returns a function that removes the handler */
  addHandler(handler: InformerHandler<T>): () => void;
  /** can be called at any time; the same name replaces the indexer */
  addIndexer(name: string, indexer: Indexer<T>): void;
  /** newest resource version in the cache, empty before the first sync */
  resourceVersion(): string;
  /** returns true once the cache has seen `resourceVersion`, false on timeout */
  waitForResourceVersion(
    resourceVersion: string,
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<boolean>;
  /** last error, undefined if healthy */
  lastError(): unknown;
}
