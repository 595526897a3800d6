import { setTimeout as delay } from 'node:timers/promises';

/** Polling interval. Each check is a process or a request, so it is a compromise between delay and load. */
const intervalMs = 250;

/** Repeats a check of another process's state until it succeeds. Reports the last failure. */
export async function eventually(check: () => Promise<void>, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(intervalMs);
  }
}
