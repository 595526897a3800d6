import { type Client, createInformer, type Informer, isAtLeast } from '../../client/index.ts';
import { type Clock, isConflict, isNotFound, type KubeObject, type Random, sleep } from '../../machinery/index.ts';
import { type Lease, Leases } from '../lease.ts';
import type { Logger } from '../log.ts';
import { createRepeatedFault } from '../repeated-fault.ts';
import type { Fence } from './fence.ts';
import {
  announcementOf,
  type MemberLeaseOptions,
  memberLease,
  memberLeaseName,
  memberSelector,
} from './member-lease.ts';
import { type Announcement, type Decision, isSame, Membership, type View } from './membership.ts';
import { leaderShare } from './share-map.ts';

export interface SharesOptions extends MemberLeaseOptions {
  /** used for leases only, so that they do not wait behind other requests */
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  fence: Fence;
  /** lease of an exclusive leader; nobody shares the work while it is held */
  leaderLease?: string;
  /** pause between renewals; default 1 s */
  renewPeriodMs?: number;
  /** resolves when the caches show others' writes up to this version, or after a timeout */
  caughtUp?: (resourceVersion: string) => Promise<void>;
  /** number of clusters handled here, shown on the lease */
  clusters?: () => number;
  /** called whenever the result of `mayWork` may have changed */
  onChange?: () => void;
}

/** A process among those that share the work. */
export interface Shares {
  readonly members: View;
  /** this process owns what belongs to no cluster */
  readonly isLeader: boolean;
  mayWork(share: string): boolean;
  begin(share: string, abort: (reason: Error) => void): () => void;
  /**
   * Joins, runs `work` and renews the lease meanwhile. Resolves with `stopped` after the signal aborted and `work`
   * ended, with `lost` if the lease could not be kept. In both cases the signal of `work` aborts and `work` is awaited.
   */
  run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<'stopped' | 'lost'>;
}

/** Work on a moving share is aborted after this long, because all moving shares wait for it. */
const drainMs = 5000;
/** Pause after a failed renewal. */
const retryMs = 300;
/** Time after which the lease of a dead holder is deleted. */
const forgottenMs = 60_000;
const by = { fieldManager: 'capstan-shares' };

class LeaseGoneError extends Error {}

