import type { Client } from '../client/index.ts';
import {
  type Clock,
  deepEqual,
  formatMicroTime,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Random,
  sleep,
} from '../machinery/index.ts';
import { followLease } from './follow-lease.ts';
import { type Lease, type LeaseSpec, Leases } from './lease.ts';
import type { Logger } from './log.ts';
import { createRepeatedFault } from './repeated-fault.ts';
import type { Fence } from './shares/fence.ts';

export interface LeaderElectionOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  namespace: string;
  name: string;
  /** unique per process */
  identity: string;
  /** others may take over if the lease was not renewed for this long; default 15 s */
  leaseDurationMs?: number;
  /** the leader gives up if it could not renew for this long; default 10 s */
  renewDeadlineMs?: number;
  /** pause between attempts; default 2 s */
  retryPeriodMs?: number;
  onNewLeader?: (identity: string) => void;
  /** informed of every renewal, so that requests are only sent while the lease is certain */
  fence?: Fence;
}

/** client-go's jitter factor for attempts to acquire. */
const jitterFactor = 1.2;
/** minimum pause between attempts, regardless of the lease */
const minPauseMs = 100;

/**
 * Acquires the lease, runs `lead`, and renews the lease meanwhile. Resolves with `stopped` after the signal aborted and
 * `lead` ended (the lease is then released), or with `lost` if the lease could not be kept. In both cases the signal of
 * `lead` aborts and `lead` is awaited. Expiry is measured by the local clock since the last observed change, so clocks
 * need not agree.
 */
export async function runWithLease(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<'stopped' | 'lost'> {
  const { clock, random, log } = options;
  const renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
  const retryPeriodMs = options.retryPeriodMs ?? 2_000;
  const elector = createElector(options);

  log.info('Waiting for the leader lease', {
    lease: `${options.namespace}/${options.name}`,
    identity: options.identity,
  });
  const standby = followLease(options, (lease) => elector.sees(lease));
  try {
    while (!(await elector.tryAcquireOrRenew(renewDeadlineMs, signal))) {
      if (signal.aborted) return 'stopped';
      do {
        // A lease that is not renewed is acquired the moment it expires. Where its changes are seen, nobody has to ask before.
        const isWatched = standby.isLive() && elector.isTaken();
        const pauseMs = isWatched ? Number.POSITIVE_INFINITY : retryPeriodMs * (1 + random.next() * jitterFactor);
        await standby.untilChanged(Math.max(minPauseMs, Math.min(pauseMs, elector.expiresInMs())), signal);
      } while (standby.isLive() && elector.isTaken() && !signal.aborted);
    }
  } finally {
    await standby.close();
  }
  log.info('Became leader', { identity: options.identity });

  const leading = new AbortController();
  const onStop = (): void => leading.abort(signal.reason);
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });
  // ends the pause between renewals when the work has ended
  const over = new AbortController();
  let failure: unknown;
  const work = lead(leading.signal)
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => over.abort());

  let outcome: 'stopped' | 'lost' = 'stopped';
  while (!over.signal.aborted) {
    await sleep(clock, retryPeriodMs, over.signal).catch(() => {});
    if (over.signal.aborted) break;
    // After a stop the work may still be ending, so the lease is kept until then.
    if (await renewWithin(renewDeadlineMs)) continue;
    outcome = 'lost';
    log.error('Lost the leader lease', { identity: options.identity });
    options.fence?.close();
    leading.abort(new Error('the leader lease was lost'));
    break;
  }
  await work;
  signal.removeEventListener('abort', onStop);
  options.fence?.close();
  if (outcome === 'stopped') await elector.release(renewDeadlineMs);
  if (failure !== undefined) throw failure;
  return outcome;

  async function renewWithin(deadlineMs: number): Promise<boolean> {
    const deadline = clock.monotonic() + deadlineMs;
    for (;;) {
      if (await elector.tryAcquireOrRenew(Math.max(1, deadline - clock.monotonic()))) return true;
      if (clock.monotonic() + retryPeriodMs > deadline || over.signal.aborted) return over.signal.aborted;
      await sleep(clock, retryPeriodMs, over.signal).catch(() => {});
    }
  }
}

