import {
  type Client,
  createInformerFactory,
  type InformerFactory,
  type InformerScope,
  type Lister,
  resourceId,
  sharedSignal,
} from '../client/index.ts';
import {
  CapstanError,
  type Clock,
  errorMessage,
  type KubeObject,
  type Random,
  type Resource,
} from '../machinery/index.ts';
import { type Controller, createController } from './controller/controller.ts';
import type { CacheReader, ControllerDefinition } from './controller/definition.ts';
import { createEventBroadcaster, type EventBroadcaster } from './events/recorder.ts';
import { type LeaderElectionOptions, runWithLease } from './leader-election.ts';
import { type Logger, nullLogger } from './log.ts';
import { createMetrics, type RuntimeMetrics } from './metrics.ts';
import { createIdleGate } from './queue/idle-gate.ts';

/** Something that runs beside the controllers: a server, a poller. */
export interface Runnable {
  name: string;
  /** resolves when it has stopped after the abort; a rejection stops the manager */
  run(signal: AbortSignal): Promise<void>;
  /** runs also on instances that do not lead; default false */
  runsWithoutLeading?: boolean;
}

export interface ManagerOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log?: Logger;
  metrics?: RuntimeMetrics;
  /** what caches are filled through; default: `client` */
  cacheClient?: Client;
  /** limits all caches of namespaced kinds to one namespace */
  namespace?: string;
  /** changes what is cached, e.g. `dropManagedFields` */
  transform?: <T extends KubeObject>(object: T) => T;
  leaderElection?: Pick<LeaderElectionOptions, 'namespace' | 'name' | 'identity'> &
    Partial<Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>>;
  /** how long a stop may take; default 30 s */
  gracefulStopMs?: number;
  /** name of this instance in events */
  instance?: string;
}

export interface CheckResult {
  ok: boolean;
  /** what is wrong or still awaited, one line each */
  problems: string[];
}

/** Runs controllers over shared caches. */
export interface Manager {
  readonly cache: InformerFactory;
  readonly reader: CacheReader;
  readonly events: EventBroadcaster;
  readonly metrics: RuntimeMetrics;
  add(definition: ControllerDefinition): Controller;
  addRunnable(runnable: Runnable): void;
  /** runs until the signal aborts; rejects when the leader lease is lost, a runnable fails or the stop takes too long */
  run(signal: AbortSignal): Promise<void>;
  /** all caches have synced; an instance that waits to lead is ready too */
  ready(): CheckResult;
  /** resolves when `ready` holds for the first time */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** false when a cache has been failing since its last good moment or the program is stuck */
  healthy(): CheckResult;
  readonly isLeader: boolean;
}

const slowSyncMs = 30_000;

