import type { Clock, PeerPolicy, Random } from '../../machinery/index.ts';
import { createSessionPool, type Patience, type SessionPool, type Transport } from '../../openstack/index.ts';

/**
 * A worker is never held up by one cloud: what needs a longer pause than a hiccup is left to the queue, and a busy load
 * balancer to the event that says it is free.
 */
export const controllerPatience: Patience = {
  attempts: 2,
  firstPauseMs: 200,
  longestPauseMs: 500,
  longestRetryAfterMs: 1_000,
  immutableMs: 0,
};

/** Whatever a tenant's clouds.yaml says: nobody waits longer for one answer. */
const maxTimeoutMs = 5 * 60_000;

/** Sessions with clouds as controllers keep them. */
export function controllerSessions(options: {
  clock: Clock;
  random: Random;
  /** default: HTTP over sockets */
  transport?: Transport;
  /** which clouds may be asked on the word of a tenant; default: any */
  peers?: PeerPolicy;
  /** asked before each request; throws when none may leave any more */
  permit?: () => void;
}): SessionPool {
  return createSessionPool({ ...options, patience: controllerPatience, maxTimeoutMs });
}
