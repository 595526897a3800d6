import { InvariantViolation } from './invariants.ts';
import type { System } from './system.ts';

/**
 * What was just learned may still have to be written down. Nova's list of changes does not tell that a server has a floating
 * address; the complete list does, every ten minutes.
 */
const settleMs = 11 * 60_000;
const watchedMs = 5 * 60_000;
/** The lists all controllers share, for every kind of thing in the cloud. */
const mostRequests = 300;

/** No change: no writes, and nothing asked of the cloud but the lists all share. */
export async function checkQuiet(system: System): Promise<void> {
  await system.pass(settleMs);
  const before = { ...system.counts };
  await system.pass(watchedMs);
  // A crash that was still to come: new controllers say everything once more.
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
