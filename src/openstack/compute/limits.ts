import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { objectIf } from '../resource/read.ts';

/** Limits and usage of the project by nova's names: `maxTotalCores`, `totalCoresUsed`, … */
export type ComputeLimits = Readonly<Record<string, number>>;

export async function computeLimits(service: ServiceClient, options: CallOptions = {}): Promise<ComputeLimits> {
  const answer = await service.request({ method: 'GET', path: '/limits', ...options });
  const absolute = answer.one('limits', (limits) => objectIf(limits, 'absolute') ?? {});
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(absolute)) if (typeof value === 'number') numbers[name] = value;
  return numbers;
}
