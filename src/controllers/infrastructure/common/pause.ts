import type { Random } from '../../../machinery/index.ts';
import { OpenStackError } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { authenticationFailedReason } from './conditions.ts';
import { type CloudFault, isInputFault } from './outcomes.ts';

/** Retry interval for faults that only users can fix: names may appear in the cloud, or quota may be freed. */
const peopleMs = 60_000;

/** Returns the retry delay after a fault; undefined leaves it to the queue's exponential back-off. */
export function pauseAfter(fault: CloudFault, random: Random): Result | undefined {
  if (fault.retryMs !== undefined) return after(fault.retryMs, fault.message);
  if (!isForPeople(fault)) return undefined;
  // jitter, so that objects waiting for the same quota do not retry together
  return after(peopleMs * (0.75 + random.next() / 2), fault.message);
}

function isForPeople(fault: CloudFault): boolean {
  if (isInputFault(fault) || fault.reason === authenticationFailedReason) return true;
  const { cause } = fault;
  return cause instanceof OpenStackError && ['quota', 'forbidden', 'notFound'].includes(cause.kind);
}
