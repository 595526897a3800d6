import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type CancelTimer, type Clock, must, systemClock } from '../machinery/index.ts';

/** What the process did since the last look, and what it holds. */
export interface MemorySample {
  /** share of the time in which the event loop was busy, 0 to 1 */
  readonly utilization: number;
  /** size of the young generation; at rest hardly anything lives in it */
  readonly youngBytes: number;
}

const recheckEveryMs = 5_000;
/** V8 shrinks its young generation only when little was allocated for a while, so one calm look is not enough. */
const enoughChecks = 2;
const calmUtilization = 0.05;
/** Half of what the young generation grows to under load; less is not worth a pause. */
const worthwhileBytes = 64 * 1024 * 1024;

/** The store forgets the past of a burst of writes some minutes after it: from then on that is garbage which nobody looks for. */
const looksUntilForgotten = 6 * (60_000 / recheckEveryMs);
/** what is in use by far more than an empty installation */
const largeHeapBytes = 128 * 1024 * 1024;

/** Whether a pause for a full collection would hurt nobody and give something back. `samples`: the latest last. */
export function isWorthCollecting(samples: readonly MemorySample[]): boolean {
  const latest = samples.slice(-enoughChecks);
  if (latest.length < enoughChecks || latest.some(({ utilization }) => utilization > calmUtilization)) return false;
  return must(latest.at(-1), 'the latest sample').youngBytes >= worthwhileBytes;
}

/** Whether what was kept for a while after the last work is garbage by now; true once per rest. `calmLooks`: how many in a row. */
export function isPastForgotten(quietChecks: number, heapBytes: number): boolean {
  return quietChecks === looksUntilForgotten && heapBytes >= largeHeapBytes;
}

/**
 * Gives memory back that a burst of work left behind, once the process has come to rest. V8 does not do so by itself: it
 * collects when something is allocated, and a process at rest allocates nothing. Answers how to stop.
 */
export function giveMemoryBackAtRest(clock: Clock = systemClock): () => void {
  let samples: MemorySample[] = [];
  let quietChecks = 0;
  let before = performance.eventLoopUtilization();
  let cancel: CancelTimer = () => {};
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    samples = [...samples, { utilization, youngBytes: youngGenerationBytes() }].slice(-enoughChecks);
    quietChecks = utilization > calmUtilization ? 0 : quietChecks + 1;
    if (isWorthCollecting(samples) || isPastForgotten(quietChecks, getHeapStatistics().used_heap_size)) {
      collect();
      samples = [];
      before = performance.eventLoopUtilization();
    }
    cancel = clock.after(recheckEveryMs, look);
  };
  cancel = clock.after(recheckEveryMs, look);
  return () => cancel();
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}

/** The first pass shrinks the young generation and moves together what is left, the second unmaps what they held. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // What lives long was made among much that did not: where it stays in place, so do half-empty pages.
  setFlagsFromString('--compact-on-every-full-gc');
  gc();
  setFlagsFromString('--no-compact-on-every-full-gc');
  gc();
}
