import { type CancelTimer, type Clock, deepEqual, type Random } from '../../machinery/index.ts';
import { isNotFound, OpenStackError } from '../errors/openstack-error.ts';
import type { Log } from '../http/log.ts';
import { Listeners } from './listeners.ts';
import type { Pace } from './pace.ts';
import { PageMemory } from './page-memory.ts';
import { type Reading, readList } from './read.ts';
import type { Source } from './sources.ts';
import type { ChangeListener, ObservationHealth, ObservationIntervals } from './types.ts';

export interface TypeObserverOptions<T> {
  readonly type: string;
  source(signal: AbortSignal): Promise<Source<T>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly intervals: ObservationIntervals;
  readonly pace: Pace;
}

/** Hosts with clock skew may stamp changes slightly before they are written. */
const changesOverlapMs = 30_000;
/** With more ids, a filtered list costs more than the complete one. */
const maxIdsAtOnce = 50;

/**
 * Observes all resources of one type with one list at a time: frequently while something is in progress, otherwise
 * rarely.
 */
export class TypeObserver<T extends { readonly id: string }> {
  readonly #options: TypeObserverOptions<T>;
  readonly #listeners: Listeners<T>;
  readonly #things = new Map<string, T>();
  readonly #memory = new PageMemory();
  /** resources under close watch, with the time it ends */
  readonly #close = new Map<string, { count: number; until: number }>();
  /** ids with subscribers that have not been called yet */
  readonly #unheard = new Set<string>();
  /** responses to our own changes and their time, until a later poll has covered them */
  readonly #noted = new Map<string, { readonly thing: T; readonly at: number }>();
  #waiters: { resolve(): void; reject(error: unknown): void }[] = [];
  #source: Source<T> | undefined;
  #run: AbortController | undefined;
  #cancelTimer: CancelTimer | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #polling = false;
  #synced = false;
  #completeAt = 0;
  #changesSince = 0;
  #lastRequests = 1;
  #pollsWithoutChange = 0;
  #failures = 0;
  #error: Error | undefined;
  #lastSuccess: number | undefined;
  /** start of the last complete poll */
  #coveredAt: number | undefined;
  /** start of later partial polls, by id */
  readonly #glances = new Map<string, number>();

  constructor(options: TypeObserverOptions<T>) {
    this.#options = options;
    this.#listeners = new Listeners((error) => options.log.warn('a listener failed', { type: options.type, error }));
  }

  subscribe(listener: ChangeListener<T>, id: string | undefined): () => void {
    this.#listeners.add(listener, id);
    if (id !== undefined) {
      const known = this.#things.get(id);
      if (known) {
        queueMicrotask(() =>
          this.#listeners.reportOne(listener, { change: 'added', id, now: known, before: undefined }),
        );
      } else this.#unheard.add(id);
    }
    this.#wake({ soon: this.#synced && id !== undefined && !this.#things.has(id) });
    let subscribed = true;
    return () => {
      if (!subscribed) return;
      subscribed = false;
      this.#listeners.remove(listener, id);
      if (id !== undefined && !this.#listeners.hasOne(id)) this.#unheard.delete(id);
      this.#sleepIfUnwanted();
    };
  }

  note(thing: T): void {
    // Without a run, later subscribers are called in any case.
    if (this.#run) this.#noted.set(thing.id, { thing, at: this.#options.clock.now() });
  }

  watchClosely(id: string): () => void {
    const until = this.#options.clock.now() + this.#options.intervals.closeWatchMs;
    const watch = this.#close.get(id) ?? { count: 0, until };
    watch.count++;
    watch.until = until;
    this.#close.set(id, watch);
    this.#pollsWithoutChange = 0;
    this.#wake({ soon: true });
    let watching = true;
    return () => {
      if (!watching) return;
      watching = false;
      if (--watch.count === 0) this.#close.delete(id);
      this.#sleepIfUnwanted();
    };
  }

  current(id: string): T | undefined {
    return this.#things.get(id);
  }

  /** Start of the poll that the known state of one resource is based on. Later changes may be missing. */
  asOf(id: string): number | undefined {
    return this.#glances.get(id) ?? this.#coveredAt;
  }

  all(): Iterable<T> {
    return this.#things.values();
  }

  health(): ObservationHealth {
    return {
      observing: this.#run !== undefined,
      synced: this.#synced,
      lastSuccess: this.#lastSuccess,
      error: this.#error,
    };
  }

  /** Polls now. Resolves when that poll is done, rejects if it failed. */
  refresh(): Promise<void> {
    const done = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.#wake({ soon: false });
    this.#schedule(0);
    return done;
  }

  stop(): void {
    this.#run?.abort(new Error('observation was stopped'));
    this.#run = undefined;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
    // Without polls the known state becomes stale, so the next subscriber starts from scratch.
    this.#things.clear();
    this.#noted.clear();
    this.#memory.forget();
    this.#synced = false;
    this.#coveredAt = undefined;
    this.#glances.clear();
    this.#failures = 0;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new Error('observation was stopped'));
  }

  get #wanted(): boolean {
    return !this.#listeners.isEmpty || this.#close.size > 0 || this.#waiters.length > 0;
  }

  #sleepIfUnwanted(): void {
    if (!this.#wanted) this.stop();
  }

  /** Starts polling if it was stopped. `soon` brings the next poll forward. */
  #wake({ soon }: { soon: boolean }): void {
    if (!this.#run) {
      this.#run = new AbortController();
      this.#schedule(0);
    } else if (soon) this.#schedule(this.#options.intervals.busyMs);
  }

