import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { clusterShares } from '../../controllers/index.ts';
import { systemRandom } from '../../machinery/index.ts';
import type { ManagerOptions } from '../../runtime/index.ts';
import { type ControllerArea, controllerAreas } from '../controller-areas.ts';
import { systemNamespace } from '../controller-identity.ts';

/**
 * Short enough for a failover within seconds, long enough for a brief pause of the API server. Standby instances have
 * synced caches, so only the lease delays them.
 */
const duration = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 1000 };

/** Scope of an instance; only instances with the same scope can replace each other. */
export interface ControllerScope {
  areas: ReadonlySet<ControllerArea>;
  watchFilter?: string;
  namespace?: string;
}

/** One lease for everything, one lease per process, or none. */
export type ControllerLease = Pick<ManagerOptions, 'leaderElection' | 'shares' | 'instance'>;

export function leaderLease(scope: ControllerScope): ControllerLease {
  const identity = `${hostname()}_${systemRandom.uuid()}`;
  const { leader, shares } = leaseNames(scope);
  return {
    instance: identity,
    leaderElection: { namespace: systemNamespace, name: leader, besideShares: shares, identity, ...duration },
  };
}

/** `identity` must be unique among concurrently running processes. */
export function sharesLease(
  identity: string,
  scope: ControllerScope,
  leaseDurationMs: number = duration.leaseDurationMs,
): ControllerLease {
  const { leader, shares } = leaseNames(scope);
  return {
    instance: identity,
    shares: {
      namespace: systemNamespace,
      name: shares,
      leaderLease: leader,
      identity,
      leaseDurationMs,
      map: clusterShares,
    },
  };
}

/**
 * Returns the same lease with longer times, for an instance that lost it because the host or the API server is
 * overloaded.
 */
export function longerLease({ leaderElection, shares, ...rest }: ControllerLease, times: number): ControllerLease {
  const { leaseDurationMs, renewDeadlineMs } = duration;
  return {
    ...rest,
    ...(leaderElection && {
      leaderElection: {
        ...leaderElection,
        leaseDurationMs: times * (leaderElection.leaseDurationMs ?? leaseDurationMs),
        renewDeadlineMs: times * (leaderElection.renewDeadlineMs ?? renewDeadlineMs),
      },
    }),
    ...(shares && { shares: { ...shares, leaseDurationMs: times * (shares.leaseDurationMs ?? leaseDurationMs) } }),
  };
}

/** Builds an identity with the host name as prefix, which is the Pod name in a Pod. */
export function hostIdentity(host: string): string {
  const readable = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 60);
  return `${readable}-${systemRandom.uuid().slice(0, 8)}`;
}

/** Tells whether an instance reconciles every object. */
export function isWhole({ areas, watchFilter, namespace }: ControllerScope): boolean {
  return areas.size === controllerAreas.length && watchFilter === undefined && namespace === undefined;
}

/** Builds lease names per scope, so that instances with another scope neither wait for these nor share with them. */
function leaseNames(scope: ControllerScope): { leader: string; shares: string } {
  const { areas, watchFilter, namespace } = scope;
  const left = controllerAreas.filter((area) => !areas.has(area));
  const text = JSON.stringify([left, watchFilter, namespace]);
  const suffix = isWhole(scope) ? '' : `-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  return { leader: `capstan-controllers${suffix}`, shares: `capstan-share${suffix}` };
}
