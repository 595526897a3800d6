import {
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { validateEnum } from '../common/validation.ts';

export interface PriorityClass extends KubeObject {
  value?: number;
  globalDefault?: boolean;
  description?: string;
  preemptionPolicy?: string;
}

const highestUserPriority = 1000000000;
const systemClasses: Readonly<Record<string, number>> = {
  'system-node-critical': 2000001000,
  'system-cluster-critical': 2000000000,
};

function validate(object: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata.name ?? '';
  const value = object.value ?? 0;
  if (name.startsWith('system-')) {
    const known = systemClasses[name];
    const problem =
      known === undefined
        ? `${name} is not a known system priority class`
        : known === value && !object.globalDefault
          ? undefined
          : known !== value
            ? `value of ${name} PriorityClass must be ${known}`
            : `globalDefault of ${name} PriorityClass must be false`;
    if (problem !== undefined) {
      const text = `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`;
      errors.push(fieldError.forbidden('metadata.name', text));
    }
  } else if (value > highestUserPriority) {
    const text = `maximum allowed value of a user defined priority is ${highestUserPriority}`;
    errors.push(fieldError.forbidden('value', text));
  }
  errors.push(...validateEnum(object.preemptionPolicy, ['PreemptLowerPriority', 'Never'], 'preemptionPolicy'));
  return errors;
}

export const priorityClassDefinition: ResourceDefinition = defineBuiltin<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  component: 'io.k8s.api.scheduling.v1.PriorityClass',
  columns: [
    nameColumn,
    column('Value', 'integer'),
    column('Global-Default', 'boolean'),
    ageColumn,
    column('PreemptionPolicy'),
  ],
  row: (object, nowMs) => [
    object.metadata.name ?? '',
    object.value ?? 0,
    object.globalDefault ?? false,
    age(object, nowMs),
    object.preemptionPolicy ?? '',
  ],
  applyDefaults(object) {
    setDefault(object, 'value', 0);
    setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority');
  },
  validateCreate: validate,
  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    if ((object.value ?? 0) !== (old.value ?? 0)) {
      errors.push(fieldError.forbidden('value', 'may not be changed in an update.'));
    }
    errors.push(...validateImmutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'));
    return errors;
  },
});

export const PriorityClasses: Resource<PriorityClass> = resourceOf<PriorityClass>(priorityClassDefinition);
