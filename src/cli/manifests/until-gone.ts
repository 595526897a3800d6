import { type Clock, isNotFound, type KubeObject, sleep } from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import type { Target } from './targets.ts';

const firstPauseMs = 100;
const longestPauseMs = 2000;

/**
 * Waits until an object is deleted or replaced by another one with the same name. If the signal aborts first, resolves
 * with its last state.
 */
export async function untilGone(
  { resource, key }: Target,
  uid: string | undefined,
  { client }: Connection,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<KubeObject | undefined> {
  let last: KubeObject | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      last = await client.get(resource, key, { signal });
      if (uid !== undefined && last.metadata.uid !== uid) return undefined;
      await sleep(clock, pauseMs, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (signal.aborted) return last;
      throw error;
    }
  }
}
