import { formatDuration, isJsonObject, type JsonObject, parseDuration } from '../../machinery/index.ts';
import { type FieldMapping, field, type Mapping } from './mapping.ts';

const maxInt32 = 2 ** 31 - 1;

/** Go duration <-> whole seconds in an int32 */
export const durationSeconds: Mapping = {
  up(value) {
    const ms = typeof value === 'string' ? parseDuration(value) : undefined;
    return ms === undefined ? undefined : Math.max(-maxInt32 - 1, Math.min(Math.trunc(ms / 1000), maxInt32));
  },
  down: (value) => (typeof value === 'number' ? formatDuration(value * 1000) : undefined),
};

/** Paths of the conditions of Cluster API kinds in v1beta1 and v1beta2. */
export const conditionMappings: readonly FieldMapping[] = [
  field('conditions', 'deprecated.v1beta1.conditions'),
  field('v1beta2.conditions', 'conditions'),
];

/** Paths of the terminal failures of v1beta1. */
export const failureMappings: readonly FieldMapping[] = [
  field('failureReason', 'deprecated.v1beta1.failureReason'),
  field('failureMessage', 'deprecated.v1beta1.failureMessage'),
];

/** A Go bool without a pointer: false and absent are equal, and the hub omits false. */
export const flag: Mapping = {
  up: (value) => (value === true ? true : undefined),
  down: (value) => (value === true ? true : undefined),
};

/** `disableX` <-> `enableX` */
export const inverted: Mapping = {
  up: (value) => (typeof value === 'boolean' ? !value : undefined),
  down: (value) => (typeof value === 'boolean' ? !value : undefined),
};

/** `{b: {…}, a: {…}}` <-> `[{name: a, …}, {name: b, …}]` */
export const mapByName: Mapping = {
  up: (value) =>
    isJsonObject(value)
      ? Object.keys(value)
          .sort()
          .map((name) => ({ name, ...(isJsonObject(value[name]) ? value[name] : {}) }))
      : undefined,
  down(value) {
    if (!Array.isArray(value)) return undefined;
    const byName: JsonObject = {};
    for (const item of value) {
      if (!isJsonObject(item) || typeof item['name'] !== 'string') continue;
      const { name, ...rest } = item;
      byName[name as string] = rest;
    }
    return byName;
  },
};
