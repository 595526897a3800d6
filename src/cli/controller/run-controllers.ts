import { Secrets } from '../../api/index.ts';
import { type Client, dropManagedFields, type ResourceScope, scopedClient } from '../../client/index.ts';
import { partedSecrets, type UsedCredentials } from '../../controllers/index.ts';
import { CapstanError, systemClock, systemRandom } from '../../machinery/index.ts';
import { createManager, type Manager } from '../../runtime/index.ts';
import { type AddedControllersOptions, addControllers } from '../controllers.ts';
import { type ControllerLease, longerLease } from './leases.ts';

export interface RunControllersOptions {
  client: Client;
  /** for leases alone */
  leaseClient: Client;
  lease: ControllerLease;
  controllers: AddedControllersOptions;
  /** told of the manager at work, again when there is another */
  onManager(manager: Manager): void;
  /** once, when all caches have synced */
  onReady(): void;
  signal: AbortSignal;
}

/** Secrets of these types can be large or many, and no object of ours names one: they are neither read nor kept. */
const secretsWorthReading: ResourceScope = {
  resource: Secrets,
  fieldSelector: ['helm.sh/release.v1', 'kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token']
    .map((type) => `type!=${type}`)
    .join(','),
};

/** On an API that is reached by requests, sums of others' changes are told once a second at most. */
const idleRestMs = 1_000;
/** A lease that is lost again and again is made longer, up to so many times. Who takes over when its holder dies waits longer, too. */
const longestLease = 8;
/** A lease that was kept for so long is as long as it should be. */
const steadyMs = 10 * 60_000;

/** Runs the controllers, again after the lease was lost: whoever lost it waits for it like everybody else. */
export async function runControllers(options: RunControllersOptions): Promise<void> {
  const { client, leaseClient, lease, controllers, signal } = options;
  const { log, metrics, namespace } = controllers;
  // a cluster may be deleted together with its credentials while the lease is lost
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
      idleRestMs,
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
