import {
  type Client,
  formatKey,
  type Informer,
  type InformerFactory,
  keyOf,
  type ObjectKey,
  objectKey,
  onBehalfOf,
  parseKey,
  resourceId,
  sharedSignal,
} from '../../client/index.ts';
import { CapstanError, type Clock, isConflict, type KubeObject, type Random } from '../../machinery/index.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Logger } from '../log.ts';
import type { RuntimeMetrics } from '../metrics.ts';
import type { IdleGate } from '../queue/idle-gate.ts';
import { createWorkQueue, type Priority, type WorkQueue } from '../queue/work-queue.ts';
import type { ShareGate } from '../shares/share-map.ts';
import { StatusDelays } from '../status/status-delays.ts';
import type { CacheReader, ControllerDefinition, ReconcileContext } from './definition.ts';
import { createEnding } from './ending.ts';
import { createHeldEvents } from './held-events.ts';
import { changedBesidesStatus, type ObjectEvent } from './predicates.ts';
import { type Result, TerminalError } from './result.ts';
import { type Watch, watchObjects } from './watches.ts';
import { type ShownVersion, type TrackedClient, trackWrites, waitForWrites } from './write-tracker.ts';

export interface ControllerOptions {
  client: Client;
  informers: InformerFactory;
  cache: CacheReader;
  clock: Clock;
  random: Random;
  log: Logger;
  metrics: RuntimeMetrics;
  events: EventRecorder;
  /** decides when idle work may run; without it, idle work waits only for other keys of this controller */
  idleGate?: IdleGate;
  /** minimum interval between idle reconciles of a key */
  idleRestMs?: number;
  /** longest delay of a status write that nobody waits for; default 0 */
  statusDelayMs?: number;
  /** decides which keys this process handles, if several processes share the work */
  gate?: ShareGate;
}

export interface Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly definition: ControllerDefinition;
  /** requests the needed informers; must be called before the caches start */
  prepare(): void;
  /**
   * Runs until the signal aborts and current reconciles have ended. The caches must be synced. After the abort no new
   * reconcile starts; running ones get `drainMs` before their own signal aborts.
   */
  run(signal: AbortSignal, drainMs?: number): Promise<void>;
  enqueue(key: ObjectKey, priority?: Priority): void;
  /**
   * Called when this process may own other shares. Enqueues all objects of new shares, and returns all owned shares.
   */
  sharesChanged(isNew: (share: string) => boolean): ReadonlySet<string>;
}

const defaultTimeoutMs = 5 * 60_000;
/**
 * Maximum time a key waits until the caches show its writes: normally milliseconds, longer only if a stream is lost.
 */
const ownWritesTimeoutMs = 2_000;

