import {
  asTyped,
  asUnstructured,
  type Condition,
  canonicalQuantity,
  checkPathSegmentName,
  checkTypes,
  clone,
  type FieldError,
  fieldError,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  must,
  own,
  parseJsonStrict,
  type Resource,
  type ResourceDefinition,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, notSupported } from '../common/validation.ts';
import { builtinSchema } from '../schema/index.ts';

export interface MetricTarget {
  type?: string;
  value?: string;
  averageValue?: string;
  averageUtilization?: number;
}

export interface MetricSource {
  name?: string;
  container?: string;
  metric?: { name?: string; selector?: JsonObject };
  describedObject?: JsonObject;
  target?: MetricTarget;
  current?: MetricTarget;
}

export interface Metric {
  type: string;
  resource?: MetricSource;
  containerResource?: MetricSource;
  pods?: MetricSource;
  object?: MetricSource;
  external?: MetricSource;
}

export interface ScalingRules {
  stabilizationWindowSeconds?: number;
  selectPolicy?: string;
  policies?: { type: string; value: number; periodSeconds: number }[];
  tolerance?: string;
}

export interface HorizontalPodAutoscaler extends KubeObject {
  spec: {
    scaleTargetRef: { apiVersion?: string; kind: string; name: string };
    minReplicas?: number;
    maxReplicas: number;
    metrics?: Metric[];
    behavior?: { scaleUp?: ScalingRules; scaleDown?: ScalingRules };
  };
  status?: {
    observedGeneration?: number;
    lastScaleTime?: string;
    currentReplicas?: number;
    desiredReplicas?: number;
    currentMetrics?: Metric[];
    conditions?: Condition[];
  };
}

const sources = ['resource', 'containerResource', 'pods', 'object', 'external'] as const;
const sourceOfType: Readonly<Record<string, (typeof sources)[number]>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

function defaultRules(rules: ScalingRules, direction: 'up' | 'down'): void {
  setDefault(rules, 'selectPolicy', 'Max');
  if (direction === 'up') setDefault(rules, 'stabilizationWindowSeconds', 0);
  if ((rules.policies ?? []).length > 0) return;
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
  rules.policies = direction === 'up' ? [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent] : [percent];
}

function applyDefaults(autoscaler: HorizontalPodAutoscaler): void {
  setDefault(autoscaler, 'spec', { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 });
  const spec = autoscaler.spec;
  setDefault(spec, 'minReplicas', 1);
  if ((spec.metrics ?? []).length === 0) {
    spec.metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
    ];
  }
  for (const metric of spec.metrics ?? []) {
    for (const source of sources) {
      const target = metric[source]?.target;
      for (const field of ['value', 'averageValue'] as const) {
        const canonical = canonicalQuantity(target?.[field]);
        if (target && canonical !== undefined) target[field] = canonical;
      }
    }
  }
  if (spec.behavior) {
    const scaleUp = setDefault(spec.behavior, 'scaleUp', {});
    const scaleDown = setDefault(spec.behavior, 'scaleDown', {});
    defaultRules(scaleUp, 'up');
    defaultRules(scaleDown, 'down');
  }
  setDefault(setDefault(autoscaler, 'status', {}), 'desiredReplicas', 0);
}

