import { Secrets } from '../../api/index.ts';
import { type Client, dropManagedFields, type ResourceScope, scopedClient } from '../../client/index.ts';
import { partedSecrets, type UsedCredentials } from '../../controllers/index.ts';
import { CapstanError, systemClock, systemRandom } from '../../machinery/index.ts';
import { createManager, type Manager } from '../../runtime/index.ts';
import { type AddedControllersOptions, addControllers } from '../controllers.ts';
import { type ControllerLease, longerLease } from './leases.ts';

export interface RunControllersOptions {
  client: Client;
  /** client for leases only */
  leaseClient: Client;
  lease: ControllerLease;
  controllers: AddedControllersOptions;
  /** called with the active manager, again for every new one */
  onManager(manager: Manager): void;
  /** called once, when all caches have synced */
  onReady(): void;
  signal: AbortSignal;
}

/** Excludes Secret types that can be large or numerous and that no object of ours refers to. */
const secretsWorthReading: ResourceScope = {
  resource: Secrets,
  fieldSelector: ['helm.sh/release.v1', 'kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token']
    .map((type) => `type!=${type}`)
    .join(','),
};

/** Where every write is a request, status that nobody waits for is written less often. */
export const remoteApiPace = { idleRestMs: 1_000, statusDelayMs: 3_000, gatherEventsMs: 2_000 } as const;
/** Maximum factor by which repeatedly lost leases are extended. Failover takes longer with it, too. */
const longestLease = 8;
/** A lease held for this long is not extended further. */
const steadyMs = 10 * 60_000;

/** Runs the controllers and restarts them after a lost lease, waiting for it like any other instance. */
export async function runControllers(options: RunControllersOptions): Promise<void> {
  const { client, leaseClient, lease, controllers, signal } = options;
  const { log, metrics, namespace } = controllers;
  // a cluster and its credentials may be deleted while this process does not hold the lease
  const usedCredentials: UsedCredentials = new Map();
  let said = false;
  let times = 1;
  while (!signal.aborted) {
    const startedAt = systemClock.monotonic();
    const manager = createManager({
      client,
      cacheClient: scopedClient(client, [secretsWorthReading]),
      transform: dropManagedFields,
      parted: [partedSecrets],
      leaseClient,
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      ...remoteApiPace,
      ...longerLease(lease, times),
      ...(namespace !== undefined && { namespace }),
    });
    options.onManager(manager);
    const close = addControllers(manager, { ...controllers, usedCredentials });
    try {
      const running = manager.run(signal);
      await Promise.race([manager.whenReady(signal).catch(() => {}), running]);
      if (!said && !signal.aborted) options.onReady();
      said = true;
      await running;
    } catch (error) {
      if (!(error instanceof CapstanError && error.code === 'CAP_LEADERSHIP_LOST') || signal.aborted) throw error;
      const isSteady = systemClock.monotonic() - startedAt > steadyMs;
      times = isSteady ? 1 : Math.min(longestLease, times * 2);
      log.warn('Beginning again after the lease was lost', { leaseIsLongerBy: times });
    } finally {
      await close();
    }
  }
}
