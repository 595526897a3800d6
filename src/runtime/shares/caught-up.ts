import type { Informer } from '../../client/index.ts';
import type { Clock, KubeObject } from '../../machinery/index.ts';

/** A cache that heard nothing for so long has nothing to hear: kinds at rest never get to a version of another kind. */
const quietMs = 1000;
/** A cache that lags must slow things down, never stop them. */
const patienceMs = 15_000;

/** Resolves when the caches show what was written up to a version: they have seen it, or nothing comes any more. */
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