interface Elector {
  /** notes what somebody wrote */
  sees(lease: Lease | undefined): void;
  /** tells whether somebody holds a lease that has not expired */
  isTaken(): boolean;
  /** time until the lease of the last observed holder expires; infinite without a holder */
  expiresInMs(): number;
  tryAcquireOrRenew(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  release(timeoutMs: number): Promise<void>;
}

function createElector(options: LeaderElectionOptions): Elector {
  const { client, clock, identity, namespace, name, log } = options;
  const leaseDurationMs = options.leaseDurationMs ?? 15_000;
  const writeOptions = { fieldManager: 'capstan-leader-election' };
  const fault = createRepeatedFault(log, clock, 'The leader lease could not be taken');
  let observed: Lease | undefined;
  let observedAt = 0;
  let reportedLeader: string | undefined;

  const observe = (lease: Lease): void => {
    if (!deepEqual(observed?.spec, lease.spec)) observedAt = clock.monotonic();
    observed = lease;
  };
  const reportLeader = (): void => {
    const holder = observed?.spec?.holderIdentity ?? '';
    if (holder === reportedLeader) return;
    reportedLeader = holder;
    if (holder !== '') options.onNewLeader?.(holder);
  };
  const isHolder = (): boolean => observed?.spec?.holderIdentity === identity;
  const isValid = (now: number): boolean => observedAt + (observed?.spec?.leaseDurationSeconds ?? 0) * 1000 > now;

  const desired = (): LeaseSpec => ({
    holderIdentity: identity,
    leaseDurationSeconds: Math.round(leaseDurationMs / 1000),
    acquireTime: formatMicroTime(clock.now()),
    renewTime: formatMicroTime(clock.now()),
    leaseTransitions: 0,
  });

  const update = async (base: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<void> => {
    observe(await client.update(Leases, { ...base, spec: { ...base.spec, ...spec } }, { ...writeOptions, signal }));
  };

  const attempt = async (signal: AbortSignal): Promise<boolean> => {
    const spec = desired();
    // The holder first assumes that nobody changed the lease, which takes one request instead of two.
    if (observed && isHolder() && isValid(clock.monotonic())) {
      try {
        await update(observed, { ...spec, ...keptBy(observed) }, signal);
        return true;
      } catch (error) {
        log.debug('Lease was not renewed at once', { error });
      }
    }
    let current: Lease;
    try {
      current = await client.get(Leases, { namespace, name }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace, name },
        spec,
      };
      observe(await client.create(Leases, lease, { ...writeOptions, signal }));
      return true;
    }
    observe(current);
    const holder = current.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== identity && isValid(clock.monotonic())) return false;
    const transitions = current.spec?.leaseTransitions ?? 0;
    await update(
      current,
      holder === identity ? { ...spec, ...keptBy(current) } : { ...spec, leaseTransitions: transitions + 1 },
      signal,
    );
    return true;
  };

  const bounded = async (
    timeoutMs: number,
    outer: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> => {
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(outer?.reason);
    outer?.addEventListener('abort', onAbort, { once: true });
    const cancel = clock.after(timeoutMs, () => controller.abort(new Error(`no answer within ${timeoutMs} ms`)));
    const beganAt = clock.monotonic();
    try {
      const isHeld = await work(controller.signal);
      fault.over();
      if (!isHeld) return false;
      return options.fence?.renewed(beganAt) ?? true;
    } catch (error) {
      if (outer?.aborted) return false;
      // another instance was faster
      if (isConflict(error) || isAlreadyExists(error)) log.debug('Another instance wrote the lease', { error });
      else fault.seen(error, { lease: `${namespace}/${name}` });
      return false;
    } finally {
      cancel();
      outer?.removeEventListener('abort', onAbort);
      reportLeader();
    }
  };

  return {
    sees(lease) {
      if (lease) observe(lease);
      else observed = undefined;
      reportLeader();
    },
    isTaken: () => (observed?.spec?.holderIdentity ?? '') !== '' && isValid(clock.monotonic()),
    expiresInMs() {
      if ((observed?.spec?.holderIdentity ?? '') === '') return Number.POSITIVE_INFINITY;
      return observedAt + (observed?.spec?.leaseDurationSeconds ?? 0) * 1000 - clock.monotonic();
    },
    tryAcquireOrRenew: (timeoutMs, signal) => bounded(timeoutMs, signal, attempt),
    async release(timeoutMs) {
      await bounded(timeoutMs, undefined, async (signal) => {
        const current = await client.get(Leases, { namespace, name }, { signal });
        if (current.spec?.holderIdentity !== identity) return false;
        const now = formatMicroTime(clock.now());
        // A released lease has no holder and a duration of one second, so that the next holder need not wait.
        await update(
          current,
          { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now },
          signal,
        );
        return true;
      });
    },
  };
}

/** Fields that a renewal keeps. */
function keptBy(lease: Lease): LeaseSpec {
  const { acquireTime, leaseTransitions = 0 } = lease.spec ?? {};
  return { ...(acquireTime !== undefined && { acquireTime }), leaseTransitions };
}