export function createShares(options: SharesOptions): Shares {
  const { client, clock, log, fence, identity, namespace, leaseDurationMs } = options;
  const renewPeriodMs = options.renewPeriodMs ?? 1000;
  const key = { namespace, name: memberLeaseName(options) };
  const selector = { namespace, labelSelector: memberSelector(options) };
  const membership = new Membership(identity);
  const joinFault = createRepeatedFault(log, clock, 'Those who share the work could not be joined yet');
  const renewFault = createRepeatedFault(log, clock, 'The lease was not renewed at once');
  /** the decision the caches of this process are ready for */
  let settled = membership.decision;
  let settling: Decision | undefined;
  /** newest version at which a member gave up a share */
  let handedOverAt: string | undefined;
  const underWay = new Map<string, Set<(reason: Error) => void>>();
  const deadSince = new Map<string, number>();
  let own: Lease | undefined;
  let wake = (): void => {};

  const mayWork = (share: string): boolean =>
    membership.decision.allows(share) && settled.allows(share) && fence.isOpen;

  /** Work on a gained share starts when the caches show the writes of its last owner. */
  const settle = (): void => {
    const { decision } = membership;
    if (decision === settled || decision === settling) return;
    settling = decision;
    options.onChange?.();
    const version = handedOverAt;
    handedOverAt = undefined;
    const caughtUp = version === undefined ? Promise.resolve() : (options.caughtUp?.(version) ?? Promise.resolve());
    void caughtUp.then(() => {
      if (settling !== decision) return;
      settling = undefined;
      settled = decision;
      options.onChange?.();
      settle();
    });
  };

  const observe = (announcements: readonly Announcement[], { isAll }: { isAll: boolean }): void => {
    const now = clock.monotonic();
    const isNews = isAll ? membership.observeAll(announcements, now) : membership.observe(announcements, now);
    if (!isNews) return;
    for (const { id, resourceVersion } of announcements) {
      if (id !== identity && !isAtLeast(handedOverAt ?? '', resourceVersion)) handedOverAt = resourceVersion;
    }
    settle();
    wake();
  };

  /** An exclusive leader counts as a member that owns everything. */
  const readLeader = async (signal: AbortSignal): Promise<Announcement | undefined> => {
    if (options.leaderLease === undefined) return undefined;
    const lease = await client
      .get(Leases, { namespace, name: options.leaderLease }, { signal })
      .catch(whenNotFound<Lease>);
    const leader = lease && announcementOf(lease);
    return leader && { ...leader, view: [leader.id] };
  };

  const readAll = async (signal: AbortSignal): Promise<void> => {
    const { items } = await client.list(Leases, { ...selector, signal });
    const announcements = items.flatMap((lease) => announcementOf(lease) ?? []);
    const leader = await readLeader(signal);
    observe(leader ? [...announcements, leader] : announcements, { isAll: true });
    const now = clock.monotonic();
    for (const id of membership.expire(now)) {
      log.warn('A member does not renew its lease and counts as dead', { member: id });
      deadSince.set(id, now);
    }
    settle();
  };

  /** Writes the lease: a renewal, and a publication if the view changed. */
  const write = async (view: View, signal: AbortSignal): Promise<void> => {
    membership.publishing(view);
    const beganAt = clock.monotonic();
    const desired = (base: Lease | undefined): Lease =>
      memberLease(options, { base, view, clusters: options.clusters?.() ?? 0, clock });
    try {
      own = own
        ? await client.update(Leases, desired(own), { ...by, signal })
        : await client.create(Leases, desired(undefined), { ...by, signal });
    } catch (error) {
      if (isNotFound(error)) throw new LeaseGoneError('the lease of this process was taken away');
      if (isConflict(error)) own = await client.get(Leases, key, { signal }).catch(whenNotFound);
      throw error;
    }
    membership.didPublish(view);
    if (!fence.renewed(beganAt)) throw new LeaseGoneError('the lease was renewed too late');
    settle();
  };

  /**
   * Writes a view and then reads those of the others. In this order, of two concurrent publishers at least one sees the
   * other.
   */
  const publish = async (view: View, signal: AbortSignal): Promise<void> => {
    await write(view, signal);
    await readAll(signal);
    membership.didRead(view);
    settle();
  };

  const busyOf = (view: View): ((reason: Error) => void)[] =>
    [...underWay].flatMap(([share, aborts]) => (membership.gives(share, view) ? [...aborts] : []));

  /** Renews the lease, and moves to the view of the present members. */
  const step = async (signal: AbortSignal, drain: Drain): Promise<void> => {
    if (membership.msUntilOverdue(clock.monotonic()) <= 0) await readAll(signal);
    const target = membership.target();
    membership.aim(target);
    settle();
    if (isSame(target, membership.published)) {
      drain.over();
      if (membership.isConfirmed) await write(target, signal);
      else await publish(target, signal);
      return;
    }
    const busy = busyOf(target);
    drain.waitFor(busy);
    if (busy.length > 0) {
      await write(membership.published, signal);
      return;
    }
    log.info('Members have changed', { members: target });
    await publish(target, signal);
  };

  const tidy = async (signal: AbortSignal): Promise<void> => {
    for (const [id, since] of deadSince) {
      if (!mayWork(leaderShare) || clock.monotonic() - since < forgottenMs) continue;
      deadSince.delete(id);
      const name = memberLeaseName({ name: options.name, identity: id });
      await client.delete(Leases, { namespace, name }, { signal }).catch(() => {});
    }
  };

  const limited = async (timeoutMs: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const limit = new AbortController();
    const cancel = clock.after(timeoutMs, () => limit.abort(new Error(`no answer within ${timeoutMs} ms`)));
    try {
      await work(limit.signal);
    } finally {
      cancel();
    }
  };

  const join = async (signal: AbortSignal): Promise<boolean> => {
    for (;;) {
      if (signal.aborted) return false;
      try {
        await limited(leaseDurationMs, async (limit) => {
          own ??= await client.get(Leases, key, { signal: limit }).catch(whenNotFound);
          await readAll(limit);
          const view = membership.target();
          membership.aim(view);
          await publish(view, limit);
        });
        return true;
      } catch (error) {
        if (error instanceof LeaseGoneError) return false;
        joinFault.seen(error, { lease: `${namespace}/${key.name}` });
        await sleep(clock, renewPeriodMs, signal).catch(() => {});
      }
    }
  };

  /** Renews until `over`. Returns true if the lease was held throughout. */
  const keep = async (over: AbortSignal): Promise<boolean> => {
    const drain = createDrain(clock);
    let renewAt = clock.monotonic() + renewPeriodMs;
    over.addEventListener('abort', () => wake(), { once: true });
    try {
      for (;;) {
        const pauseMs = Math.min(renewAt - clock.monotonic(), membership.msUntilOverdue(clock.monotonic()));
        const woken = new AbortController();
        wake = () => woken.abort();
        const isNewView =
          !isSame(membership.target(), membership.published) && busyOf(membership.target()).length === 0;
        if (pauseMs > 0 && !isNewView && !over.aborted) await sleep(clock, pauseMs, woken.signal).catch(() => {});
        wake = () => {};
        // A process that was paused must notice it before it announces itself again.
        if (over.aborted || !fence.isOpen) return fence.isOpen;
        try {
          await limited(leaseDurationMs / 2, (limit) => step(limit, drain));
          renewFault.over();
          renewAt = clock.monotonic() + renewPeriodMs;
          await tidy(over);
        } catch (error) {
          if (error instanceof LeaseGoneError) return false;
          renewFault.seen(error, { lease: `${namespace}/${key.name}` });
          if (!fence.isOpen) return false;
          await sleep(clock, retryMs, over).catch(() => {});
          renewAt = clock.monotonic();
        }
      }
    } finally {
      drain.over();
    }
  };

  const leave = async (): Promise<void> => {
    await limited(leaseDurationMs / 2, async (signal) => {
      await write([], signal);
      await client.delete(Leases, key, { signal });
    }).catch((error: unknown) => log.debug('The lease was left to end by itself', { error }));
  };

  const watch = (): Informer<Lease> => {
    const informer = createInformer<Lease>({
      client,
      resource: Leases,
      clock,
      random: options.random,
      ...selector,
    });
    const noteLease = (lease: Lease): void => observe([announcementOf(lease) ?? []].flat(), { isAll: false });
    informer.addHandler({
      onAdd: noteLease,
      onUpdate: noteLease,
      onDelete: (lease) => {
        const id = announcementOf(lease)?.id;
        if (id !== undefined && membership.gone(id)) {
          settle();
          wake();
        }
      },
    });
    return informer;
  };

  return {
    get members() {
      return membership.published;
    },
    get isLeader() {
      return mayWork(leaderShare);
    },
    mayWork,
    begin(share, abort) {
      const known = underWay.get(share);
      if (known) known.add(abort);
      else underWay.set(share, new Set([abort]));
      return () => {
        const left = underWay.get(share);
        left?.delete(abort);
        if (left?.size !== 0) return;
        underWay.delete(share);
        wake();
      };
    },
    async run(work, signal) {
      log.info('Joining those who share the work', { identity, lease: `${namespace}/${key.name}` });
      if (!(await join(signal))) return signal.aborted ? 'stopped' : 'lost';
      const working = new AbortController();
      const onStop = (): void => working.abort(signal.reason);
      if (signal.aborted) onStop();
      else signal.addEventListener('abort', onStop, { once: true });
      const over = new AbortController();
      let failure: unknown;
      const ended = work(working.signal)
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => over.abort());
      const informer = watch();
      const watching = informer.run(over.signal);
      const isKept = await keep(over.signal);
      if (!isKept) {
        log.error('Lost the lease', { identity });
        fence.close();
        working.abort(new Error('the lease was lost'));
      }
      await ended;
      await watching;
      signal.removeEventListener('abort', onStop);
      if (isKept) await leave();
      fence.close();
      if (failure !== undefined) throw failure;
      return isKept ? 'stopped' : 'lost';
    },
  };
}

interface Drain {
  /** work that must end before a view can be published */
  waitFor(aborts: readonly ((reason: Error) => void)[]): void;
  over(): void;
}

/** Aborts long work on moving shares. */
function createDrain(clock: Clock): Drain {
  let since: number | undefined;
  return {
    waitFor(aborts) {
      if (aborts.length === 0) {
        since = undefined;
        return;
      }
      since ??= clock.monotonic();
      if (clock.monotonic() - since < drainMs) return;
      for (const abort of aborts) abort(new Error('another process continues with this cluster'));
    },
    over() {
      since = undefined;
    },
  };
}

function whenNotFound<T extends KubeObject>(error: unknown): T | undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