export function createManager(options: ManagerOptions): Manager {
  const { client, clock, random } = options;
  const log = options.log ?? nullLogger;
  const metrics = options.metrics ?? createMetrics();
  const gracefulStopMs = options.gracefulStopMs ?? 30_000;
  const cache = createInformerFactory({
    client: options.cacheClient ?? client,
    clock,
    random,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    ...(options.transform && { transform: options.transform }),
    onError: (error, resource, during) =>
      log.warn(during === 'handler' ? 'Event handler failed' : 'Cache lost its stream and tries again', {
        resource: resourceId(resource),
        during,
        error,
      }),
  });
  const events = createEventBroadcaster({
    client,
    clock,
    random,
    log,
    ...(options.instance !== undefined && { instance: options.instance }),
  });
  const reader = cacheReader(cache, options.namespace);
  const controllers: Controller[] = [];
  const idleGate = createIdleGate(clock);
  const runnables: Runnable[] = [];
  const readyWaiters = new Set<() => void>();
  let state: 'new' | 'syncing' | 'running' | 'stopping' | 'stopped' = 'new';
  let leading = false;

  const whenStopped = async (work: Promise<unknown>, what: string): Promise<void> => {
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(gracefulStopMs, () =>
        reject(
          new CapstanError('CAP_STOP_TIMEOUT', `${what} did not stop within ${gracefulStopMs / 1000} s`, {
            hint: 'the next start goes on where this one was cut off',
          }),
        ),
      );
    });
    try {
      await Promise.race([work, late]);
    } finally {
      cancel();
    }
  };

  /** Runs one half of the program: what needs the lease, or what does not. */
  const runAll = async (signal: AbortSignal, { withoutLeading }: { withoutLeading: boolean }): Promise<void> => {
    const failed = new AbortController();
    const all = sharedSignal(AbortSignal.any([signal, failed.signal]));
    let failure: unknown;
    const guard = (name: string, work: Promise<void>): Promise<void> =>
      work.catch((error: unknown) => {
        if (all.aborted) return;
        log.error('A part of the program failed', { part: name, error });
        failure ??= error;
        failed.abort();
      });
    const parts = [
      ...controllers
        .filter(({ definition }) => (definition.runsWithoutLeading ?? false) === withoutLeading)
        .map((controller) => guard(controller.name, controller.run(all, gracefulStopMs / 2))),
      ...runnables
        .filter((runnable) => (runnable.runsWithoutLeading ?? false) === withoutLeading)
        .map((runnable) => guard(runnable.name, runnable.run(all))),
    ];
    await Promise.all(parts);
    if (failure !== undefined) throw failure;
    // nothing to run is not a reason to stop
    if (parts.length === 0) await aborted(all);
  };

  const syncCaches = async (signal: AbortSignal): Promise<void> => {
    let cancel = (): void => {};
    const remind = (): void => {
      log.warn('Caches are still syncing', { waitingFor: problemsOfSync() });
      cancel = clock.after(slowSyncMs, remind);
    };
    cancel = clock.after(slowSyncMs, remind);
    try {
      await cache.waitForSync(signal);
    } finally {
      cancel();
    }
  };

  const problemsOfSync = (): string[] =>
    cache
      .informers()
      .filter((informer) => !informer.hasSynced())
      .map((informer) => {
        const error = informer.lastError();
        return `cache of ${resourceId(informer.resource)} has not synced${error === undefined ? '' : `: ${errorMessage(error)}`}`;
      });

  const ready = (): CheckResult => {
    const problems = state === 'running' ? problemsOfSync() : [`the manager is ${state}`];
    return { ok: problems.length === 0, problems };
  };

  const lead = async (signal: AbortSignal): Promise<void> => {
    leading = true;
    metrics.leader(options.leaderElection?.name ?? '', true);
    try {
      await runAll(signal, { withoutLeading: false });
    } finally {
      leading = false;
      metrics.leader(options.leaderElection?.name ?? '', false);
    }
  };

  const leadWithLease = async (signal: AbortSignal): Promise<void> => {
    if (!options.leaderElection) return await lead(signal);
    const outcome = await runWithLease({ ...options.leaderElection, client, clock, random, log }, lead, signal);
    if (outcome === 'lost') {
      throw new CapstanError('CAP_LEADERSHIP_LOST', 'the leader lease was lost; another instance may lead now', {
        hint: 'start again; check the connection to the API server if this repeats',
      });
    }
  };

  return {
    cache,
    reader,
    events,
    metrics,
    add(definition) {
      if (state !== 'new') throw new TypeError('controllers are added before the manager runs');
      if (controllers.some(({ name }) => name === definition.name)) {
        throw new TypeError(`there are two controllers named ${definition.name}`);
      }
      const controller = createController(definition, {
        client,
        informers: cache,
        cache: reader,
        clock,
        random,
        log,
        metrics,
        events: events.recorder(definition.name),
        idleGate,
      });
      controllers.push(controller);
      return controller;
    },
    addRunnable(runnable) {
      if (state !== 'new') throw new TypeError('runnables are added before the manager runs');
      runnables.push(runnable);
    },
    async run(signal) {
      if (state !== 'new') throw new TypeError('a manager runs once');
      state = 'syncing';
      const stop = new AbortController();
      sharedSignal(stop.signal);
      const onStop = (): void => stop.abort(signal.reason);
      if (signal.aborted) onStop();
      else signal.addEventListener('abort', onStop, { once: true });
      const stopCaches = new AbortController();
      let caches: Promise<void> = Promise.resolve();
      try {
        for (const controller of controllers) controller.prepare();
        caches = cache.run(stopCaches.signal);
        try {
          await syncCaches(stop.signal);
        } catch (error) {
          if (stop.signal.aborted) return;
          throw error;
        }
        state = 'running';
        log.info('Caches have synced', { count: cache.informers().length });
        for (const resolve of readyWaiters) resolve();
        readyWaiters.clear();

        const halves = [runAll(stop.signal, { withoutLeading: true }), leadWithLease(stop.signal)];
        const work = Promise.all(halves.map((half) => half.finally(() => stop.abort())));
        // what a half that ends first leaves behind must not become an unhandled rejection
        work.catch(() => {});
        await aborted(stop.signal);
        state = 'stopping';
        await whenStopped(work, 'a part of the program');
        await whenStopped(events.flush(), 'delivery of events').catch(() => {});
      } finally {
        state = 'stopped';
        signal.removeEventListener('abort', onStop);
        stop.abort();
        events.stop();
        idleGate.close();
        stopCaches.abort();
        await caches;
      }
    },
    ready,
    whenReady: (signal) =>
      new Promise((resolve, reject) => {
        if (ready().ok) return resolve();
        if (signal?.aborted) return reject(signal.reason);
        readyWaiters.add(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    healthy() {
      const problems: string[] = [];
      if (state === 'stopped') problems.push('the manager has stopped');
      for (const controller of controllers) {
        const { longestSeconds } = controller.queue.running();
        const limitSeconds = (controller.definition.timeoutMs ?? 300_000) / 1000;
        if (longestSeconds > 2 * limitSeconds) {
          problems.push(`controller ${controller.name} has a reconcile running for ${Math.round(longestSeconds)} s`);
        }
      }
      return { ok: problems.length === 0, problems };
    },
    get isLeader() {
      return leading;
    },
  };
}

function cacheReader(cache: InformerFactory, defaultNamespace: string | undefined): CacheReader {
  return {
    lister<T extends KubeObject>(resource: Resource<T>, scope: InformerScope = {}): Lister<T> {
      const id = resourceId(resource);
      const namespace = resource.namespaced ? (scope.namespace ?? defaultNamespace) : undefined;
      for (const informer of cache.informers()) {
        if (
          resourceId(informer.resource) === id &&
          informer.namespace === namespace &&
          informer.labelSelector === scope.labelSelector &&
          informer.fieldSelector === scope.fieldSelector
        ) {
          return informer.lister as Lister<T>;
        }
      }
      throw new TypeError(`no controller watches or reads ${id}: ask for its informer in setup()`);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
