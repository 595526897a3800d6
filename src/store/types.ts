/**
 * The revisioned store: an ordered map from keys to immutable values with one strictly increasing revision for the whole
 * store. Reads come from memory; a write is acknowledged only after the engine says it is durable.
 */

/** A value as stored: shared and immutable. */
export interface StoreRecord<V> {
  readonly key: string;
  readonly value: V;
  /** revision of the write that made this value */
  readonly revision: number;
  /** revision of the write that created the key */
  readonly createRevision: number;
}

/** What the writer demands of the key's present state. */
export type Precondition = { kind: 'absent' } | { kind: 'revision'; revision: number };

export type StoreEvent<V> =
  | { type: 'put'; revision: number; record: StoreRecord<V>; previous: StoreRecord<V> | undefined }
  | { type: 'delete'; revision: number; key: string; previous: StoreRecord<V> };

export interface ListOptions {
  /** snapshot to read; default is the newest committed. Throws CompactedError when older than the history kept. */
  revision?: number;
  /** return at most this many records */
  limit?: number;
  /** return only keys strictly greater than this */
  after?: string;
}

export interface ListResult<V> {
  records: readonly StoreRecord<V>[];
  /** revision of the snapshot */
  revision: number;
  /** records of the prefix that were left out by `limit` */
  remaining: number;
}

export interface Store<V> {
  /** newest committed revision */
  readonly revision: number;
  /** oldest revision from which `watch` and `list` can still go */
  readonly compactedRevision: number;

  /** committed state */
  get(key: string): StoreRecord<V> | undefined;
  /**
   * newest accepted state, including writes still on their way to disk: what read-modify-write must start from, so that
   * writers do not have to wait for each other's disk sync. Undefined when absent (or being deleted).
   */
  head(key: string): StoreRecord<V> | undefined;
  /**
   * resolves when what `head` shows of a key is durable and visible, rejects when it was lost; undefined when it already
   * is. An answer that rests on `head` without writing anything must wait for it.
   */
  settled(key: string): Promise<unknown> | undefined;
  /** keys starting with `prefix`, in order */
  list(prefix: string, options?: ListOptions): ListResult<V>;
  /** number of committed keys starting with `prefix` */
  count(prefix: string): number;

  /**
   * Stages a write and resolves when it is durable and visible. The precondition is checked synchronously against `head`;
   * ConflictError is thrown (as a rejection) when it does not hold. `make` receives the revision assigned to the write.
   */
  put(key: string, precondition: Precondition, make: (revision: number) => V): Promise<StoreRecord<V>>;
  delete(key: string, precondition: { kind: 'revision'; revision: number }): Promise<{ revision: number }>;

  /**
   * Calls `onEvents` with every committed change of keys under `prefix` after `fromRevision`, in revision order: first the
   * backlog (synchronously), then live, each batch right after its commit. Returns the function that ends it.
   * Throws CompactedError when `fromRevision` is older than the history kept.
   */
  watch(prefix: string, fromRevision: number, onEvents: (events: readonly StoreEvent<V>[]) => void): () => void;
  /** resolves once the committed revision is at least `revision`; rejects on abort */
  waitFor(revision: number, signal: AbortSignal): Promise<void>;

  /** writes a consistent copy of the store to a new file while serving */
  backup(path: string): Promise<void>;
  /** commits what is staged, then releases the engine and its lock */
  close(): Promise<void>;
}

/** A value on its way to the disk: bytes, or pieces of text to be written as UTF-8 without making bytes of them first. */
export type EncodedValue = Uint8Array | readonly string[];

/** Turns values into bytes for the disk and back. `key` lets a codec seal some kinds (Secrets) and not others. */
export interface ValueCodec<V> {
  encode(key: string, value: V): EncodedValue;
  /** `bytes` are lent for the call: who keeps them makes a copy */
  decode(key: string, bytes: Uint8Array, revision: number): V;
}

export type EngineWrite =
  | { type: 'put'; key: string; revision: number; createRevision: number; value: EncodedValue }
  | { type: 'delete'; key: string; revision: number };

/** Durability only: everything else (index, history, watches) is shared by all engines. */
export interface Engine {
  /** longest key the engine can keep, in bytes; absent when there is no limit */
  readonly maxKeyBytes?: number;
  /** reads everything back at start, in any order; returns the newest revision ever committed. `bytes` are lent. */
  load(
    onRecord: (key: string, bytes: Uint8Array, revision: number, createRevision: number) => void,
  ): Promise<{ revision: number }>;
  /** resolves when all writes of the batch are on disk, all or none; called again only after the previous call ended */
  commit(batch: readonly EngineWrite[]): Promise<void>;
  /** gives back what a burst of writes left behind; called when there has been none for a while, and never beside a commit */
  rest?(): Promise<void>;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** The precondition of a write did not hold. */
export class ConflictError extends Error {
  readonly key: string;
  /** revision the key has, undefined when absent */
  readonly actual: number | undefined;

  constructor(key: string, actual: number | undefined) {
    super(`write conflict on ${key}`);
    this.name = 'ConflictError';
    this.key = key;
    this.actual = actual;
  }
}

/** The asked revision is older than the history kept. */
export class CompactedError extends Error {
  readonly requested: number;
  readonly compacted: number;

  constructor(requested: number, compacted: number) {
    super(`revision ${requested} is older than the oldest kept, ${compacted}`);
    this.name = 'CompactedError';
    this.requested = requested;
    this.compacted = compacted;
  }
}

/** A write could not be made durable (disk full, engine broken, store closed); nothing of it is visible. Reads go on. */
export class StoreUnavailableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreUnavailableError';
  }
}
