import { createMetrics, type RuntimeMetrics } from '../../runtime/index.ts';

let metrics: RuntimeMetrics | undefined;

/** Nobody reads the metrics of thousands of simulated controller managers, so they share one empty set. */
export function unreadMetrics(): RuntimeMetrics {
  metrics ??= {
    ...createMetrics(),
    controller: () => ({ finished: ignore, terminalError: ignore, activeWorkers: ignore, maxConcurrent: ignore }),
    queue: () => ({ depth: ignore, add: ignore, retry: ignore, queueDuration: ignore, workDuration: ignore }),
    watchQueue: ignore,
    restClientRequest: ignore,
    leader: ignore,
  };
  return metrics;
}

function ignore(): void {}
