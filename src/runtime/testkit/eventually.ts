import type { Client, ObjectKey } from '../../client/index.ts';
import { isNotFound, type KubeObject, type ManualClock, type Resource } from '../../machinery/index.ts';
import type { LogEntry } from '../log.ts';

/** Runs all pending work for several rounds without advancing the clock. */
export async function settle(rounds = 10): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/**
 * Advances a manual clock from timer to timer until `condition` holds. Fails if no timer is left, or after `limitMs` of
 * simulated time. The error shows the newest warnings and errors among `entries`.
 */
export async function runUntil(
  clock: ManualClock,
  condition: () => boolean | Promise<boolean>,
  options: { limitMs?: number; entries?: readonly LogEntry[] } = {},
): Promise<void> {
  const limit = clock.now() + (options.limitMs ?? 3_600_000);
  for (;;) {
    await settle();
    if (await condition()) return;
    const next = clock.untilNext();
    const why =
      next === undefined ? 'nothing is left to wait for' : clock.now() + next > limit ? 'time is up' : undefined;
    if (next === undefined || why !== undefined) {
      const problems = (options.entries ?? []).filter(({ level }) => level === 'error' || level === 'warn').slice(-5);
      throw new Error(
        [`the condition never held: ${why}`, ...problems.map((entry) => JSON.stringify(entry))].join('\n'),
      );
    }
    await clock.advance(next);
  }
}

/**
 * Watches an object and resolves with it (undefined once it is deleted) when `condition` holds. Rejects when the signal
 * aborts; the message contains the last state.
 */
export async function eventually<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
  condition: (object: T | undefined) => boolean,
  options: { signal?: AbortSignal } = {},
): Promise<T | undefined> {
  const { signal } = options;
  let last: T | undefined;
  for (;;) {
    last = await client.get(resource, key).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });
    if (condition(last)) return last;
    const events = client.watch(resource, {
      ...(key.namespace !== undefined && { namespace: key.namespace }),
      fieldSelector: `metadata.name=${key.name}`,
      ...(last?.metadata.resourceVersion !== undefined && { resourceVersion: last.metadata.resourceVersion }),
      ...(signal && { signal }),
    });
    for await (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      last = event.type === 'DELETED' ? undefined : event.object;
      if (condition(last)) return last;
    }
    if (signal?.aborted) {
      throw new Error(`${resource.kind} ${key.name} never got there; last seen: ${JSON.stringify(last)}`);
    }
  }
}
