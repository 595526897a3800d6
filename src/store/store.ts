import { type CancelTimer, CapstanError, type Clock, errorMessage, must, systemClock } from '../machinery/index.ts';
import { roughLength } from './encoded-value.ts';
import { defaultHistoryLimits, History, type HistoryLimits } from './history.ts';
import { KeyIndex } from './key-index.ts';
import { listSnapshot } from './snapshot.ts';
import type {
  Engine,
  EngineWrite,
  ListOptions,
  ListResult,
  Precondition,
  Store,
  StoreEvent,
  StoreRecord,
  ValueCodec,
} from './types.ts';
import { ConflictError, StoreUnavailableError } from './types.ts';
import { type Watcher, Watchers } from './watchers.ts';

export interface OpenStoreOptions<V> {
  engine: Engine;
  codec: ValueCodec<V>;
  clock?: Clock;
  history?: Partial<HistoryLimits>;
  /** receives errors of watcher callbacks; the default emits a process warning */
  onWatcherError?: (error: unknown) => void;
}

/** An accepted write that is not committed yet. */
interface StagedWrite<V> {
  key: string;
  event: StoreEvent<V>;
  write: EngineWrite;
  /** new record of the key; undefined for a delete */
  record: StoreRecord<V> | undefined;
  stored: Promise<unknown>;
  /** value the writer's promise resolves to */
  result: unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * The newest staged write per key. A map is created per commit and then dropped. A long-lived map with changing entries
 * would retain garbage in its internal tables.
 */
type StagedKeys<V> = Map<string, StagedWrite<V>>;

interface Waiter {
  revision: number;
  resolve: () => void;
}

/** Limits of one commit, so that no acknowledgement waits long and no dispatch blocks the event loop. */
const maxBatchWrites = 1024;
const maxBatchBytes = 8 * 1024 * 1024;

/** Without writes, expired events are dropped a little late, in larger batches. */
const trimDelayMs = 30_000;
/** Idle time after which the engine may release resources. */
const restAfterMs = 60_000;
const trimPauseMs = 10;
const maxTrimmedEvents = 4096;

/** Loads everything from the engine and starts serving. The store owns the engine from here on, even if this fails. */
export async function openStore<V>(options: OpenStoreOptions<V>): Promise<Store<V>> {
  const { engine, codec } = options;
  const index = new KeyIndex<V>();
  try {
    const { revision } = await engine.load((key, bytes, recordRevision, createRevision) => {
      index.set({ key, value: codec.decode(key, bytes, recordRevision), revision: recordRevision, createRevision });
    });
    return new RevisionedStore<V>(options, index, revision);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

class RevisionedStore<V> implements Store<V> {
  readonly #engine: Engine;
  readonly #codec: ValueCodec<V>;
  readonly #clock: Clock;
  readonly #index: KeyIndex<V>;
  readonly #history: History<V>;
  readonly #watchers: Watchers<V>;
  readonly #waiters = new Set<Waiter>();

  #queue: StagedWrite<V>[] = [];
  #queuedKeys: StagedKeys<V> = new Map();
  #committingKeys: StagedKeys<V> | undefined;
  /** arrival time of the oldest queued write */
  #queuedSince = 0;
  /** moving average of the commit duration */
  #commitMs = 0;
  #committing: Promise<void> | undefined;
  #commitScheduled = false;
  #committedAt = 0;
  #cancelRest: CancelTimer | undefined;
  #closing: Promise<void> | undefined;
  #cancelTrim: CancelTimer | undefined;

  #revision: number;
  /** never reused, even after a failed commit, because data left by it must not reappear under the same revision */
  #lastAssigned: number;

  constructor(options: OpenStoreOptions<V>, index: KeyIndex<V>, revision: number) {
    this.#engine = options.engine;
    this.#codec = options.codec;
    this.#clock = options.clock ?? systemClock;
    this.#index = index;
    this.#revision = revision;
    this.#lastAssigned = revision;
    this.#history = new History(revision, { ...defaultHistoryLimits, ...options.history });
    this.#watchers = new Watchers(
      options.onWatcherError ?? ((error) => process.emitWarning(`a store watcher failed: ${errorMessage(error)}`)),
    );
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#history.compactedRevision;
  }

  get(key: string): StoreRecord<V> | undefined {
    return this.#index.get(key);
  }

  head(key: string): StoreRecord<V> | undefined {
    const staged = this.#stagedWrite(key);
    return staged ? staged.record : this.#index.get(key);
  }

  settled(key: string): Promise<unknown> | undefined {
    return this.#stagedWrite(key)?.stored;
  }

  #stagedWrite(key: string): StagedWrite<V> | undefined {
    return this.#queuedKeys.get(key) ?? this.#committingKeys?.get(key);
  }

  list(prefix: string, options: ListOptions = {}): ListResult<V> {
    const { revision, limit, after } = options;
    if (revision !== undefined && revision !== this.#revision) {
      if (revision > this.#revision) throw new RangeError(`revision ${revision} is newer than ${this.#revision}`);
      return listSnapshot(this.#index, this.#history, prefix, revision, { limit, after });
    }
    const records = this.#index.collect(prefix, after, limit);
    const remaining =
      limit === undefined || records.length < limit ? 0 : this.#index.count(prefix, after) - records.length;
    return { records, revision: this.#revision, remaining };
  }

  count(prefix: string): number {
    return this.#index.count(prefix);
  }

  put(key: string, precondition: Precondition, make: (revision: number) => V): Promise<StoreRecord<V>> {
    try {
      this.#checkOpen();
      this.#checkKey(key);
      const previous = this.head(key);
      checkPrecondition(key, precondition, previous);
      const revision = this.#lastAssigned + 1;
      const value = make(revision);
      const createRevision = previous?.createRevision ?? revision;
      const encoded = this.#codec.encode(key, value);
      // A failed `make` consumes no revision.
      this.#lastAssigned = revision;
      const record: StoreRecord<V> = { key, value, revision, createRevision };
      return this.#stage(key, record, record, {
        event: { type: 'put', revision, record, previous },
        write: { type: 'put', key, revision, createRevision, value: encoded },
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  delete(key: string, precondition: { kind: 'revision'; revision: number }): Promise<{ revision: number }> {
    try {
      this.#checkOpen();
      const previous = this.head(key);
      if (!previous) throw new ConflictError(key, undefined);
      checkPrecondition(key, precondition, previous);
      const revision = ++this.#lastAssigned;
      return this.#stage(
        key,
        undefined,
        { revision },
        {
          event: { type: 'delete', revision, key, previous },
          write: { type: 'delete', key, revision },
        },
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  watch(prefix: string, fromRevision: number, onEvents: (events: readonly StoreEvent<V>[]) => void): () => void {
    const backlog: StoreEvent<V>[] = [];
    this.#history.forEachAfter(fromRevision, (event) => {
      if (eventKey(event).startsWith(prefix)) backlog.push(event);
    });
    const watcher: Watcher<V> = { prefix, fromRevision, onEvents, batch: [], ended: false };
    if (backlog.length > 0) onEvents(backlog);
    this.#watchers.add(watcher);
    return () => this.#watchers.remove(watcher);
  }

  waitFor(revision: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (revision <= this.#revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        revision,
        resolve: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  backup(path: string): Promise<void> {
    return this.#engine.backup(path);
  }

  close(): Promise<void> {
    this.#closing ??= this.#flushAndClose();
    return this.#closing;
  }

  async #flushAndClose(): Promise<void> {
    this.#cancelTrim?.();
    this.#cancelRest?.();
    while (this.#committing || this.#queue.length > 0) {
      this.#startCommit();
      await this.#committing;
    }
    await this.#engine.close();
  }

  #checkOpen(): void {
    if (this.#closing) throw new StoreUnavailableError('the store is closed');
  }

  #checkKey(key: string): void {
    const { maxKeyBytes } = this.#engine;
    // A UTF-16 unit takes at most three bytes, so only unusually long keys need to be counted.
    if (maxKeyBytes !== undefined && key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) {
      throw new CapstanError(
        'CAP_STORE_KEY_TOO_LONG',
        `the key ${key.slice(0, 80)}… is longer than ${maxKeyBytes} bytes`,
      );
    }
  }

  /** Resolves with `result` once the write is durable and visible. */
  #stage<R>(
    key: string,
    record: StoreRecord<V> | undefined,
    result: R,
    { event, write }: Pick<StagedWrite<V>, 'event' | 'write'>,
  ): Promise<R> {
    if (this.#queue.length === 0) this.#queuedSince = this.#clock.now();
    let resolve!: (result: unknown) => void;
    let reject!: (error: unknown) => void;
    const stored = new Promise<R>((onStored, onFailed) => {
      resolve = onStored as (result: unknown) => void;
      reject = onFailed;
    });
    const staged: StagedWrite<V> = { key, event, write, record, stored, result, resolve, reject };
    this.#queue.push(staged);
    this.#queuedKeys.set(key, staged);
    if (!this.#committing && this.#hasCollectedLongEnough()) this.#startCommit();
    else this.#scheduleCommit();
    return stored;
  }

  /**
   * A turn of the event loop with many writes may last longer than a commit. The first writes then go to disk while
   * others are still processed. If the disk is slower, a larger batch is better than an early one.
   */
  #hasCollectedLongEnough(): boolean {
    return this.#commitMs > 0 && this.#clock.now() - this.#queuedSince >= this.#commitMs;
  }

  /** Waits for the end of this turn of the event loop, so that writers woken by one commit share the next. */
  #scheduleCommit(): void {
    if (this.#committing || this.#commitScheduled) return;
    this.#commitScheduled = true;
    setImmediate(() => {
      this.#commitScheduled = false;
      this.#startCommit();
    });
  }

  #startCommit(): void {
    if (this.#committing || this.#queue.length === 0) return;
    this.#committing = this.#commit(this.#takeBatch());
  }

  #takeBatch(): StagedWrite<V>[] {
    let bytes = 0;
    let count = 0;
    for (const { write } of this.#queue) {
      if (count === maxBatchWrites || bytes >= maxBatchBytes) break;
      count++;
      if (write.type === 'put') bytes += roughLength(write.value);
    }
    this.#committingKeys = this.#queuedKeys;
    this.#queuedKeys = new Map();
    if (count === this.#queue.length) {
      const all = this.#queue;
      this.#queue = [];
      return all;
    }
    this.#queuedSince = this.#clock.now();
    const batch = this.#queue.splice(0, count);
    // Remaining keys are in both maps until the commit, with the same newest write.
    for (const staged of this.#queue) this.#queuedKeys.set(staged.key, staged);
    return batch;
  }

  async #commit(batch: StagedWrite<V>[]): Promise<void> {
    const startedAt = this.#clock.now();
    try {
      await this.#engine.commit(batch.map(({ write }) => write));
    } catch (error) {
      this.#committing = undefined;
      this.#rollBack(batch, error);
      return;
    }
    this.#commitMs += (this.#clock.now() - startedAt - this.#commitMs) / 8;
    this.#committing = undefined;
    // No code runs before the index has the writes.
    this.#committingKeys = undefined;
    // The next commit starts before watchers are notified of this one.
    if (this.#queue.length > 0 && this.#hasCollectedLongEnough()) this.#startCommit();
    this.#publish(batch);
    if (this.#queue.length > 0) this.#scheduleCommit();
  }

  /** Rejects everything staged since, because it may depend on the lost writes. */
  #rollBack(batch: StagedWrite<V>[], cause: unknown): void {
    const lost = batch.concat(this.#queue);
    this.#queue = [];
    this.#queuedKeys = new Map();
    this.#committingKeys = undefined;
    const error = new StoreUnavailableError(`the write could not be stored: ${errorMessage(cause)}`, { cause });
    for (const { reject } of lost) reject(error);
  }

  #publish(batch: StagedWrite<V>[]): void {
    const now = this.#clock.now();
    const events: StoreEvent<V>[] = [];
    for (const { event, write } of batch) {
      if (event.type === 'put') this.#index.set(event.record);
      else this.#index.delete(event.key);
      this.#history.push(event, now, write.type === 'put' ? roughLength(write.value) : 0);
      events.push(event);
    }
    this.#revision = must(events[events.length - 1], 'the last event').revision;
    // Trims up to twice the number of new events, so the history soon reaches its limits without one expensive commit.
    this.#history.trim(now, events.length * 2 + 64);
    this.#trimLater(now);
    this.#committedAt = now;
    this.#restLater();
    this.#watchers.dispatch(events);
    for (const waiter of this.#waiters) {
      if (waiter.revision > this.#revision) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
    for (const { resolve, result } of batch) resolve(result);
  }

  /** After a while without writes, lets the engine release resources. Writes wait until it is done. */
  #restLater(waitMs = restAfterMs): void {
    const engine = this.#engine;
    if (!engine.rest || this.#cancelRest || this.#closing) return;
    this.#cancelRest = this.#clock.after(waitMs, () => {
      this.#cancelRest = undefined;
      const quietMs = this.#clock.now() - this.#committedAt;
      if (quietMs < restAfterMs) return this.#restLater(restAfterMs - quietMs);
      if (this.#committing || this.#queue.length > 0) return this.#restLater();
      const goOn = (): void => {
        this.#committing = undefined;
        if (this.#queue.length > 0) this.#scheduleCommit();
      };
      // A failed engine reports the error to the next write.
      this.#committing = engine.rest?.().then(goOn, goOn);
    });
  }

  /** Commits trim the history. After the last of many, a timer continues. */
  #trimLater(now: number): void {
    if (this.#cancelTrim || this.#closing) return;
    const expiry = this.#history.nextExpiry;
    if (expiry === undefined) return;
    const waitMs = expiry < now ? trimPauseMs : expiry - now + trimDelayMs;
    this.#cancelTrim = this.#clock.after(waitMs, () => {
      this.#cancelTrim = undefined;
      const later = this.#clock.now();
      this.#history.trim(later, maxTrimmedEvents);
      this.#trimLater(later);
    });
  }
}

function eventKey<V>(event: StoreEvent<V>): string {
  return event.type === 'put' ? event.record.key : event.key;
}

function checkPrecondition<V>(key: string, wanted: Precondition, actual: StoreRecord<V> | undefined): void {
  const holds = wanted.kind === 'absent' ? actual === undefined : actual?.revision === wanted.revision;
  if (!holds) throw new ConflictError(key, actual?.revision);
}
