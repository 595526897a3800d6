import { setTimeout as delay } from 'node:timers/promises';
import { isNotFound } from '../../../src/openstack/index.ts';

const intervalMs = 150;
const limitMs = 90_000;

/** Polls until the value satisfies the condition. A failure contains the last value. */
export async function until<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    if (performance.now() > deadline) throw new Error(`it did not come to pass; last seen: ${JSON.stringify(value)}`);
    await delay(intervalMs);
  }
}

/** Polls until the resource is gone. */
export async function untilGone(read: () => Promise<unknown>): Promise<void> {
  await until(
    async () => {
      try {
        return await read();
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    (value) => value === undefined,
  );
}
