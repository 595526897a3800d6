import { createMetrics, type RuntimeMetrics } from '../../runtime/index.ts';

let metrics: RuntimeMetrics | undefined;

/** Nobody reads the metrics of thousands of simulated controller managers; they share one set. */
export function sharedMetrics(): RuntimeMetrics {
  metrics ??= createMetrics();
  return metrics;
}
