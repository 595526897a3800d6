import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type CancelTimer, type Clock, systemClock } from '../machinery/index.ts';

/** What the process did since the last look, and what it holds. */
export interface MemorySample {
  /** share of the time in which the event loop was busy, 0 to 1 */
  readonly utilization: number;
  /** size of the young generation; at rest hardly anything lives in it */
  readonly youngBytes: number;
}

const lookEveryMs = 5_000;
/** V8 shrinks its young generation only when little was allocated for a while, so one calm look is not enough. */
const calmLooks = 2;
const calmUtilization = 0.05;
/** Half of what the young generation grows to under load; less is not worth a pause. */
const worthwhileBytes = 64 * 1024 * 1024;

/** Whether a pause for a full collection would hurt nobody and give something back. `samples`: the latest last. */
export function isWorthCollecting(samples: readonly MemorySample[]): boolean {
  const latest = samples.slice(-calmLooks);
  if (latest.length < calmLooks || latest.some(({ utilization }) => utilization > calmUtilization)) return false;
  return latest.at(-1)!.youngBytes >= worthwhileBytes;
}

/**
 * Gives memory back that a burst of work left behind, once the process has come to rest. V8 does not do so by itself: it
 * collects when something is allocated, and a process at rest allocates nothing. Answers how to stop.
 */
export function giveMemoryBackAtRest(clock: Clock = systemClock): () => void {
  let samples: MemorySample[] = [];
  let before = performance.eventLoopUtilization();
  let cancel: CancelTimer = () => {};
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    samples = [...samples, { utilization, youngBytes: youngGenerationBytes() }].slice(-calmLooks);
    if (isWorthCollecting(samples)) {
      collect();
      samples = [];
      before = performance.eventLoopUtilization();
    }
    cancel = clock.after(lookEveryMs, look);
  };
  cancel = clock.after(lookEveryMs, look);
  return () => cancel();
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}

/** The first pass shrinks the young generation, the second unmaps what it held. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
}
