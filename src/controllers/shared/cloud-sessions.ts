import type { Clock, PeerPolicy, Random } from '../../machinery/index.ts';
import { createSessionPool, type Patience, type SessionPool, type Transport } from '../../openstack/index.ts';

/**
 * Controllers retry only briefly, so that one cloud does not block a worker: longer outages are left to the queue, and
 * a busy load balancer to the event about its end.
 */
export const controllerPatience: Patience = {
  attempts: 2,
  firstPauseMs: 200,
  longestPauseMs: 500,
  longestRetryAfterMs: 1_000,
  immutableMs: 0,
};

/** Upper limit of the request timeout, whatever a tenant's clouds.yaml says. */
const maxTimeoutMs = 5 * 60_000;

/** Builds the session pool of controllers. */
export function controllerSessions(options: {
  clock: Clock;
  random: Random;
  /** default HTTP */
  transport?: Transport;
  /** clouds that may be contacted on behalf of tenants; default any */
  peers?: PeerPolicy;
  /** called before each request; throws to prevent it */
  permit?: () => void;
}): SessionPool {
  return createSessionPool({ ...options, patience: controllerPatience, maxTimeoutMs });
}