  /** Schedules the next poll after `ms`, unless one is due earlier. */
  #schedule(ms: number): void {
    const { clock } = this.#options;
    const dueAt = clock.now() + ms;
    if (this.#polling || dueAt >= this.#dueAt) {
      // A running poll schedules the next one when it ends. That one must not be later than requested here.
      if (this.#polling) this.#dueAt = Math.min(this.#dueAt, dueAt);
      return;
    }
    this.#cancelTimer?.();
    this.#dueAt = dueAt;
    this.#cancelTimer = clock.after(ms, () => {
      this.#cancelTimer = undefined;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const run = this.#run;
    if (!run) return;
    const { clock } = this.#options;
    this.#polling = true;
    this.#dueAt = Number.POSITIVE_INFINITY;
    const waiters = this.#waiters.splice(0);
    let failure: unknown;
    try {
      this.#source ??= await this.#options.source(run.signal);
      const startedAt = clock.now();
      const reading = await this.#read(this.#source, run.signal);
      if (run.signal.aborted) return;
      const changes = await this.#apply(this.#source, reading, startedAt, run.signal);
      if (run.signal.aborted) return;
      this.#succeeded(reading, changes, startedAt);
    } catch (error) {
      if (run.signal.aborted) return;
      failure = error;
      this.#failed(error);
    } finally {
      if (this.#run === run) {
        this.#polling = false;
        for (const waiter of waiters) failure === undefined ? waiter.resolve() : waiter.reject(failure);
        this.#next();
      } else {
        this.#polling = false;
        for (const waiter of waiters) waiter.reject(new Error('observation was stopped'));
        this.#dueAt = Number.POSITIVE_INFINITY;
        // Somebody subscribed while the old run was ending.
        if (this.#run) this.#schedule(0);
      }
    }
  }

  #read(source: Source<T>, signal: AbortSignal): Promise<Reading<T>> {
    const { clock, intervals } = this.#options;
    const stale = !this.#synced || clock.now() - this.#completeAt >= intervals.completeMs;
    if (!stale && source.changesQuery) {
      const since = new Date(this.#changesSince - changesOverlapMs).toISOString().replace(/\.\d+Z$/, 'Z');
      return readList(source, { query: source.changesQuery(since), complete: false }, signal);
    }
    if (!stale && source.idsQuery && this.#isBusy()) {
      const ids = this.#awaited();
      if (ids.length > 0 && ids.length <= maxIdsAtOnce)
        return this.#readOnly(source, { ids, query: source.idsQuery(ids) }, signal);
    }
    return readList(source, { query: source.query, complete: true, memory: this.#memory }, signal);
  }

  /** Reads only resources somebody waits for. Those not found are gone. */
  async #readOnly(
    source: Source<T>,
    { ids, query }: { ids: readonly string[]; query: Source<T>['query'] },
    signal: AbortSignal,
  ): Promise<Reading<T>> {
    const reading = await readList(source, { query, complete: false }, signal);
    for (const id of ids) if (!reading.things.has(id)) reading.deleted.add(id);
    return { ...reading, partial: true };
  }

  /** Notifies subscribers of all differences. Returns their number. */
  async #apply(source: Source<T>, reading: Reading<T>, startedAt: number, signal: AbortSignal): Promise<number> {
    let changes = this.#reportUndone(reading, startedAt);
    for (const [id, now] of reading.things) if (this.#put(id, now)) changes++;
    for (const id of reading.deleted) if (this.#remove(id)) changes++;
    if (reading.complete) {
      for (const id of [...this.#things.keys()]) {
        if (reading.things.has(id) || reading.unchanged.has(id)) continue;
        if (await this.#settle(source, id, signal)) changes++;
      }
    } else if (changes > 0) this.#memory.forget();
    // A list of changes contains neither unchanged resources nor ones that never existed.
    if (reading.complete || source.confirm) {
      for (const id of [...this.#unheard]) {
        if (!reading.unchanged.has(id) && (await this.#settle(source, id, signal))) changes++;
      }
    }
    return changes;
  }

  /**
   * Reports our own changes that were undone before a poll saw them, so that the polls before and after are equal.
   * Returns their number.
   */
  #reportUndone(reading: Reading<T>, startedAt: number): number {
    let undone = 0;
    for (const [id, { thing, at }] of this.#noted) {
      if (startedAt <= at) continue;
      const known = this.#things.get(id);
      const now = reading.things.get(id) ?? (reading.unchanged.has(id) ? known : undefined);
      if (now === undefined && !reading.complete) continue;
      this.#noted.delete(id);
      if (known === undefined || now === undefined || !deepEqual(known, now) || deepEqual(thing, now)) continue;
      undone++;
      this.#listeners.tell({ change: 'changed', id, now, before: thing });
    }
    return undone;
  }

  #put(id: string, now: T): boolean {
    const before = this.#things.get(id);
    this.#unheard.delete(id);
    if (before !== undefined && deepEqual(before, now)) return false;
    this.#things.set(id, now);
    this.#listeners.tell(
      before === undefined ? { change: 'added', id, now, before } : { change: 'changed', id, now, before },
    );
    return true;
  }

  #remove(id: string): boolean {
    const before = this.#things.get(id);
    const awaited = this.#unheard.delete(id);
    if (before === undefined && !awaited) return false;
    this.#things.delete(id);
    this.#listeners.tell({ change: 'removed', id, now: undefined, before });
    return true;
  }

  /**
   * A resource missing from a list is gone, unless the list is no proof and somebody subscribed to it. Then it is
   * requested directly.
   */
  async #settle(source: Source<T>, id: string, signal: AbortSignal): Promise<boolean> {
    if (!source.confirm || !this.#listeners.hasOne(id)) return this.#remove(id);
    try {
      return this.#put(id, await source.confirm(id, signal));
    } catch (error) {
      if (isNotFound(error)) return this.#remove(id);
      throw error;
    }
  }

  #succeeded(reading: Reading<T>, changes: number, startedAt: number): void {
    if (this.#failures > 0) this.#options.log.debug('observation works again', { type: this.#options.type });
    this.#failures = 0;
    this.#error = undefined;
    this.#lastSuccess = this.#options.clock.now();
    if (reading.partial) for (const id of reading.things.keys()) this.#glances.set(id, startedAt);
    else {
      this.#coveredAt = startedAt;
      this.#glances.clear();
    }
    this.#lastRequests = Math.max(1, reading.requests);
    this.#changesSince = reading.cloudTime ?? startedAt;
    this.#pollsWithoutChange = changes > 0 ? 0 : this.#pollsWithoutChange + 1;
    if (reading.complete) {
      this.#synced = true;
      this.#completeAt = startedAt;
    }
  }

  #failed(error: unknown): void {
    this.#failures++;
    this.#error = error instanceof Error ? error : new Error(String(error));
    this.#memory.forget();
    if (this.#failures === 1) {
      this.#options.log.warn('observation fails', { type: this.#options.type, error: this.#error });
    }
  }

  #next(): void {
    if (!this.#wanted) return this.stop();
    const asked = this.#dueAt;
    this.#dueAt = Number.POSITIVE_INFINITY;
    const { clock } = this.#options;
    this.#schedule(Math.min(Math.max(0, asked - clock.now()), this.#pause()));
  }

  #pause(): number {
    const { clock, intervals, pace, random } = this.#options;
    const jitter = 0.9 + random.next() * 0.2;
    if (this.#failures > 0) {
      const asked = this.#error instanceof OpenStackError ? (this.#error.retryAfterMs ?? 0) : 0;
      return Math.max(asked, Math.min(intervals.failureMaxMs, intervals.busyMs * 2 ** this.#failures)) * jitter;
    }
    if (this.#isBusy()) {
      return Math.min(intervals.busyMaxMs, intervals.busyMs * 1.3 ** this.#pollsWithoutChange) * jitter;
    }
    // Slightly early, never late: a disappearance must be noticed within the interval, and the list itself takes time.
    const early = 0.85 + random.next() * 0.1;
    return Math.max(intervals.quietMs * early, pace.book(clock.now(), this.#lastRequests));
  }

  /** Reports whether somebody waits for something in progress. */
  #isBusy(): boolean {
    const now = this.#options.clock.now();
    for (const [id, watch] of this.#close) if (watch.until <= now) this.#close.delete(id);
    if (this.#close.size > 0 || this.#unheard.size > 0) return true;
    for (const id of this.#listeners.ids()) if (this.#isInFlight(id)) return true;
    return false;
  }

  #isInFlight(id: string): boolean {
    const thing = this.#things.get(id);
    return thing !== undefined && this.#source?.inFlight(thing) === true;
  }

  #awaited(): string[] {
    const ids = new Set([...this.#close.keys(), ...this.#unheard]);
    for (const id of this.#listeners.ids()) if (this.#isInFlight(id)) ids.add(id);
    return [...ids];
  }
}
