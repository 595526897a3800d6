import type { Random } from '../../../machinery/index.ts';
import { OpenStackError } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { authenticationFailedReason } from './conditions.ts';
import { type CloudFault, isInputFault } from './outcomes.ts';

/** What only people can change is looked at again at this pace: names may appear in the cloud, quota may be freed. */
const peopleMs = 60_000;

/** When to come back after a fault; undefined leaves it to the queue, whose pauses grow. */
export function pauseAfter(fault: CloudFault, random: Random): Result | undefined {
  if (fault.retryMs !== undefined) return after(fault.retryMs, fault.message);
  if (!isForPeople(fault)) return undefined;
  // all that wait for the same quota shall not come back at once
  return after(peopleMs * (0.75 + random.next() / 2), fault.message);
}

function isForPeople(fault: CloudFault): boolean {
  if (isInputFault(fault) || fault.reason === authenticationFailedReason) return true;
  const { cause } = fault;
  return cause instanceof OpenStackError && ['quota', 'forbidden', 'notFound'].includes(cause.kind);
}
