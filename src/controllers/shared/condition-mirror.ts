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
  /** type of the condition at the source */
  type: string;
  /** said when the source has no such condition */
  fallback: Verdict;
  /** replaces a missing reason of a condition that is True */
  goodReason: string;
}

/**
 * A provider's own condition, told under our name. Whatever shape the provider's conditions have, something is said:
 * a condition that cannot be read is reported as such.
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

/** A provider's `Ready` or `Available`; where it has none, the field by which it reports that a first step is done stands in. */
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

/** A condition of any provider object: new-style ones are preferred where both kinds are kept. */
export function findCondition(source: UnstructuredObject, type: string): JsonObject | undefined {
  const status = isJsonObject(source.status) ? source.status : {};
  const modern = isJsonObject(status['v1beta2']) ? status['v1beta2'] : {};
  for (const list of [modern['conditions'], status['conditions']]) {
    if (!Array.isArray(list)) continue;
    for (const entry of list) if (isJsonObject(entry) && entry['type'] === type) return entry;
  }
  return undefined;
}

/** The legacy `Ready` (or other) condition of a provider object, where it still keeps one. */
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
