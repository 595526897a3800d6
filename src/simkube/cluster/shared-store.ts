import { openObjectStore, type StoredObject } from '../../apiserver/index.ts';
import type { CancelTimer, Clock } from '../../machinery/index.ts';
import type { Engine, Store } from '../../store/index.ts';

export interface SharedStoreOptions {
  readonly clock: Clock;
  /** opens the same data again after it was closed */
  openEngine(): Promise<Engine>;
  opened(store: Store<StoredObject>): void;
  /** called before the store closes; pending writes must end first */
  closing(): Promise<void>;
}

/** time the data stays in memory after the last use */
const idleMs = 30_000;
/** History serves watches that reconnect, which happens soon here. */
const history = { minRevisions: 200, minAgeMs: 60_000, maxRevisions: 5_000, maxBytes: 2 * 1024 * 1024 };

/** Store of a cluster: in memory while in use, and a little longer. */
export class SharedStore {
  readonly #options: SharedStoreOptions;
  #opening: Promise<Store<StoredObject>> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #current: Store<StoredObject> | undefined;
  #revision = 0;
  #users = 0;
  #cancelIdle: CancelTimer | undefined;
  #isClosed = false;

  constructor(options: SharedStoreOptions) {
    this.#options = options;
  }

  /** undefined while unused */
  get current(): Store<StoredObject> | undefined {
    return this.#current;
  }

  /** newest revision, also while unused */
  get revision(): number {
    return this.#current?.revision ?? this.#revision;
  }

  /** Every use must end with `release`. */
  async use(): Promise<Store<StoredObject>> {
    if (this.#isClosed) throw new Error('the cluster is closed');
    this.#users++;
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      this.#users--;
      this.#opening = undefined;
      throw error;
    }
  }

  release(): void {
    this.#users--;
    if (this.#users > 0 || this.#isClosed || this.#cancelIdle) return;
    this.#cancelIdle = this.#options.clock.after(idleMs, () => {
      this.#cancelIdle = undefined;
      if (this.#users === 0 && !this.#isClosed) this.#close();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelIdle?.();
    this.#close();
    await this.#closing;
  }

  async #open(): Promise<Store<StoredObject>> {
    // A store that is closing holds the lock of its directory until the end.
    await this.#closing;
    const engine = await this.#options.openEngine();
    const store = await openObjectStore({ engine, clock: this.#options.clock, history });
    this.#current = store;
    this.#options.opened(store);
    return store;
  }

  #close(): void {
    const opening = this.#opening;
    if (!opening) return;
    this.#opening = undefined;
    const before = this.#closing;
    this.#closing = (async () => {
      await before;
      const store = await opening.catch(() => undefined);
      if (!store) return;
      await this.#options.closing();
      this.#revision = store.revision;
      this.#current = undefined;
      await store.close();
    })();
  }
}
