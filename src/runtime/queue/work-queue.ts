import { type Clock, must, type Random } from '../../machinery/index.ts';
import { Delays } from './delays.ts';
import { FairLane } from './fair-lane.ts';
import type { IdleGate, WorkKind } from './idle-gate.ts';
import { Rests } from './rests.ts';

/**
 * `high` is for recent changes, `low` for initial lists and resyncs, `idle` for aggregation of other changes: taken
 * when there is no other work, so that one reconcile covers many changes.
 */
export type Priority = 'high' | 'low' | 'idle';

/** Metrics of a queue, named after client-go's workqueue metrics. */
export interface QueueMetrics {
  depth(value: number): void;
  add(): void;
  retry(): void;
  /** seconds between being added and being taken */
  queueDuration(seconds: number): void;
  /** seconds between being taken and being done */
  workDuration(seconds: number): void;
}

export interface WorkQueueOptions {
  clock: Clock;
  random: Random;
  metrics?: QueueMetrics;
  /** keys of one group (such as a cluster) wait in line together; groups take turns. Default: one group. */
  groupOf?: (key: string) => string;
  /** decides when `idle` keys may be taken; without it they are treated like `low` */
  idleGate?: IdleGate;
  /** minimum interval between a reconcile of a key and the next `idle` one; default 0 */
  idleRestMs?: number;
  firstBackoffMs?: number;
  maxBackoffMs?: number;
}

/** Queue of keys. A key is queued at most once and handed to at most one worker at a time. */
export interface WorkQueue {
  /** adds a key; if it is in progress, it is handed out again afterwards */
  add(key: string, priority?: Priority): void;
  /** adds a key after `ms`, unless it is due earlier */
  addAfter(key: string, ms: number, priority?: Priority): void;
  /** adds a key after a backoff that doubles with each failure; returns the backoff */
  addRateLimited(key: string, priority?: Priority): number;
  /** resets the failures of a key */
  forget(key: string): void;
  failures(key: string): number;
  /** returns the next key, undefined when the queue is shut down or the signal aborts; must be followed by `done` */
  take(signal?: AbortSignal): Promise<string | undefined>;
  done(key: string): void;
  /** taken and not done */
  isBusy(key: string): boolean;
  /** hands out no more keys; keys in progress may finish */
  shutDown(): void;
  /** resolves when no key is in progress */
  idle(): Promise<void>;
  /** number of ready keys */
  readonly depth: number;
  /** number of keys in progress */
  readonly inProgress: number;
  /** number of delayed keys */
  readonly delayed: number;
  /** seconds of work in progress: the sum and the longest */
  running(): { unfinishedSeconds: number; longestSeconds: number };
}

interface Waiting {
  priority: Priority;
  group: string;
  since: number;
}

/** One turn in this many goes to the low lane if both wait, so that it is never starved. */
const lowLaneTurn = 16;
const urgency: Readonly<Record<Priority, number>> = { idle: 0, low: 1, high: 2 };

