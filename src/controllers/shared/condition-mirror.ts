import {
  asTyped,
  type Condition,
  isJsonObject,
  type JsonObject,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { toStatus, type Verdict } from './conditions.ts';

const noReason = 'NoReasonReported';
const statuses = ['True', 'False', 'Unknown'];

export interface MirrorOptions {
  /** condition type at the source */
  type: string;
  /** verdict if the source lacks the condition */
  fallback: Verdict;
  /** reason for a True condition without one */
  goodReason: string;
}

/**
 * Mirrors a provider's condition under another type. Tolerates any shape: an unreadable condition is reported as such.
 */
export function mirror(source: UnstructuredObject, options: MirrorOptions): Verdict {
  const found = findCondition(source, options.type);
  if (found === undefined) return options.fallback;
  const { status, reason, message, lastTransitionTime } = found;
  if (typeof status !== 'string' || !statuses.includes(status)) {
    return {
      status: 'Unknown',
      reason: 'InvalidConditionReported',
      message: `${source.kind} ${source.metadata.name} reports condition ${options.type} with status ${JSON.stringify(status)}`,
    };
  }
  const stated = typeof reason === 'string' && reason !== '' ? reason : noReason;
  return {
    status: status as Verdict['status'],
    reason: stated === noReason && status === 'True' ? options.goodReason : stated,
    message: typeof message === 'string' ? message : '',
    ...(typeof lastTransitionTime === 'string' && { since: lastTransitionTime }),
  };
}

/** Mirrors a provider's `Ready` or `Available`; if absent, uses the contract field for the first completed step. */
export function mirrorProgress(
  source: UnstructuredObject,
  { type, done, field }: { type: 'Ready' | 'Available'; done: boolean; field: string },
): Verdict {
  const fallback: Verdict = {
    status: toStatus(done),
    reason: done ? type : `Not${type}`,
    message: done ? '' : `${source.kind} status.initialization.${field} is false`,
  };
  return mirror(source, { type, goodReason: type, fallback });
}

/** Finds a condition of any provider object; prefers v1beta2 conditions if both exist. */
export function findCondition(source: UnstructuredObject, type: string): JsonObject | undefined {
  const status = isJsonObject(source.status) ? source.status : {};
  const modern = isJsonObject(status['v1beta2']) ? status['v1beta2'] : {};
  for (const list of [modern['conditions'], status['conditions']]) {
    if (!Array.isArray(list)) continue;
    for (const entry of list) if (isJsonObject(entry) && entry['type'] === type) return entry;
  }
  return undefined;
}

/** Finds a v1beta1 condition of a provider object, such as `Ready`. */
export function findLegacyCondition(
  source: UnstructuredObject,
  type: string,
): (Condition & { severity?: string }) | undefined {
  const status = isJsonObject(source.status) ? source.status : {};
  const deprecated = isJsonObject(status['deprecated']) ? status['deprecated'] : {};
  const old = isJsonObject(deprecated['v1beta1']) ? deprecated['v1beta1'] : {};
  for (const list of [old['conditions'], status['conditions']]) {
    if (!Array.isArray(list)) continue;
    for (const entry of list) {
      if (isJsonObject(entry) && entry['type'] === type && statuses.includes(String(entry['status']))) {
        return asTyped(entry);
      }
    }
  }
  return undefined;
}
