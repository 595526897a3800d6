import {
  type Client,
  createInformerFactory,
  type InformerFactory,
  type InformerScope,
  type Lister,
  type PartedResource,
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
import { caughtUp } from './shares/caught-up.ts';
import { createFence } from './shares/fence.ts';
import { fencedClient } from './shares/fenced-client.ts';
import type { MemberLeaseOptions } from './shares/member-lease.ts';
import { nobodyShares } from './shares/nobody-shares.ts';
import { leaderShare, type ShareGate, type ShareMap } from './shares/share-map.ts';
import { createShares } from './shares/shares.ts';

/** A component that runs besides the controllers, such as a server or a poller. */
export interface Runnable {
  name: string;
  /** resolves when it has stopped after the abort; a rejection stops the manager */
  run(signal: AbortSignal): Promise<void>;
  /** runs without leadership; default false */
  runsWithoutLeading?: boolean;
}

export interface ManagerOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log?: Logger;
  metrics?: RuntimeMetrics;
  /** client of the caches; default: `client` */
  cacheClient?: Client;
  /** limits all caches of namespaced kinds to one namespace */
  namespace?: string;
  /** changes objects before they are cached, e.g. `dropManagedFields` */
  transform?: <T extends KubeObject>(object: T) => T;
  /** kinds of which only some objects are cached completely */
  parted?: readonly PartedResource[];
  leaderElection?: Pick<LeaderElectionOptions, 'namespace' | 'name' | 'identity'> &
    Partial<Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>> & {
      /** name of processes that may share the work; the leader waits until they stop */
      besideShares?: string;
    };
  /** instead of a single leader: each of several processes handles the clusters it owns */
  shares?: Omit<MemberLeaseOptions, 'leaseDurationMs'> & {
    leaseDurationMs?: number;
    /** lease of an exclusive leader, which must end first */
    leaderLease?: string;
    map(cache: CacheReader): ShareMap;
  };
  /** client for leases; default `client`, where they may wait behind other requests */
  leaseClient?: Client;
  /**
   * Minimum interval between idle reconciles of a key. Where every write is a request, one reconcile then covers many
   * changes. Default 0
   */
  idleRestMs?: number;
  /** longest delay of a status write that nobody waits for; default 0 */
  statusDelayMs?: number;
  /** Normal events of one object within this time are written as one; default 0 */
  gatherEventsMs?: number;
  /** maximum duration of a graceful stop; default 30 s */
  gracefulStopMs?: number;
  /** name of this instance in events */
  instance?: string;
}

export interface CheckResult {
  ok: boolean;
  /** what is wrong or still awaited, one line each */
  problems: string[];
}

/** Runs controllers with shared caches. */
export interface Manager {
  /** client for all controller writes; refuses them while a configured lease is not certain */
  readonly client: Client;
  /** called before requests to other systems on behalf of a cluster; throws while a configured lease is not certain */
  readonly permit: (() => void) | undefined;
  /** reports whether this process owns the share; always true if the work is not shared */
  isOurs(share: string): boolean;
  readonly cache: InformerFactory;
  readonly reader: CacheReader;
  readonly events: EventBroadcaster;
  readonly metrics: RuntimeMetrics;
  add(definition: ControllerDefinition): Controller;
  addRunnable(runnable: Runnable): void;
  /** runs until the signal aborts; rejects if the leader lease is lost, a runnable fails or the stop takes too long */
  run(signal: AbortSignal): Promise<void>;
  /** all caches are synced; an instance that waits for leadership is ready too */
  ready(): CheckResult;
  /** resolves when `ready` holds for the first time */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** false if a cache has been failing since its last success, or the program is stuck */
  healthy(): CheckResult;
  readonly isLeader: boolean;
}

const slowSyncMs = 30_000;
const defaultMemberLeaseMs = 4000;
/**
 * Nothing is sent in the last quarter of a lease: other processes measure from the time they saw the renewal, this one
 * from the time it sent the request.
 */
const certainPart = 0.75;

