import { isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/index.ts';
import { k0smotronSpecMapping } from '../../k0smotron/v1beta1.ts';
import { chain, field, fields, type Mapping } from '../../kind/mapping.ts';

/** v1beta1 has another name for the summary condition. */
const wholeCondition: Mapping = {
  up: (value) => renamed(value, 'ControlPlaneReady', 'Available'),
  down: (value) => renamed(value, 'Available', 'ControlPlaneReady'),
};

function renamed(conditions: JsonValue, from: string, to: string): JsonValue | undefined {
  if (!Array.isArray(conditions)) return undefined;
  return conditions.map((condition) =>
    isJsonObject(condition) && condition['type'] === from ? { ...condition, type: to } : condition,
  );
}

/** The remaining v1beta1 fields are derived from v1beta2. The fields already have their v1beta1 names at this point. */
const derived: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { ready: _, initialized, unavailableReplicas: __, ...rest } = value;
    if (initialized !== true || rest['initialization'] !== undefined) return rest;
    return { ...rest, initialization: { controlPlaneInitialized: true } };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const result: JsonObject = { ...value };
    const { initialization, conditions, replicas, readyReplicas } = value;
    if (isJsonObject(initialization)) result['initialized'] = initialization['controlPlaneInitialized'] === true;
    const whole = Array.isArray(conditions)
      ? conditions.find((condition) => isJsonObject(condition) && condition['type'] === 'ControlPlaneReady')
      : undefined;
    if (isJsonObject(whole)) result['ready'] = whole['status'] === 'True';
    if (typeof replicas === 'number') {
      const ready = typeof readyReplicas === 'number' ? readyReplicas : 0;
      result['unavailableReplicas'] = Math.max(0, replicas - ready);
    }
    return result;
  },
};

const status: Mapping = chain(
  derived,
  fields(field('updatedReplicas', 'upToDateReplicas'), field('conditions', 'conditions', wholeCondition)),
);

export const k0smotronControlPlaneV1beta1: Mapping = fields(
  field('spec', 'spec', k0smotronSpecMapping),
  field('status', 'status', status),
);

export const k0smotronControlPlaneTemplateV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', k0smotronSpecMapping))))),
);
