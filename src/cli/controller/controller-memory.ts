import { setFlagsFromString } from 'node:v8';
import { giveMemoryBackAtRest } from '../idle-memory.ts';

/**
 * Node options of a process that only runs controllers. What lives for one reconcile fits into a small young generation; the large one of an API
 * in the same process would only be resident.
 */
export const controllerNodeOptions = ['--max-semi-space-size=16', '--v8-pool-size=0'] as const;

/**
 * Environment of such a process. By default, the C library keeps a heap per thread, and after the first large buffer was freed it takes the next ones from
 * there, too: buffers of long lists then stay resident. Mapped separately, they are returned.
 */
export const controllerEnvironment: Readonly<Record<string, string>> = {
  NODE_OPTIONS: controllerNodeOptions.join(' '),
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/**
 * Between two collections, V8 lets the heap of a computer with much memory grow fourfold. Controllers keep most of what they read, so little of
 * that is reused: half as much again saves memory and costs little time.
 */
const growthPercent = 50;

/**
 * Keeps the memory of this process close to what its caches need. Returns a function that stops it. Only for a process that does nothing else: controllers
 * that run as a simulated program share one with an API.
 */
export function keepMemorySmall(): () => void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  return giveMemoryBackAtRest();
}
