import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type CancelTimer, type Clock, must, systemClock } from '../machinery/index.ts';

/** Activity since the last sample and current memory. */
export interface MemorySample {
  /** fraction of time in which the event loop was busy, 0 to 1 */
  readonly utilization: number;
  /** what the heap occupies, garbage and empty pages included */
  readonly heapBytes: number;
}

const recheckEveryMs = 5_000;
/** V8 shrinks its young generation only after some time with few allocations, so one quiet sample is not enough. */
const enoughChecks = 2;
const calmUtilization = 0.05;
/** Less is not worth a pause. At rest, a process allocates so much in a quarter of an hour at least. */
const worthwhileBytes = 24 * 1024 * 1024;

/**
 * Some minutes after a burst of writes, the store drops its history, which then is garbage that V8 does not collect by
 * itself.
 */
const looksUntilForgotten = 6 * (60_000 / recheckEveryMs);
/** Far more than an empty installation uses. */
const largeHeapBytes = 128 * 1024 * 1024;

/**
 * Tells whether a full collection would disturb nothing and free memory. `samples`: newest last. `keptBytes`: size of the heap after the last collection.
 */
export function isWorthCollecting(samples: readonly MemorySample[], keptBytes: number): boolean {
  const latest = samples.slice(-enoughChecks);
  if (latest.length < enoughChecks || latest.some(({ utilization }) => utilization > calmUtilization)) return false;
  return must(latest.at(-1), 'the latest sample').heapBytes - keptBytes >= worthwhileBytes;
}

/**
 * Tells whether data kept for a while after the last activity is garbage now; true once per idle period. `quietChecks`:
 * number of consecutive quiet samples.
 */
export function isPastForgotten(quietChecks: number, heapBytes: number): boolean {
  return quietChecks === looksUntilForgotten && heapBytes >= largeHeapBytes;
}

/**
 * Releases memory after a burst of work, once the process is idle. V8 does not do so itself, because it collects only
 * on allocation. Returns a function that stops it.
 */
export function giveMemoryBackAtRest(clock: Clock = systemClock): () => void {
  let samples: MemorySample[] = [];
  let quietChecks = 0;
  let keptBytes = 0;
  let before = performance.eventLoopUtilization();
  let cancel: CancelTimer = () => {};
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    samples = [...samples, { utilization, heapBytes: getHeapStatistics().total_heap_size }].slice(-enoughChecks);
    quietChecks = utilization > calmUtilization ? 0 : quietChecks + 1;
    if (isWorthCollecting(samples, keptBytes) || isPastForgotten(quietChecks, getHeapStatistics().used_heap_size)) {
      collect();
      keptBytes = getHeapStatistics().total_heap_size;
      samples = [];
      before = performance.eventLoopUtilization();
    }
    cancel = clock.after(recheckEveryMs, look);
  };
  cancel = clock.after(recheckEveryMs, look);
  return () => cancel();
}

/** The first pass shrinks the young generation and compacts the rest; the second unmaps the freed pages. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // Long-lived objects were allocated among many short-lived ones, so without compaction their pages stay half empty.
  setFlagsFromString('--compact-on-every-full-gc');
  gc();
  setFlagsFromString('--no-compact-on-every-full-gc');
  gc();
}
