import type { Random } from '../../../machinery/index.ts';
import { OpenStackError } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { authenticationFailedReason } from './conditions.ts';
import { isInputFault, type Trouble } from './outcomes.ts';

/** What only people can change is looked at again at this pace: names may appear in the cloud, quota may be freed. */
const peopleMs = 60_000;

/** When to come back after trouble; undefined leaves it to the queue, whose pauses grow. */
export function pauseAfter(trouble: Trouble, random: Random): Result | undefined {
  if (trouble.retryMs !== undefined) return after(trouble.retryMs, trouble.message);
  if (!isForPeople(trouble)) return undefined;
  // all that wait for the same quota shall not come back at once
  return after(peopleMs * (0.75 + random.next() / 2), trouble.message);
}

function isForPeople(trouble: Trouble): boolean {
  if (isInputFault(trouble) || trouble.reason === authenticationFailedReason) return true;
  const { cause } = trouble;
  return cause instanceof OpenStackError && ['quota', 'forbidden', 'notFound'].includes(cause.kind);
}
