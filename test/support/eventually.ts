import { setTimeout as delay } from 'node:timers/promises';

/** Every check is a process or a request: often enough to be quick, seldom enough to leave the machine to the others. */
const intervalMs = 250;

/** Repeats a check of another process's state until it passes; its last failure is the one reported. */
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