export function createController(definition: ControllerDefinition, options: ControllerOptions): Controller {
  const { name } = definition;
  const { clock, random, metrics, informers, gate } = options;
  const client = onBehalfOf(name, options.client);
  const concurrency = definition.concurrency ?? 1;
  const log = options.log.with({ controller: name });
  const groupOf = definition.groupOf?.bind(definition) ?? ((key: ObjectKey) => key.namespace ?? '');
  const queue = createWorkQueue({
    clock,
    random,
    metrics: metrics.queue(name),
    groupOf: (key) => groupOf(parseKey(key)),
    ...(definition.maxBackoffMs !== undefined && { maxBackoffMs: definition.maxBackoffMs }),
    ...(options.idleGate && { idleGate: options.idleGate }),
    ...(options.idleRestMs !== undefined && { idleRestMs: options.idleRestMs }),
  });
  const statusDelays = new StatusDelays(clock, options.statusDelayMs ?? 0);
  const measured = metrics.controller(name);
  measured.maxConcurrent(concurrency);
  metrics.watchQueue(name, queue);
  const usual: Priority = definition.background === true ? 'idle' : 'high';
  const held = createHeldEvents();
  const watches = definition.watches ?? [watchObjects(definition.for)];
  const watched = new Map<Watch, Informer<KubeObject>>();
  /** keys whose writes the caches do not show yet: the worker is free, the key is not */
  const settling = new Set<Promise<void>>();
  /** shares of deleted objects, until their deletion is reconciled */
  const departed = new Map<string, string>();

  let known: { all: readonly Informer<KubeObject>[]; own: readonly Informer<KubeObject>[] } = { all: [], own: [] };
  /** The informers of the reconciled kind, in every scope. */
  const ownInformers = (): readonly Informer<KubeObject>[] => {
    const all = informers.informers();
    if (known.all !== all) known = { all, own: all.filter(({ resource }) => resource === definition.for) };
    return known.own;
  };

  const shownObject = (key: ObjectKey): KubeObject | undefined => {
    for (const informer of ownInformers()) {
      const shown = informer.lister.get(key);
      if (shown) return shown;
    }
    return undefined;
  };

  /** Undefined if nothing exists for the key, or another process owns it. */
  const ourShare = (by: ShareGate, key: string): string | undefined => {
    const target = parseKey(key);
    const object = shownObject(target);
    const share = object
      ? by.shareOf(definition.for, object)
      : (departed.get(key) ?? by.shareOfMissing(definition.for, target));
    return share !== undefined && by.mayWork(share) ? share : undefined;
  };
  const isOurs = (key: string): boolean => !gate || ourShare(gate, key) !== undefined;
  const add = (key: string, priority?: Priority): void => {
    if (isOurs(key)) queue.add(key, priority);
  };

  const handle = (watch: Watch, event: ObjectEvent): void => {
    try {
      if (!watch.predicates.every((predicate) => predicate(event))) return;
      const priority = priorityOf(watch, event);
      if (gate && event.type === 'delete' && watch.resource === definition.for) {
        const share = gate.shareOf(definition.for, event.object);
        if (gate.mayWork(share)) departed.set(keyOf(event.object), share);
      }
      // Before and after a change, the keys are mostly equal. Enqueued twice, an idle worker would start between the
      // two.
      for (const key of new Set(watch.keysOf(event).map(formatKey))) {
        if (mayBeEcho(watch, event, key)) held.hold(key, event.object.metadata.resourceVersion ?? '', priority);
        else add(key, priority);
      }
    } catch (error) {
      log.error('Watch mapping failed', { resource: watch.resource.plural, name: event.object.metadata.name, error });
    }
  };

  /**
   * Reports whether the running reconcile may have caused the event itself by a write that needs no further reconcile.
   */
  const mayBeEcho = (watch: Watch, event: ObjectEvent, key: string): boolean =>
    definition.continuesAfterOwnWrite !== undefined &&
    event.type === 'update' &&
    watch.resource === definition.for &&
    queue.isBusy(key) &&
    event.missed !== true &&
    (definition.continuesAfterOwnWrite === 'everything' || !changedBesidesStatus(event));

  const priorityOf = (watch: Watch, event: ObjectEvent): Priority => {
    if (event.type === 'add') return event.initial ? 'low' : usual;
    if (event.type === 'delete') return usual;
    const { metadata: now } = event.object;
    const { metadata: old } = event.old;
    if (now.resourceVersion === old.resourceVersion) return 'low';
    return watch.patient && now.deletionTimestamp === old.deletionTimestamp ? 'idle' : usual;
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
      queue.addAfter(key, outcome.ms, outcome.patient ? 'idle' : 'high');
      return 'requeue_after';
    }
    const { error } = outcome;
    if (error instanceof TerminalError) {
      queue.forget(key);
      measured.terminalError();
      keyLog.error('Reconcile failed and is not retried until the object changes', { reason: error.reason, error });
      return 'error';
    }
    const retryInMs = Math.round(queue.addRateLimited(key));
    const fields = { error, retryInMs };
    // Not errors: a conflict with another writer, an aborted reconcile at shutdown, and a lost lease, which is reported
    // elsewhere.
    if (stopping || isConflict(error) || isLeaseNotHeld(error)) keyLog.debug('Reconcile will be repeated', fields);
    else keyLog.error('Reconcile failed', fields);
    return 'error';
  };

  const shownVersion: ShownVersion = (resource, key) =>
    resource === definition.for ? shownObject(key)?.metadata.resourceVersion : undefined;

  const reconcile = async (key: string, stop: AbortSignal): Promise<void> => {
    const share = gate && ourShare(gate, key);
    if (gate && share === undefined) {
      // Another process handles the key. If it returns to this one, its whole cluster is enqueued.
      held.release(key, () => false);
      departed.delete(key);
      queue.forget(key);
      queue.done(key);
      return;
    }
    const target = parseKey(key);
    const keyLog = log.with({
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      name: target.name,
    });
    const limit = definition.timeoutMs ?? defaultTimeoutMs;
    const ending = createEnding(stop);
    const cancelTimeout = clock.after(limit, () => {
      keyLog.warn('Reconcile takes too long and was told to stop', { limitMs: limit });
      ending.abort(new Error(`reconcile did not end within ${limit} ms`));
    });
    const ended = gate?.begin(share ?? '', (reason) => ending.abort(reason));
    const tracked = trackWrites(client, shownVersion);
    const delay = statusDelays.begin(key);
    const startedAt = clock.now();
    measured.activeWorkers(1);
    let outcome: Result | { kind: 'failed'; error: unknown };
    try {
      const context: ReconcileContext = {
        client: tracked.client,
        cache: options.cache,
        log: keyLog,
        events: options.events,
        clock,
        random,
        get signal() {
          return ending.signal();
        },
        statusMayWait: (resource, of, times) => delay.mayWait(`${resourceId(resource)} ${formatKey(of)}`, times),
      };
      outcome = await definition.reconcile(context, target);
    } catch (error) {
      outcome = { kind: 'failed', error };
    } finally {
      cancelTimeout();
      ending.release();
      measured.activeWorkers(-1);
      departed.delete(key);
      ended?.();
    }
    const tookMs = clock.now() - startedAt;
    measured.finished(finish(key, keyLog, outcome, stop.aborted), tookMs / 1000);
    const statusWaitsMs = delay.end();
    if (statusWaitsMs !== undefined) queue.addAfter(key, statusWaitsMs, 'low');
    const written = tracked.written();
    if (written.length === 0) {
      free(key, tracked);
      return;
    }
    // The key waits until the caches show its writes; the worker does not.
    const seen = waitForWrites(written, informers.informers(), { timeoutMs: ownWritesTimeoutMs, signal: stop });
    const settled = seen.then(() => {
      settling.delete(settled);
      free(key, tracked);
    });
    settling.add(settled);
  };

  /** Releases a key. It is enqueued again if others changed its object in the meantime. */
  const free = (key: string, tracked: TrackedClient): void => {
    const wanted = held.release(key, (resourceVersion) => tracked.wrote(definition.for, key, resourceVersion));
    if (wanted !== undefined) queue.add(key, wanted);
    queue.done(key);
  };

  const work = async (hardStop: AbortSignal): Promise<void> => {
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      await reconcile(key, hardStop);
      // An in-process client never leaves the microtask queue, so sockets and timers get their turn here.
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
          onUpdate: (object, old, missed = false) => handle(watch, { type: 'update', object, old, missed }),
          onDelete: (object, finalStateUnknown) => handle(watch, { type: 'delete', object, finalStateUnknown }),
        }),
      );
      const enqueue = (key: ObjectKey, priority?: Priority): void => add(formatKey(key), priority ?? usual);
      const enqueuePatiently = (key: ObjectKey): void => add(formatKey(key), 'idle');
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
    enqueue: (key, priority) => add(formatKey(key), priority),
    sharesChanged(isNew) {
      const ours = new Set<string>();
      if (!gate) return ours;
      for (const informer of ownInformers()) {
        for (const object of informer.lister.list()) {
          const share = gate.shareOf(definition.for, object);
          if (!gate.mayWork(share)) definition.released?.(objectKey(object));
          else {
            ours.add(share);
            if (isNew(share)) queue.add(keyOf(object), 'low');
          }
        }
      }
      return ours;
    },
  };
}

function isLeaseNotHeld(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'CAP_LEASE_NOT_HELD';
}
