import {
  type Client,
  formatKey,
  type Informer,
  type InformerFactory,
  type ObjectKey,
  parseKey,
  sharedSignal,
} from '../../client/index.ts';
import { type Clock, isConflict, type KubeObject, type Random, sleep } from '../../machinery/index.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Logger } from '../log.ts';
import type { RuntimeMetrics } from '../metrics.ts';
import { createWorkQueue, type Priority, type WorkQueue } from '../queue/work-queue.ts';
import type { CacheReader, ControllerDefinition } from './definition.ts';
import { changedBesidesStatus, type ObjectEvent } from './predicates.ts';
import { type Result, TerminalError } from './result.ts';
import { type Watch, watchObjects } from './watches.ts';
import { trackWrites, type Written, waitForWrites } from './write-tracker.ts';

export interface ControllerOptions {
  client: Client;
  informers: InformerFactory;
  cache: CacheReader;
  clock: Clock;
  random: Random;
  log: Logger;
  metrics: RuntimeMetrics;
  events: EventRecorder;
  /**
   * A key rests after its work for this multiple of what the work took, so that the echoes of one change (its own writes,
   * those of the controllers it woke) are answered by one reconcile instead of one each. The slower everything is, the
   * more is gathered. What is only summed up, and the echo of a status just written, waits a little for company. Default 0:
   * every change is answered at once.
   */
  restFactor?: number;
  /** whether keys of controllers wait that do not run in the background */
  isBusy?: () => boolean;
}

export interface Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly definition: ControllerDefinition;
  /** asks for the informers needed; before the caches start */
  prepare(): void;
  /**
   * Works until the signal aborts and the work under way has ended; the caches must have synced. After the abort no new
   * key is begun; reconciles under way get `drainMs` before their own signal aborts.
   */
  run(signal: AbortSignal, drainMs?: number): Promise<void>;
  enqueue(key: ObjectKey, priority?: Priority): void;
}

const defaultTimeoutMs = 5 * 60_000;
/** How long a key waits for the caches to show what was written; normally a few milliseconds. */
const ownWritesTimeoutMs = 2_000;
const defaultMaxRestMs = 150;
/** How long changes are gathered by those that only sum them up: longer the more keys are under way, within limits. */
const minGatherMs = 300;
const gatherMsPerKey = 20;
const maxGatherMs = 2_000;
/** A worker in the background gives way this long at most, then takes a few keys whatever waits elsewhere. */
const giveWayMs = 2_000;
const giveWayStepMs = 50;
const keysPerTurn = 5;
/** When a key is looked at again after its own work changed nothing but the status, unless something else happens before. */
const echoMs = 250;

