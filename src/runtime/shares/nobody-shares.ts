import type { Client } from '../../client/index.ts';
import { type Clock, sleep } from '../../machinery/index.ts';
import { Leases } from '../lease.ts';
import type { Logger } from '../log.ts';
import { createRepeatedFault } from '../repeated-fault.ts';
import { announcementOf, memberSelector } from './member-lease.ts';
import { Membership } from './membership.ts';

/**
 * Resolves when no process shares the work any more, or the signal aborts. An exclusive leader waits for it after
 * acquiring the lease that sharing processes check, because both modes coexist while an installation changes from one
 * to the other.
 */
export async function nobodyShares(
  options: { client: Client; clock: Clock; log: Logger; namespace: string; name: string; periodMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, log, namespace } = options;
  const membership = new Membership('');
  const fault = createRepeatedFault(log, clock, 'The leases of those who share the work could not be read');
  let said = false;
  while (!signal.aborted) {
    try {
      const { items } = await client.list(Leases, { namespace, labelSelector: memberSelector(options), signal });
      membership.observeAll(
        items.flatMap((lease) => announcementOf(lease) ?? []),
        clock.monotonic(),
      );
      membership.expire(clock.monotonic());
      const [, ...others] = membership.target();
      if (others.length === 0) return;
      if (!said) log.warn('Waiting for those who share the work to end', { members: others });
      said = true;
    } catch (error) {
      fault.seen(error, { namespace });
    }
    await sleep(clock, options.periodMs, signal).catch(() => {});
  }
}
