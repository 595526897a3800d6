import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { clusterShares } from '../../controllers/index.ts';
import { systemRandom } from '../../machinery/index.ts';
import type { ManagerOptions } from '../../runtime/index.ts';
import { type ControllerArea, controllerAreas } from '../controller-areas.ts';
import { systemNamespace } from '../controller-identity.ts';

/**
 * Short enough that work goes on within seconds after a leader died, long enough that an API server may take a breath.
 * Waiting instances have their caches filled, so that the lease is all they wait for.
 */
const duration = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 1000 };

/** What an instance looks after: only instances that look after the same can stand in for each other. */
export interface ControllerScope {
  areas: ReadonlySet<ControllerArea>;
  watchFilter?: string;
  namespace?: string;
}

/** One lease for everything, or one of each process; or none, for who works without asking. */
export type ControllerLease = Pick<ManagerOptions, 'leaderElection' | 'shares' | 'instance'>;

export function leaderLease(scope: ControllerScope): ControllerLease {
  const identity = `${hostname()}_${systemRandom.uuid()}`;
  const { leader, shares } = leaseNames(scope);
  return {
    instance: identity,
    leaderElection: { namespace: systemNamespace, name: leader, besideShares: shares, identity, ...duration },
  };
}

/** `identity` must be another for each process that may live at the same time. */
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

/** The same lease, but longer: for who could not keep it, because the computer or the API server has too much to do. */
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

/** An identity that begins with the name of the host, which in a Pod is that of the Pod. */
export function hostIdentity(host: string): string {
  const readable = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 60);
  return `${readable}-${systemRandom.uuid().slice(0, 8)}`;
}

/** Instances that look after something else have leases of other names: they neither wait for these nor share with them. */
function leaseNames({ areas, watchFilter, namespace }: ControllerScope): { leader: string; shares: string } {
  const left = controllerAreas.filter((area) => !areas.has(area));
  const isUsual = left.length === 0 && watchFilter === undefined && namespace === undefined;
  const text = JSON.stringify([left, watchFilter, namespace]);
  const suffix = isUsual ? '' : `-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
  return { leader: `capstan-controllers${suffix}`, shares: `capstan-share${suffix}` };
}