const moreUrgent = (one: Priority, other: Priority): Priority => (urgency[one] >= urgency[other] ? one : other);
const kindOf = (priority: Priority): WorkKind => (priority === 'idle' ? 'idle' : 'usual');

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, random, metrics, idleGate } = options;
  const groupOf = options.groupOf ?? (() => '');
  const firstBackoffMs = options.firstBackoffMs ?? 5;
  const maxBackoffMs = options.maxBackoffMs ?? 1_000_000;
  const lanes: Readonly<Record<Priority, FairLane>> = {
    high: new FairLane(),
    low: new FairLane(),
    idle: new FairLane(),
  };
  const waiting = new Map<string, Waiting>();
  /** keys in progress: when they were taken, and the priority requested meanwhile */
  const working = new Map<string, { since: number; again: Priority | undefined; kind: WorkKind }>();
  const failures = new Map<string, number>();
  const takers: { give(key: string | undefined): void }[] = [];
  const idlers: (() => void)[] = [];
  const rests = new Rests(clock, options.idleRestMs ?? 0);
  let turns = 0;
  let stopped = false;

  const depth = (): number => lanes.high.size + lanes.low.size + lanes.idle.size;
  const reportDepth = (): void => metrics?.depth(depth());

  const enqueue = (key: string, priority: Priority): void => {
    const present = waiting.get(key);
    if (present) {
      if (urgency[priority] <= urgency[present.priority]) return;
      lanes[present.priority].delete(key, present.group);
      lanes[priority].push(key, present.group);
      if (present.priority === 'idle') idleGate?.readyChanged(1);
      present.priority = priority;
      handOut();
      return;
    }
    const entry: Waiting = { priority, group: groupOf(key), since: clock.now() };
    waiting.set(key, entry);
    lanes[priority].push(key, entry.group);
    metrics?.add();
    reportDepth();
    if (priority !== 'idle') idleGate?.readyChanged(1);
    else if (idleGate) {
      idleGate.knock();
      return;
    }
    handOut();
  };

  const handOut = (): boolean => {
    let given = false;
    while (takers.length > 0) {
      const key = next();
      if (key === undefined) break;
      must(takers.shift(), 'a taker').give(key);
      given = true;
    }
    return given;
  };

  const nextLane = (): Priority => {
    const { high, low, idle } = lanes;
    turns++;
    const isLowTurn = turns % lowLaneTurn === 0;
    if (low.size > 0 && (high.size === 0 || isLowTurn)) return 'low';
    if (idle.size > 0 && (high.size === 0 || isLowTurn) && (idleGate?.admit() ?? true)) return 'idle';
    return 'high';
  };

  const next = (): string | undefined => {
    const lane = nextLane();
    const key = lanes[lane].shift();
    if (key === undefined) return undefined;
    const entry = must(waiting.get(key), 'the entry of a waiting key');
    waiting.delete(key);
    // The present reconcile decides when to run again.
    later.usual.delete(key);
    later.idle.delete(key);
    const now = clock.now();
    const kind = kindOf(lane);
    working.set(key, { since: now, again: undefined, kind });
    rests.begin(key);
    idleGate?.began(kind);
    if (kind === 'usual') idleGate?.readyChanged(-1);
    metrics?.queueDuration((now - entry.since) / 1000);
    reportDepth();
    return key;
  };

  const add = (key: string, priority: Priority = 'high'): void => {
    if (stopped) return;
    // A key that is added now is not delayed as well.
    later[kindOf(priority)].delete(key);
    const busy = working.get(key);
    if (!busy) {
      const restMs = priority === 'idle' && !waiting.has(key) ? rests.leftMs(key) : 0;
      if (restMs > 0) later.idle.add(key, restMs, priority, moreUrgent);
      else enqueue(key, priority);
    } else if (busy.again === undefined || urgency[busy.again] < urgency[priority]) busy.again = priority;
  };

  // Idle work may run later than a requested reconcile, so the two are tracked separately.
  const later: Readonly<Record<WorkKind, Delays<Priority>>> = {
    usual: new Delays<Priority>(clock, add),
    idle: new Delays<Priority>(clock, add),
  };

  const addAfter = (key: string, ms: number, priority: Priority = 'high'): void => {
    if (stopped) return;
    if (ms <= 0) {
      add(key, priority);
      return;
    }
    const present = waiting.get(key);
    if (present && urgency[priority] <= urgency[present.priority]) return;
    later[kindOf(priority)].add(key, ms, priority, moreUrgent);
  };

  idleGate?.onOpen(handOut);

  return {
    add,
    addAfter,
    addRateLimited(key, priority = 'high') {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      metrics?.retry();
      const base = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(count, 40));
      const pauseMs = base * (0.75 + random.next() / 4);
      addAfter(key, pauseMs, priority);
      return pauseMs;
    },
    forget(key) {
      failures.delete(key);
    },
    failures: (key) => failures.get(key) ?? 0,
    take(signal) {
      if (stopped || signal?.aborted) return Promise.resolve(undefined);
      const key = next();
      if (key !== undefined) return Promise.resolve(key);
      return new Promise((resolve) => {
        const taker = {
          give(taken: string | undefined) {
            signal?.removeEventListener('abort', onAbort);
            resolve(taken);
          },
        };
        const onAbort = (): void => {
          const index = takers.indexOf(taker);
          if (index >= 0) takers.splice(index, 1);
          resolve(undefined);
        };
        takers.push(taker);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
    done(key) {
      const work = working.get(key);
      if (!work) return;
      working.delete(key);
      metrics?.workDuration((clock.now() - work.since) / 1000);
      if (work.again !== undefined) add(key, work.again);
      idleGate?.ended(work.kind);
      if (working.size === 0) for (const resolve of idlers.splice(0)) resolve();
    },
    isBusy: (key) => working.has(key),
    shutDown() {
      stopped = true;
      later.usual.clear();
      later.idle.clear();
      for (const taker of takers.splice(0)) taker.give(undefined);
    },
    idle: () => (working.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
    get depth() {
      return depth();
    },
    get inProgress() {
      return working.size;
    },
    get delayed() {
      return later.usual.size + later.idle.size;
    },
    running() {
      const now = clock.now();
      let unfinished = 0;
      let longest = 0;
      for (const { since } of working.values()) {
        unfinished += now - since;
        longest = Math.max(longest, now - since);
      }
      return { unfinishedSeconds: unfinished / 1000, longestSeconds: longest / 1000 };
    },
  };
}
