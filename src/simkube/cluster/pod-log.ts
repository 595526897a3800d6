import type { PodLogSource } from '../../apiserver/index.ts';
import { type Clock, formatMicroTime, parseRfc3339 } from '../../machinery/index.ts';

/** Log of simulated containers: when they started, and that they are simulated. */
export function podLog(clock: Clock): PodLogSource {
  return async function* read(pod, options) {
    const status = (pod as { status?: { startTime?: string; containerStatuses?: { name: string; state?: object }[] } })
      .status;
    const container = status?.containerStatuses?.find(({ name }) => name === options.container);
    if (!container?.state || !('running' in container.state)) return;
    const startedMs = parseRfc3339(status?.startTime ?? '') ?? clock.now();
    const lines = [
      `simulated container ${options.container} of pod ${pod.metadata.namespace}/${pod.metadata.name} started`,
      'simulated container is ready',
    ];
    const sinceMs = options.sinceSeconds === undefined ? 0 : clock.now() - options.sinceSeconds * 1000;
    const kept = startedMs < sinceMs ? [] : options.tailLines === undefined ? lines : lines.slice(-options.tailLines);
    if (options.tailLines === 0) return;
    for (const line of kept) yield options.timestamps ? `${formatMicroTime(startedMs)} ${line}\n` : `${line}\n`;
    if (options.follow && !options.signal.aborted) {
      await new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve(), { once: true }));
    }
  };
}
