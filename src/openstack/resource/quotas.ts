import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { numberIf } from './read.ts';

/** How much of something a project may have. */
export interface Quota {
  /** -1 means as much as there is */
  readonly limit: number;
  /** undefined when the service does not tell */
  readonly used: number | undefined;
  readonly reserved: number | undefined;
}

/** By the service's own name of the resource: `instances`, `cores`, `floatingip`, `load_balancer`, … */
export type Quotas = Readonly<Record<string, Quota>>;

/** Reads plain numbers and `{limit, in_use, reserved}` alike; the id and other texts are no quotas. */
export function parseQuotas(value: JsonObject): Quotas {
  const quotas: Record<string, Quota> = {};
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === 'number') {
      quotas[name] = { limit: item, used: undefined, reserved: undefined };
    } else if (isJsonObject(item)) {
      const limit = numberIf(item, 'limit');
      if (limit === undefined) continue;
      const used = numberIf(item, 'in_use') ?? numberIf(item, 'used');
      quotas[name] = { limit, used, reserved: numberIf(item, 'reserved') };
    }
  }
  return quotas;
}

/** How much more fits; infinite without a limit, undefined when the service does not tell how much is used. */
export function quotaLeft(quota: Quota): number | undefined {
  if (quota.limit < 0) return Number.POSITIVE_INFINITY;
  return quota.used === undefined ? undefined : Math.max(0, quota.limit - quota.used - (quota.reserved ?? 0));
}