export function createManager(options: ManagerOptions): Manager {
  const { clock, random, leaderElection } = options;
  const log = options.log ?? nullLogger;
  const leaseClient = options.leaseClient ?? options.client;
  const memberLeaseMs = options.shares?.leaseDurationMs ?? defaultMemberLeaseMs;
  const certainMs = options.shares
    ? memberLeaseMs * certainPart
    : leaderElection && Math.min(leaderElection.renewDeadlineMs ?? 10_000, leaderElection.leaseDurationMs ?? 15_000);
  const fence = certainMs === undefined ? undefined : createFence(clock, certainMs);
  const client = fence ? fencedClient(options.client, fence) : options.client;
  const metrics = options.metrics ?? createMetrics();
  const gracefulStopMs = options.gracefulStopMs ?? 30_000;
  const cache = createInformerFactory({
    client: options.cacheClient ?? options.client,
    clock,
    random,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    ...(options.transform && { transform: options.transform }),
    ...(options.parted && { parted: options.parted }),
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
    ...(options.gatherEventsMs !== undefined && { gatherMs: options.gatherEventsMs }),
  });
  const reader = cacheReader(cache, options.namespace);
  const controllers: Controller[] = [];
  const idleGate = createIdleGate(clock);
  const runnables: Runnable[] = [];
  const readyWaiters = new Set<() => void>();
  let state: 'new' | 'syncing' | 'running' | 'stopping' | 'stopped' = 'new';
  let leading = false;
  /** shares owned at the last check */
  let owned = new Set<string>();

  const map = options.shares?.map(reader);
  const shares =
    options.shares && map && fence
      ? createShares({
          ...options.shares,
          leaseDurationMs: memberLeaseMs,
          client: leaseClient,
          clock,
          random,
          log,
          fence,
          caughtUp: (resourceVersion) => {
            const synced = cache.informers().filter((informer) => informer.hasSynced());
            return caughtUp(synced, resourceVersion, clock);
          },
          clusters: () => ourClusters(map),
          onChange: () => sharesChanged(),
        })
      : undefined;
  const ourClusters = ({ clusters, shareOf }: ShareMap): number => {
    const filter = (cluster: KubeObject): boolean => shares?.mayWork(shareOf(clusters, cluster)) === true;
    const informer = cache.informers().find(({ resource }) => resource === clusters);
    return informer?.lister.list({ filter }).length ?? 0;
  };
  const gate: ShareGate | undefined = shares &&
    map && { ...map, mayWork: (share) => shares.mayWork(share), begin: (share, abort) => shares.begin(share, abort) };

  const sharesChanged = (): void => {
    if (!shares) return;
    const now = new Set<string>();
    for (const controller of controllers) {
      for (const share of controller.sharesChanged((share) => !owned.has(share))) now.add(share);
    }
    const count = { gained: 0, lost: 0 };
    for (const share of now) if (!owned.has(share)) count.gained++;
    for (const share of owned) if (!shares.mayWork(share)) count.lost++;
    owned = now;
    metrics.shares({ members: shares.members.length, ...count });
    metrics.leader(leaderShare, shares.isLeader);
    if (count.gained + count.lost > 0) log.info('Shares have moved', { ...count, members: shares.members.length });
  };

  const whenStopped = async (work: Promise<unknown>, what: string): Promise<void> => {
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(gracefulStopMs, () =>
        reject(
          new CapstanError('CAP_STOP_TIMEOUT', `${what} did not stop within ${gracefulStopMs / 1000} s`, {
            hint: 'the next start continues where this one was cut off',
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

  /** Runs one half of the program: the parts that need the lease, or those that do not. */
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
    // An empty half must not end the program.
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

  const work = async (signal: AbortSignal): Promise<void> => {
    await runAll(signal, { withoutLeading: false });
    // Delivered while the lease is still held, because nothing may be written afterwards.
    if (fence?.isOpen) await whenStopped(events.flush(), 'delivery of events').catch(() => {});
  };

  const lead = async (signal: AbortSignal): Promise<void> => {
    const name = leaderElection?.besideShares;
    if (leaderElection && name !== undefined) {
      const { namespace, retryPeriodMs: periodMs = 1000 } = leaderElection;
      await nobodyShares({ client: leaseClient, clock, log, namespace, name, periodMs }, signal);
      if (signal.aborted) return;
    }
    leading = true;
    metrics.leader(leaderElection?.name ?? '', true);
    try {
      await work(signal);
    } finally {
      leading = false;
      metrics.leader(leaderElection?.name ?? '', false);
    }
  };

  const runWithShares = async (signal: AbortSignal): Promise<'stopped' | 'lost'> => {
    if (!shares) return 'stopped';
    try {
      return await shares.run(work, signal);
    } finally {
      metrics.shares({ members: 0, gained: 0, lost: owned.size });
    }
  };

  const leadWithLease = async (signal: AbortSignal): Promise<void> => {
    if (!shares && !leaderElection) return await lead(signal);
    const outcome = leaderElection
      ? await runWithLease(
          { ...leaderElection, client: leaseClient, clock, random, log, ...(fence && { fence }) },
          lead,
          signal,
        )
      : await runWithShares(signal);
    if (outcome === 'lost') {
      events.stop();
      throw new CapstanError(
        'CAP_LEADERSHIP_LOST',
        'the lease was lost; another instance may continue with the work now',
        {
          hint: 'start again; check the connection to the API server if this repeats',
        },
      );
    }
  };

  return {
    client,
    permit: fence && (() => fence.check()),
    isOurs: (share) => shares?.mayWork(share) ?? true,
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
        ...(options.idleRestMs !== undefined && { idleRestMs: options.idleRestMs }),
        ...(options.statusDelayMs !== undefined && { statusDelayMs: options.statusDelayMs }),
        ...(gate && { gate }),
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
        // A failure of the half that ends first must not become an unhandled rejection.
        work.catch(() => {});
        await aborted(stop.signal);
        state = 'stopping';
        await whenStopped(work, 'a part of the program');
        if (!fence) await whenStopped(events.flush(), 'delivery of events').catch(() => {});
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
      return leading || shares?.isLeader === true;
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