export function createController(definition: ControllerDefinition, options: ControllerOptions): Controller {
  const { name } = definition;
  const { clock, random, metrics, informers } = options;
  const concurrency = definition.concurrency ?? 1;
  const log = options.log.with({ controller: name });
  const groupOf = definition.groupOf?.bind(definition) ?? ((key: ObjectKey) => key.namespace ?? '');
  const queue = createWorkQueue({
    clock,
    random,
    metrics: metrics.queue(name),
    groupOf: (key) => groupOf(parseKey(key)),
  });
  const measured = metrics.controller(name);
  measured.maxConcurrent(concurrency);
  metrics.watchQueue(name, queue);
  const rests = (options.restFactor ?? 0) > 0;
  const watches = definition.watches ?? [watchObjects(definition.for)];
  const watched = new Map<Watch, Informer<KubeObject>>();
  /** keys whose writes the caches have not shown yet: the worker is free, the key is not */
  const settling = new Set<Promise<void>>();

  const handle = (watch: Watch, event: ObjectEvent): void => {
    try {
      if (!watch.predicates.every((predicate) => predicate(event))) return;
      const unchanged =
        (event.type === 'add' && event.initial) ||
        (event.type === 'update' && event.object.metadata.resourceVersion === event.old.metadata.resourceVersion);
      for (const target of watch.keysOf(event)) {
        const key = formatKey(target);
        queue.addAfter(key, patienceMs(watch, event, key), unchanged ? 'low' : 'high');
      }
    } catch (error) {
      log.error('Watch mapping failed', { resource: watch.resource.plural, name: event.object.metadata.name, error });
    }
  };

  const gatherMs = (): number =>
    rests ? Math.min(maxGatherMs, minGatherMs + gatherMsPerKey * (queue.depth + queue.inProgress)) : 0;

  /** How long an event may wait for others that are answered by the same look. */
  const patienceMs = (watch: Watch, event: ObjectEvent, key: string): number => {
    if (!rests || event.type !== 'update') return 0;
    // most likely what the work under way wrote itself, which it knows
    const isEcho = watch.resource === definition.for && queue.isBusy(key);
    if (isEcho) return changedBesidesStatus(event) ? 0 : echoMs;
    const beginsToGo = event.object.metadata.deletionTimestamp !== event.old.metadata.deletionTimestamp;
    return watch.patient && !beginsToGo ? gatherMs() : 0;
  };

  const finish = (
    key: string,
    keyLog: Logger,
    outcome: Result | { kind: 'failed'; error: unknown },
    stopping: boolean,
  ): 'success' | 'error' | 'requeue_after' => {
    if (outcome.kind === 'done') {
      queue.forget(key);
      return 'success';
    }
    if (outcome.kind === 'after') {
      queue.forget(key);
      keyLog.debug('Waiting', { reason: outcome.reason, ms: outcome.ms });
      queue.addAfter(key, outcome.ms);
      return 'requeue_after';
    }
    const { error } = outcome;
    if (error instanceof TerminalError) {
      queue.forget(key);
      measured.terminalError();
      keyLog.error('Reconcile failed for good until the object changes', { reason: error.reason, error });
      return 'error';
    }
    const retryInMs = Math.round(queue.addRateLimited(key));
    const fields = { error, retryInMs };
    // a lost race against another writer is part of normal life; an aborted reconcile at the end of the program too
    if (stopping || isConflict(error)) keyLog.debug('Reconcile will be repeated', fields);
    else keyLog.error('Reconcile failed', fields);
    return 'error';
  };

  const reconcile = async (key: string, stop: AbortSignal): Promise<void> => {
    const target = parseKey(key);
    const keyLog = log.with({
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      name: target.name,
    });
    const limit = definition.timeoutMs ?? defaultTimeoutMs;
    const controller = new AbortController();
    sharedSignal(controller.signal);
    const onStop = (): void => controller.abort(stop.reason);
    if (stop.aborted) onStop();
    else stop.addEventListener('abort', onStop, { once: true });
    const cancelTimeout = clock.after(limit, () => {
      keyLog.warn('Reconcile takes too long and was told to stop', { limitMs: limit });
      controller.abort(new Error(`reconcile did not end within ${limit} ms`));
    });
    const tracked = trackWrites(options.client);
    const startedAt = clock.now();
    measured.activeWorkers(1);
    let outcome: Result | { kind: 'failed'; error: unknown };
    try {
      outcome = await definition.reconcile(
        {
          client: tracked.client,
          cache: options.cache,
          log: keyLog,
          events: options.events,
          clock,
          random,
          signal: controller.signal,
        },
        target,
      );
    } catch (error) {
      outcome = { kind: 'failed', error };
    } finally {
      cancelTimeout();
      stop.removeEventListener('abort', onStop);
      measured.activeWorkers(-1);
    }
    const tookMs = clock.now() - startedAt;
    measured.finished(finish(key, keyLog, outcome, stop.aborted), tookMs / 1000);
    const written = tracked.written();
    const restMs = Math.min(definition.maxRestMs ?? defaultMaxRestMs, tookMs * (options.restFactor ?? 0));
    if (written.length === 0 && restMs <= 0) {
      queue.done(key);
      return;
    }
    const settled = settle(written, restMs, stop).then(() => {
      settling.delete(settled);
      queue.done(key);
    });
    settling.add(settled);
  };

  /** Resolves when a key may be worked on again; its worker does not wait for that. */
  const settle = async (written: readonly Written[], restMs: number, stop: AbortSignal): Promise<void> => {
    await Promise.all([
      written.length > 0 &&
        waitForWrites(written, informers.informers(), { timeoutMs: ownWritesTimeoutMs, signal: stop }),
      restMs > 0 && sleep(clock, restMs, stop).catch(() => {}),
    ]);
  };

  /** Resolves when nobody else has work waiting, or when waiting has taken long enough. */
  const giveWay = async (stop: AbortSignal): Promise<void> => {
    for (let waited = 0; waited < giveWayMs && !stop.aborted && options.isBusy?.() === true; waited += giveWayStepMs) {
      await sleep(clock, giveWayStepMs, stop).catch(() => {});
    }
  };

  const work = async (hardStop: AbortSignal): Promise<void> => {
    for (let taken = 0; ; taken++) {
      if (definition.background === true && rests && taken % keysPerTurn === 0) await giveWay(hardStop);
      const key = await queue.take();
      if (key === undefined) return;
      await reconcile(key, hardStop);
      // an in-process client answers without ever leaving the microtask queue: sockets and timers get their turn here
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };

  return {
    name,
    queue,
    definition,
    prepare() {
      definition.setup?.(informers);
      for (const watch of watches) watched.set(watch, informers.informer(watch.resource, watch.scope));
    },
    async run(signal, drainMs = 0) {
      const hardStop = new AbortController();
      sharedSignal(hardStop.signal);
      let cancelDrain = (): void => {};
      const onStop = (): void => {
        queue.shutDown();
        if (drainMs <= 0) hardStop.abort(signal.reason);
        else cancelDrain = clock.after(drainMs, () => hardStop.abort(signal.reason));
      };
      if (signal.aborted) onStop();
      else signal.addEventListener('abort', onStop, { once: true });
      const removers = [...watched].map(([watch, informer]) =>
        informer.addHandler({
          onAdd: (object, initial) => handle(watch, { type: 'add', object, initial }),
          onUpdate: (object, old) => handle(watch, { type: 'update', object, old }),
          onDelete: (object, finalStateUnknown) => handle(watch, { type: 'delete', object, finalStateUnknown }),
        }),
      );
      const enqueue = (key: ObjectKey, priority?: Priority): void => queue.add(formatKey(key), priority);
      const enqueuePatiently = (key: ObjectKey): void => queue.addAfter(formatKey(key), gatherMs());
      const sources = (definition.sources ?? []).map(async (source) => {
        try {
          await source.start({ enqueue, enqueuePatiently, signal });
        } catch (error) {
          if (!signal.aborted) log.error('Event source failed', { error });
        }
      });
      await Promise.all(Array.from({ length: concurrency }, () => work(hardStop.signal)));
      cancelDrain();
      hardStop.abort(signal.reason);
      for (const remove of removers) remove();
      await Promise.all([...sources, ...settling]);
    },
    enqueue: (key, priority) => queue.add(formatKey(key), priority),
  };
}
