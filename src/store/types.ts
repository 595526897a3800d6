/**
 * Revisioned store: an ordered map from keys to immutable values with one strictly increasing revision for the whole
 * store. Reads come from memory. A write is acknowledged only once the engine has made it durable.
 */

/** A stored value, shared and immutable. */
export interface StoreRecord<V> {
  readonly key: string;
  readonly value: V;
  /** revision of the write that created this value */
  readonly revision: number;
  /** revision of the write that created the key */
  readonly createRevision: number;
}

/** Condition of a write on the current state of the key. */
export type Precondition = { kind: 'absent' } | { kind: 'revision'; revision: number };

export type StoreEvent<V> =
  | { type: 'put'; revision: number; record: StoreRecord<V>; previous: StoreRecord<V> | undefined }
  | { type: 'delete'; revision: number; key: string; previous: StoreRecord<V> };

export interface ListOptions {
  /** revision to read; default: the newest committed one. Throws CompactedError if it is older than the history. */
  revision?: number;
  /** maximum number of records */
  limit?: number;
  /** only keys strictly greater than this */
  after?: string;
}

export interface ListResult<V> {
  records: readonly StoreRecord<V>[];
  /** revision of the list */
  revision: number;
  /** number of records omitted because of `limit` */
  remaining: number;
}

export interface Store<V> {
  /** newest committed revision */
  readonly revision: number;
  /** oldest revision available to `watch` and `list` */
  readonly compactedRevision: number;

  /** committed state */
  get(key: string): StoreRecord<V> | undefined;
  /**
   * newest accepted state, including uncommitted writes; undefined if absent or being deleted. Read-modify-write must
   * start from it, so that writers need not wait for each other's disk sync.
   */
  head(key: string): StoreRecord<V> | undefined;
  /**
   * resolves once the state shown by `head` is durable and visible, rejects if it was lost; undefined if it already is
   * durable. An answer that depends on `head` without a write must wait for it.
   */
  settled(key: string): Promise<unknown> | undefined;
  /** keys with `prefix`, in order */
  list(prefix: string, options?: ListOptions): ListResult<V>;
  /** number of committed keys with `prefix` */
  count(prefix: string): number;

  /**
   * Stages a write and resolves once it is durable and visible. The precondition is checked synchronously against
   * `head`; if it does not hold, the promise rejects with ConflictError. `make` receives the revision of the write.
   */
  put(key: string, precondition: Precondition, make: (revision: number) => V): Promise<StoreRecord<V>>;
  delete(key: string, precondition: { kind: 'revision'; revision: number }): Promise<{ revision: number }>;

  /**
   * Calls `onEvents` with every committed change below `prefix` after `fromRevision`, in revision order: first the
   * backlog, synchronously, then each batch right after its commit. Returns a function to stop. Throws CompactedError
   * if `fromRevision` is older than the history.
   */
  watch(prefix: string, fromRevision: number, onEvents: (events: readonly StoreEvent<V>[]) => void): () => void;
  /** resolves once the committed revision is at least `revision`; rejects on abort */
  waitFor(revision: number, signal: AbortSignal): Promise<void>;

  /** writes a consistent copy of the store to a new file while serving */
  backup(path: string): Promise<void>;
  /** commits staged writes, then releases the engine and its lock */
  close(): Promise<void>;
}

/** An encoded value: bytes, or strings that are written as UTF-8 without an intermediate copy. */
export type EncodedValue = Uint8Array | readonly string[];

/** Encodes and decodes values. `key` lets a codec encrypt only some resources (Secrets). */
export interface ValueCodec<V> {
  encode(key: string, value: V): EncodedValue;
  /** `bytes` are valid only during the call and must be copied to be kept */
  decode(key: string, bytes: Uint8Array, revision: number): V;
}

export type EngineWrite =
  | { type: 'put'; key: string; revision: number; createRevision: number; value: EncodedValue }
  | { type: 'delete'; key: string; revision: number };

/** Durable storage only. The index, history and watches are the same for all engines. */
export interface Engine {
  /** maximum key length in bytes; absent: unlimited */
  readonly maxKeyBytes?: number;
  /**
   * reads all records at start, in any order, and returns the newest revision ever committed. `bytes` are valid only
   * during the call.
   */
  load(
    onRecord: (key: string, bytes: Uint8Array, revision: number, createRevision: number) => void,
  ): Promise<{ revision: number }>;
  /** resolves once all writes of the batch are on disk, atomically; never called concurrently */
  commit(batch: readonly EngineWrite[]): Promise<void>;
  /** releases resources after a burst of writes; called when idle, never during a commit */
  rest?(): Promise<void>;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** The precondition of a write did not hold. */
export class ConflictError extends Error {
  readonly key: string;
  /** revision of the key; undefined if absent */
  readonly actual: number | undefined;

  constructor(key: string, actual: number | undefined) {
    super(`write conflict on ${key}`);
    this.name = 'ConflictError';
    this.key = key;
    this.actual = actual;
  }
}

/** The requested revision is older than the history. */
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

/**
 * A write could not be made durable (disk full, engine broken, store closed), and none of it is visible. Reads continue
 * to work.
 */
export class StoreUnavailableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreUnavailableError';
  }
}
