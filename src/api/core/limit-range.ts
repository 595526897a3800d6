import {
  compareQuantities,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { addMissing, canonicalizeResources, setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { createdAtColumns, createdAtRow } from '../common/printing.ts';
import { validateRequiredText, validateResourceName } from '../common/validation.ts';

export interface LimitRangeItem {
  type: string;
  max?: Record<string, string>;
  min?: Record<string, string>;
  default?: Record<string, string>;
  defaultRequest?: Record<string, string>;
  maxLimitRequestRatio?: Record<string, string>;
}

export interface LimitRange extends KubeObject {
  spec?: { limits?: LimitRangeItem[] };
}

const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** Limits default to the maximum. Requests default to the default limit, otherwise to the minimum. */
function applyDefaults(object: LimitRange): void {
  setDefault(setDefault(object, 'spec', {}), 'limits', []);
  for (const item of object.spec?.limits ?? []) {
    for (const list of lists) canonicalizeResources(item[list]);
    if (item.type !== 'Container') continue;
    item.default ??= {};
    item.defaultRequest ??= {};
    addMissing(item.default, item.max);
    addMissing(item.defaultRequest, item.default);
    addMissing(item.defaultRequest, item.min);
    if (Object.keys(item.default).length === 0) delete item.default;
    if (Object.keys(item.defaultRequest).length === 0) delete item.defaultRequest;
  }
}

function validate(object: LimitRange): FieldError[] {
  const errors: FieldError[] = [];
  const types = new Set<string>();
  for (const [index, item] of (object.spec?.limits ?? []).entries()) {
    const path = `spec.limits[${index}]`;
    errors.push(...validateRequiredText(item.type, `${path}.type`));
    if (types.has(item.type)) errors.push(fieldError.duplicate(`${path}.type`, item.type));
    types.add(item.type);
    for (const list of lists) {
      for (const name in item[list]) errors.push(...validateResourceName(name, `${path}.${list}[${name}]`));
    }
    if (item.type === 'Pod') {
      const text = "may not be specified when `type` is 'Pod'";
      if (Object.keys(item.default ?? {}).length > 0) errors.push(fieldError.forbidden(`${path}.default`, text));
      if (Object.keys(item.defaultRequest ?? {}).length > 0) {
        errors.push(fieldError.forbidden(`${path}.defaultRequest`, text));
      }
    }
    if (item.type === 'PersistentVolumeClaim' && !item.min?.['storage'] && !item.max?.['storage']) {
      const text = 'either minimum or maximum storage value is required, but neither was provided';
      errors.push(fieldError.required(`${path}.limits`, text));
    }
    errors.push(...validateOrder(item, path));
  }
  return errors;
}

function validateOrder(item: LimitRangeItem, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const rules = [
    ['min', 'max', 'min value %a is greater than max value %b'],
    ['min', 'defaultRequest', 'min value %a is greater than default request value %b'],
    ['defaultRequest', 'max', 'default request value %a is greater than max value %b'],
    ['defaultRequest', 'default', 'default request value %a is greater than default limit value %b'],
    ['min', 'default', 'min value %a is greater than default value %b'],
    ['default', 'max', 'default value %a is greater than max value %b'],
  ] as const;
  for (const [low, high, text] of rules) {
    for (const name in item[low]) {
      const a = item[low]?.[name];
      const b = item[high]?.[name];
      if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) continue;
      const field = low === 'min' && high !== 'max' ? high : low;
      const value = high === 'defaultRequest' ? b : a;
      errors.push(fieldError.invalid(`${path}.${field}[${name}]`, value, text.replace('%a', a).replace('%b', b)));
    }
  }
  return errors;
}

export const limitRangeDefinition: ResourceDefinition = defineBuiltin<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.LimitRange',
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: createdAtColumns,
  row: createdAtRow,
  applyDefaults,
  validateCreate: validate,
  validateUpdate: validate,
});

export const LimitRanges: Resource<LimitRange> = resourceOf<LimitRange>(limitRangeDefinition);
