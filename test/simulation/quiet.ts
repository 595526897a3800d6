import { InvariantViolation } from './invariants.ts';
import type { System } from './system.ts';

/**
 * Recent observations may still cause writes. Nova's `changes-since` misses associations of floating IPs, but the full
 * list every ten minutes has them.
 */
const settleMs = 11 * 60_000;
const watchedMs = 5 * 60_000;
/** Limit for the shared lists of all resource types. */
const mostRequests = 300;

/** Checks that without changes there are no writes, and no cloud requests except the shared lists. */
export async function checkQuiet(system: System): Promise<void> {
  await system.pass(settleMs);
  const before = { ...system.counts };
  await system.pass(watchedMs);
  // A pending crash occurred: the new controllers read and report everything again.
  if (system.counts.lives > before.lives) return checkQuiet(system);
  const grown = (what: 'writes' | 'mutations' | 'requests'): number => system.counts[what] - before[what];
  const complain = (what: string): never => {
    throw new InvariantViolation('steady state is quiet', `${what} in five minutes`);
  };
  const writes = grown('writes');
  if (writes > 0) {
    const last = system.recentWrites.slice(-writes).map((write) => JSON.stringify(write));
    complain(`${writes} writes (${last.join('; ')})`);
  }
  if (grown('mutations') > 0) complain(`${grown('mutations')} changes in the cloud`);
  if (grown('requests') > mostRequests) complain(`${grown('requests')} requests`);
}
