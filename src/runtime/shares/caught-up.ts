import type { Informer } from '../../client/index.ts';
import type { Clock, KubeObject } from '../../machinery/index.ts';

/**
 * After this long without events a cache counts as caught up, because a quiet kind never reaches the version of another
 * kind.
 */
const quietMs = 1000;
/** A slow cache may delay work, but must never block it. */
const patienceMs = 15_000;

/** Resolves when the caches show all writes up to a version: they have reached it, or receive no more events. */
export async function caughtUp(
  informers: readonly Informer<KubeObject>[],
  resourceVersion: string,
  clock: Clock,
): Promise<void> {
  const deadline = clock.monotonic() + patienceMs;
  const one = async (informer: Informer<KubeObject>): Promise<void> => {
    while (clock.monotonic() < deadline) {
      const before = informer.resourceVersion();
      if (await informer.waitForResourceVersion(resourceVersion, { timeoutMs: quietMs })) return;
      if (informer.resourceVersion() === before && informer.lastError() === undefined) return;
    }
  };
  await Promise.all(informers.flatMap((informer) => informer.parts ?? [informer]).map(one));
}