function validateMetric(metric: Metric, path: string): FieldError[] {
  if (!metric.type) return [fieldError.required(`${path}.type`, 'must specify a metric source type')];
  const field = sourceOfType[metric.type];
  if (!field) return [notSupported(`${path}.type`, metric.type, Object.keys(sourceOfType).sort())];
  const errors: FieldError[] = [];
  const source = metric[field];
  if (!source) {
    errors.push(fieldError.required(`${path}.${field}`, 'must populate information for the given metric source'));
  }
  for (const other of sources) {
    if (other !== field && metric[other] !== undefined) {
      errors.push(fieldError.forbidden(`${path}.${other}`, 'must populate the given metric source only'));
    }
  }
  // Like upstream, checks the contents of a source only when there is exactly one source.
  if (!source || errors.length > 0) return errors;
  const at = `${path}.${field}`;
  const target = source.target ?? {};
  if (!target.type) errors.push(fieldError.required(`${at}.target.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(target.type ?? '')) {
    const text = 'must be either Utilization, Value, or AverageValue';
    errors.push(fieldError.invalid(`${at}.target.type`, target.type ?? '', text));
  }
  if (target.averageUtilization !== undefined && target.averageUtilization < 1) {
    const text = 'must be greater than 0';
    errors.push(fieldError.invalid(`${at}.target.averageUtilization`, target.averageUtilization, text));
  }
  if (field === 'resource' || field === 'containerResource') {
    if (!source.name) errors.push(fieldError.required(`${at}.name`, 'must specify a resource name'));
    if (field === 'containerResource' && !source.container) {
      errors.push(fieldError.required(`${at}.container`, 'must specify a container'));
    }
    if (target.averageUtilization === undefined && target.averageValue === undefined) {
      const text = 'must set either a target raw value or a target utilization';
      errors.push(fieldError.required(`${at}.target.averageUtilization`, text));
    }
    if (target.averageUtilization !== undefined && target.averageValue !== undefined) {
      const text = 'may not set both a target raw value and a target utilization';
      errors.push(fieldError.forbidden(`${at}.target.averageValue`, text));
    }
  } else if (!source.metric?.name) {
    errors.push(fieldError.required(`${at}.metric.name`, 'must specify a metric name'));
  }
  if (field === 'pods' && target.averageValue === undefined) {
    errors.push(fieldError.required(`${at}.target.averageValue`, 'must specify a positive target averageValue'));
  }
  return errors;
}

function validateRules(rules: ScalingRules | undefined, path: string): FieldError[] {
  if (!rules) return [];
  const errors: FieldError[] = [];
  const window = rules.stabilizationWindowSeconds;
  if (window !== undefined && window < 0) {
    errors.push(
      fieldError.invalid(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'),
    );
  }
  if (window !== undefined && window > 3600) {
    errors.push(fieldError.invalid(`${path}.stabilizationWindowSeconds`, window, 'must be less than or equal to 3600'));
  }
  const select = ['Disabled', 'Max', 'Min'];
  if (rules.selectPolicy !== undefined && !select.includes(rules.selectPolicy)) {
    errors.push(notSupported(`${path}.selectPolicy`, rules.selectPolicy, select));
  }
  if ((rules.policies ?? []).length === 0) {
    errors.push(fieldError.required(`${path}.policies`, 'must specify at least one Policy'));
  }
  for (const [index, policy] of (rules.policies ?? []).entries()) {
    const at = `${path}.policies[${index}]`;
    if (policy.type !== 'Pods' && policy.type !== 'Percent') {
      errors.push(notSupported(`${at}.type`, policy.type, ['Percent', 'Pods']));
    }
    if (policy.value <= 0) errors.push(fieldError.invalid(`${at}.value`, policy.value, 'must be greater than zero'));
    if (policy.periodSeconds <= 0) {
      errors.push(fieldError.invalid(`${at}.periodSeconds`, policy.periodSeconds, 'must be greater than zero'));
    } else if (policy.periodSeconds > 1800) {
      errors.push(
        fieldError.invalid(`${at}.periodSeconds`, policy.periodSeconds, 'must be less than or equal to 1800'),
      );
    }
  }
  return errors;
}

function validate(autoscaler: HorizontalPodAutoscaler, { isNew }: { isNew: boolean }): FieldError[] {
  const spec = autoscaler.spec;
  const errors: FieldError[] = [];
  const { minReplicas, maxReplicas = 0 } = spec;
  if (minReplicas !== undefined && minReplicas < 1) {
    errors.push(fieldError.invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  }
  if (maxReplicas < 1) errors.push(fieldError.invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    const text = 'must be greater than or equal to `minReplicas`';
    errors.push(fieldError.invalid('spec.maxReplicas', maxReplicas, text));
  }
  for (const field of ['kind', 'name'] as const) {
    const value = spec.scaleTargetRef?.[field];
    if (!value) errors.push(fieldError.required(`spec.scaleTargetRef.${field}`));
    else errors.push(...invalid(`spec.scaleTargetRef.${field}`, value, checkPathSegmentName(value)));
  }
  const targetVersion = spec.scaleTargetRef?.apiVersion ?? '';
  if (isNew && !targetVersion.includes('/')) {
    const text = 'apiVersion must specify API group';
    errors.push(fieldError.invalid('spec.scaleTargetRef.apiVersion', targetVersion, text));
  }
  if (minReplicas === 0 && !(spec.metrics ?? []).some(({ type }) => type === 'Object' || type === 'External')) {
    const text = 'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.push(fieldError.forbidden('spec.metrics', text));
  }
  for (const [index, metric] of (spec.metrics ?? []).entries()) {
    errors.push(...validateMetric(metric, `spec.metrics[${index}]`));
  }
  errors.push(...validateRules(spec.behavior?.scaleUp, 'spec.behavior.scaleUp'));
  errors.push(...validateRules(spec.behavior?.scaleDown, 'spec.behavior.scaleDown'));
  return errors;
}

function formatMetric(spec: Metric, status: Metric | undefined): string {
  const field = sourceOfType[spec.type];
  const target = field && spec[field]?.target;
  if (!field || !target) return '<unknown type>';
  const current = status?.[field]?.current;
  const unknown = '<unknown>';
  if (field === 'resource' || field === 'containerResource') {
    const name = spec[field]?.name ?? '';
    if (target.averageValue !== undefined) return `${name}: ${current?.averageValue ?? unknown}/${target.averageValue}`;
    const percent = (value: number | undefined, absent: string): string => (value === undefined ? absent : `${value}%`);
    return `${name}: ${percent(current?.averageUtilization, unknown)}/${percent(target.averageUtilization, '<auto>')}`;
  }
  if (field === 'pods') return `${current?.averageValue ?? unknown}/${target.averageValue ?? ''}`;
  if (target.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`;
  return `${current?.value ?? unknown}/${target.value ?? ''}`;
}

function formatMetrics(autoscaler: HorizontalPodAutoscaler): string {
  const metrics = autoscaler.spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const list = metrics.map((metric, index) => formatMetric(metric, autoscaler.status?.currentMetrics?.[index]));
  const shown = list.slice(0, 2).join(', ');
  return list.length > 2 ? `${shown} + ${list.length - 2} more...` : shown;
}

function row(object: HorizontalPodAutoscaler, nowMs: number): JsonValue[] {
  const autoscaler = toV2(object);
  const { scaleTargetRef, minReplicas, maxReplicas } = autoscaler.spec;
  return [
    autoscaler.metadata.name ?? '',
    `${scaleTargetRef?.kind}/${scaleTargetRef?.name}`,
    formatMetrics(autoscaler),
    minReplicas === undefined ? '<unset>' : String(minReplicas),
    maxReplicas ?? 0,
    autoscaler.status?.currentReplicas ?? 0,
    age(autoscaler, nowMs),
  ];
}

/**
 * v1 has fields for CPU only. All other metrics are kept in annotations, so that a write through v1 does not lose them.
 */
const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions';
const currentMetricsAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics';

interface V1Fields {
  targetCPUUtilizationPercentage?: number;
  currentCPUUtilizationPercentage?: number;
}

function isCpuUtilization(metric: Metric): boolean {
  return metric.type === 'Resource' && metric.resource?.name === 'cpu' && utilization(metric) !== undefined;
}

function utilization(metric: Metric | undefined): number | undefined {
  return metric?.resource?.target?.averageUtilization ?? metric?.resource?.current?.averageUtilization;
}

function toV1(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const result = clone(object);
  result.apiVersion = 'autoscaling/v1';
  const { metrics = [], behavior, ...spec } = result.spec;
  const { currentMetrics = [], conditions, ...status } = result.status ?? {};
  const annotations = { ...result.metadata.annotations };
  const save = (name: string, value: unknown): void => {
    if (value !== undefined && (!Array.isArray(value) || value.length > 0)) annotations[name] = JSON.stringify(value);
  };
  save(
    metricsAnnotation,
    metrics.filter((metric) => !isCpuUtilization(metric)),
  );
  save(behaviorAnnotation, behavior);
  save(conditionsAnnotation, conditions);
  save(
    currentMetricsAnnotation,
    currentMetrics.filter((metric) => !isCpuUtilization(metric)),
  );
  if (Object.keys(annotations).length > 0) result.metadata.annotations = annotations;
  const target = utilization(metrics.find(isCpuUtilization));
  const current = utilization(currentMetrics.find(isCpuUtilization));
  result.spec = {
    ...spec,
    ...(target !== undefined && { targetCPUUtilizationPercentage: target }),
  } as typeof result.spec;
  result.status = {
    currentReplicas: 0,
    desiredReplicas: 0,
    ...status,
    ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
  } as NonNullable<typeof result.status>;
  return result;
}

function toV2(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  if (object.apiVersion !== 'autoscaling/v1') return object;
  const result = clone(object);
  result.apiVersion = 'autoscaling/v2';
  // Missing fields are left to validation, which runs later.
  const { targetCPUUtilizationPercentage: target, ...spec } = (result.spec ?? {}) as HorizontalPodAutoscaler['spec'] &
    V1Fields;
  const { currentCPUUtilizationPercentage: current, ...status } = (result.status ?? {}) as V1Fields;
  const annotations = { ...result.metadata.annotations };
  // Clients can write these annotations, so values of a wrong type are ignored.
  const take = <T>(name: string, part: 'Spec' | 'Status', field: string): T | undefined => {
    const text = annotations[name];
    delete annotations[name];
    if (text === undefined) return undefined;
    try {
      const value = parseJsonStrict(text).value;
      const schema = own(builtinSchema(`io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler${part}`).properties, field);
      const fits =
        value !== null && schema && !checkTypes(value, schema) && !(Array.isArray(value) && value.includes(null));
      return fits ? (value as T) : undefined;
    } catch {
      return undefined;
    }
  };
  const metrics = take<Metric[]>(metricsAnnotation, 'Spec', 'metrics') ?? [];
  const behavior = take<NonNullable<HorizontalPodAutoscaler['spec']['behavior']>>(
    behaviorAnnotation,
    'Spec',
    'behavior',
  );
  const conditions = take<Condition[]>(conditionsAnnotation, 'Status', 'conditions');
  const currentMetrics = take<Metric[]>(currentMetricsAnnotation, 'Status', 'currentMetrics') ?? [];
  if (Object.keys(annotations).length > 0) result.metadata.annotations = annotations;
  else delete result.metadata.annotations;
  if (target !== undefined) {
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } };
    metrics.unshift({ type: 'Resource', resource });
  }
  if (current !== undefined) {
    currentMetrics.unshift({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } });
  }
  result.spec = { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior && { behavior }) };
  result.status = {
    ...status,
    ...(currentMetrics.length > 0 && { currentMetrics }),
    ...(conditions && { conditions }),
  };
  return result;
}

