import { type Pod, Pods } from '../../api/index.ts';
import { type Client, formatKey, objectKey } from '../../client/index.ts';
import { type Clock, errorMessage, sleep } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';

/** Time for a scheduler to report on a Pod. */
const patienceMs = 20_000;
const looked = 50;

export interface MissingSchedulerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Warns once if Pods wait for a missing scheduler. A running scheduler reports on every Pod whether it found a node, so
 * unreported Pods mean that there is none.
 */
export async function watchForScheduler(
  { client, clock, log }: MissingSchedulerOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, patienceMs, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const { items } = await client.list(Pods, { fieldSelector: 'spec.nodeName=', limit: looked, signal });
      const waiting = items.find((pod) => isOverlooked(pod, clock.now()));
      if (!waiting) continue;
      log.warn('Pods wait for a scheduler, and none has looked at them: is kube-scheduler running?', {
        pod: formatKey(objectKey(waiting)),
        scheduler: waiting.spec.schedulerName ?? 'default-scheduler',
      });
      return;
    } catch (error) {
      if (!signal.aborted) log.debug('Pods without a node could not be listed', { error: errorMessage(error) });
    }
  }
}

function isOverlooked({ metadata, status }: Pod, now: number): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (now - Date.parse(metadata.creationTimestamp ?? '') < patienceMs) return false;
  return !status?.conditions?.some(({ type }) => type === 'PodScheduled');
}
