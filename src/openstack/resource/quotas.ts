import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { numberIf } from './read.ts';

/** Quota of one resource. */
export interface Quota {
  /** -1 for unlimited */
  readonly limit: number;
  /** undefined if the service does not report it */
  readonly used: number | undefined;
  readonly reserved: number | undefined;
}

/** By the service's own resource name: `instances`, `cores`, `floatingip`, `load_balancer`, … */
export type Quotas = Readonly<Record<string, Quota>>;

/** Parses plain numbers and `{limit, in_use, reserved}`. Ignores the id and other texts. */
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

/** Remaining quota: infinite without a limit, undefined if usage is not reported. */
export function quotaLeft(quota: Quota): number | undefined {
  if (quota.limit < 0) return Number.POSITIVE_INFINITY;
  return quota.used === undefined ? undefined : Math.max(0, quota.limit - quota.used - (quota.reserved ?? 0));
}