const v2Definition: ResourceDefinition = defineBuiltin<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  hasStatus: true,
  noGeneration: true,
  columns: [
    nameColumn,
    column('Reference'),
    column('Targets'),
    column('MinPods'),
    column('MaxPods'),
    column('Replicas'),
    ageColumn,
  ],
  row,
  applyDefaults,
  prepareForCreate(autoscaler) {
    autoscaler.status = { desiredReplicas: 0 };
  },
  validateCreate: (autoscaler) => validate(autoscaler, { isNew: true }),
  // Old objects may lack the group.
  validateUpdate: (autoscaler) => validate(autoscaler, { isNew: false }),
  validateStatusUpdate: (autoscaler) => [
    ...validateNonNegative(autoscaler.status?.currentReplicas, 'status.currentReplicas'),
    ...validateNonNegative(autoscaler.status?.desiredReplicas, 'status.desiredReplicas'),
  ],
});

const v2 = must(v2Definition.versions[0], 'v2');

/** Stored as v2; v1 is only another representation of it. */
export const horizontalPodAutoscalerDefinition: ResourceDefinition = {
  ...v2Definition,
  versions: [
    v2,
    {
      name: 'v1',
      served: true,
      get schema() {
        return builtinSchema('io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler');
      },
      hasStatus: true,
      printer: v2.printer,
    },
  ],
  convert(object, toVersion) {
    const typed = asTyped<HorizontalPodAutoscaler>(object);
    return asUnstructured(toVersion === 'v1' ? toV1(typed) : toV2(typed));
  },
};

export const HorizontalPodAutoscalers: Resource<HorizontalPodAutoscaler> = resourceOf<HorizontalPodAutoscaler>(
  horizontalPodAutoscalerDefinition,
);
