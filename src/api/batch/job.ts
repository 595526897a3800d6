import {
  type Condition,
  deepEqual,
  type FieldError,
  fieldError,
  formatLabelSelectorObject,
  humanDuration,
  type KubeObject,
  type LabelSelectorObject,
  labelSelectorFromObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateLabelSelector,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, containerCells, nameColumn, wideColumn } from '../common/printing.ts';
import { notSupported, validateEnum } from '../common/validation.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import type { PodTemplateSpec } from '../core/pod-types.ts';
import { validatePodTemplateSpec } from '../core/pod-validation.ts';

export interface PodFailurePolicyRule {
  action: string;
  onPodConditions?: { type: string; status?: string }[];
  onExitCodes?: { containerName?: string; operator: string; values: number[] };
}

export interface SuccessPolicyRule {
  succeededIndexes?: string;
  succeededCount?: number;
}

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  completionMode?: string;
  activeDeadlineSeconds?: number;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  ttlSecondsAfterFinished?: number;
  suspend?: boolean;
  selector?: LabelSelectorObject;
  manualSelector?: boolean;
  template?: PodTemplateSpec;
  podFailurePolicy?: { rules?: PodFailurePolicyRule[] };
  successPolicy?: { rules?: SuccessPolicyRule[] };
  podReplacementPolicy?: string;
  managedBy?: string;
}

export interface Job extends KubeObject {
  spec: JobSpec;
  status?: {
    active?: number;
    succeeded?: number;
    failed?: number;
    ready?: number;
    terminating?: number;
    startTime?: string;
    completionTime?: string;
    completedIndexes?: string;
    failedIndexes?: string;
    /** uids of ended pods that are not yet counted */
    uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] };
    conditions?: Condition[];
  };
}

const uidLabel = 'batch.kubernetes.io/controller-uid';
const nameLabel = 'batch.kubernetes.io/job-name';

/** Applies the defaults that job templates and jobs share. */
export function defaultJobSpec(spec: JobSpec): void {
  if (spec.template) defaultPodTemplate(spec.template);
}

function applyDefaults(job: Job): void {
  setDefault(job, 'spec', {});
  const spec = job.spec;
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', spec.backoffLimitPerIndex === undefined ? 6 : 2147483647);
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'manualSelector', false);
  setDefault(spec, 'podReplacementPolicy', spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed');
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const condition of rule.onPodConditions ?? []) setDefault(condition, 'status', 'True');
  }
  setDefault(spec, 'template', {});
  defaultJobSpec(spec);
  const labels = spec.template?.metadata?.labels;
  if (Object.keys(job.metadata.labels ?? {}).length === 0 && labels) job.metadata.labels = { ...labels };
  setDefault(job, 'status', {});
}

/** Generates a selector on the uid of the job, unless manualSelector is set. */
function generateSelector(job: Job): void {
  if (job.spec.manualSelector) return;
  const uid = job.metadata.uid ?? '';
  const name = job.metadata.name ?? '';
  const labels = { [uidLabel]: uid, [nameLabel]: name, 'controller-uid': uid, 'job-name': name };
  job.spec.template ??= {};
  job.spec.template.metadata ??= {};
  job.spec.template.metadata.labels = { ...job.spec.template.metadata.labels, ...labels };
  job.spec.selector ??= {};
  job.spec.selector.matchLabels ??= {};
  job.spec.selector.matchLabels[uidLabel] ??= uid;
  const own = job.metadata.labels;
  if (own === undefined || Object.keys(own).length === 0 || deepEqual(own, withoutJobLabels(job))) {
    job.metadata.labels = { ...job.spec.template.metadata.labels };
  }
}

function withoutJobLabels(job: Job): Record<string, string> {
  const generated = new Set([uidLabel, nameLabel, 'controller-uid', 'job-name']);
  const labels = job.spec.template?.metadata?.labels ?? {};
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !generated.has(key)));
}

/** Validates the spec of a job at `path`. Templates of cron jobs have no selector yet. */
export function validateJobSpec(spec: JobSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const counts = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const;
  for (const field of counts) errors.push(...validateNonNegative(spec[field], `${path}.${field}`));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(fieldError.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  errors.push(...validateEnum(spec.completionMode, ['NonIndexed', 'Indexed'], `${path}.completionMode`));
  if (spec.completionMode === 'Indexed') {
    if (spec.completions === undefined) {
      errors.push(fieldError.required(`${path}.completions`, 'when completion mode is Indexed'));
    }
    if ((spec.parallelism ?? 0) > 100000) {
      const text = 'must be less than or equal to 100000 when completion mode is Indexed';
      errors.push(fieldError.invalid(`${path}.parallelism`, spec.parallelism, text));
    }
  } else {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] !== undefined) {
        errors.push(fieldError.invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
      }
    }
  }
  if (spec.successPolicy) errors.push(...validateSuccessPolicy(spec, `${path}.successPolicy`));
  const replacements = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  errors.push(...validateEnum(spec.podReplacementPolicy, replacements, `${path}.podReplacementPolicy`));
  errors.push(...validatePodTemplateSpec(spec.template, `${path}.template`));
  errors.push(...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`));
  return errors;
}

const maxSuccessRules = 20;
const maxIndexesText = 64 * 1024;

function validateSuccessPolicy(spec: JobSpec, path: string): FieldError[] {
  if (spec.completionMode !== 'Indexed') {
    return [fieldError.invalid(path, spec.successPolicy, 'requires indexed completion mode')];
  }
  const { rules = [] } = spec.successPolicy ?? {};
  if (rules.length === 0) {
    const text = 'at least one rules must be specified when the successPolicy is specified';
    return [fieldError.required(`${path}.rules`, text)];
  }
  const errors: FieldError[] = [];
  if (rules.length > maxSuccessRules) {
    errors.push(fieldError.tooMany(`${path}.rules`, rules.length, maxSuccessRules));
  }
  for (const [index, rule] of rules.entries()) {
    errors.push(...validateSuccessRule(rule, spec.completions ?? 0, `${path}.rules[${index}]`));
  }
  return errors;
}

function validateSuccessRule(rule: SuccessPolicyRule, completions: number, path: string): FieldError[] {
  const { succeededIndexes, succeededCount } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    return [fieldError.required(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const errors: FieldError[] = [];
  let total = 0;
  if (succeededIndexes !== undefined) {
    const at = `${path}.succeededIndexes`;
    if (succeededIndexes.length > maxIndexesText) errors.push(fieldError.tooLong(at, '', maxIndexesText));
    const counted = countIndexes(succeededIndexes, completions);
    if (typeof counted === 'number') total = counted;
    else errors.push(fieldError.invalid(at, succeededIndexes, `error parsing succeededIndexes: ${counted}`));
  }
  if (succeededCount !== undefined) {
    const at = `${path}.succeededCount`;
    errors.push(...validateNonNegative(succeededCount, at));
    const tooMany = (limit: number, what: string): FieldError =>
      fieldError.invalid(at, succeededCount, `must be less than or equal to ${limit} (the number of ${what})`);
    if (succeededCount > completions) errors.push(tooMany(completions, 'specified completions'));
    if (succeededIndexes !== undefined && succeededCount > total) {
      errors.push(tooMany(total, 'indexes in the specified succeededIndexes field'));
    }
  }
  return errors;
}

/**
 * Counts the numbers in an ascending list such as `0,2-4`. Returns a string with the problem if the text is invalid.
 */
function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let last = -1;
  for (const part of text.split(',')) {
    const limits = part.split('-');
    if (limits.length > 2) {
      return `the fragment "${part}" violates the requirement that an index interval can have at most two parts separated by '-'`;
    }
    for (const limit of limits) {
      if (!/^\d+$/.test(limit)) return `cannot convert string to integer for index: "${limit}"`;
      if (Number(limit) >= completions) return `too large index: "${limit}"`;
    }
    const [from, to = from] = limits.map(Number) as [number, number?];
    if (limits.length === 2 && from >= to) return `non-increasing order, previous: ${from}, current: ${to}`;
    if (last >= from) return `non-increasing order, previous: ${last}, current: ${from}`;
    total += to - from + 1;
    last = to;
  }
  return total;
}

function validateRestartPolicy(spec: JobSpec, path: string): FieldError[] {
  const policy = spec.template?.spec?.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') {
    return [fieldError.required(path, 'valid values: "OnFailure", "Never"')];
  }
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy && policy !== 'Never') {
    return [fieldError.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}

function validateSelector(job: Job): FieldError[] {
  const { selector, template, manualSelector } = job.spec;
  if (!selector) {
    const text = '`selector` does not match template `labels`';
    return [
      fieldError.required('spec.selector'),
      fieldError.invalid('spec.template.metadata.labels', template?.metadata?.labels ?? null, text),
    ];
  }
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (errors.length > 0) return errors;
  const labels = template?.metadata?.labels ?? {};
  if (!labelSelectorFromObject(selector).matches(labels)) {
    const text = '`selector` does not match template `labels`';
    errors.push(fieldError.invalid('spec.template.metadata.labels', labels, text));
  }
  if (!manualSelector && !deepEqual(selector, { matchLabels: { [uidLabel]: job.metadata.uid } })) {
    errors.push(fieldError.invalid('spec.selector', selector, '`selector` not auto-generated'));
  }
  return errors;
}

function validateUpdate(job: Job, old: Job): FieldError[] {
  const spec = job.spec;
  const before = old.spec;
  const errors = validateJobSpec(spec, 'spec');
  const indexedTandem = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!deepEqual(spec.completions, before.completions) && !indexedTandem) {
    errors.push(...validateImmutable(spec.completions, before.completions, 'spec.completions'));
  }
  errors.push(...validateImmutable(spec.selector, before.selector, 'spec.selector'));
  if (!isTemplateMutable(old)) errors.push(...validateImmutable(spec.template, before.template, 'spec.template'));
  const fixed = ['completionMode', 'podFailurePolicy', 'successPolicy', 'backoffLimitPerIndex', 'managedBy'] as const;
  for (const field of fixed) errors.push(...validateImmutable(spec[field], before[field], `spec.${field}`));
  return errors;
}

/** The scheduling fields of a suspended job can change until the job starts for the first time. */
function isTemplateMutable(job: Job): boolean {
  return job.spec.suspend === true && job.status?.startTime === undefined;
}

function isTrue(job: Job, type: string): boolean {
  return job.status?.conditions?.find((condition) => condition.type === type)?.status === 'True';
}

function statusWord(job: Job): string {
  if (isTrue(job, 'Complete')) return 'Complete';
  if (isTrue(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  for (const type of ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']) if (isTrue(job, type)) return type;
  return 'Running';
}

function completions(job: Job): string {
  const succeeded = job.status?.succeeded ?? 0;
  if (job.spec.completions !== undefined) return `${succeeded}/${job.spec.completions}`;
  const parallelism = job.spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function duration(job: Job, nowMs: number): string {
  const start = job.status?.startTime;
  if (!start) return '';
  const end = job.status?.completionTime;
  return humanDuration((end ? Date.parse(end) : nowMs) - Date.parse(start));
}

export const jobDefinition: ResourceDefinition = defineBuiltin<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.batch.v1.Job',
  hasStatus: true,
  columns: [
    nameColumn,
    column('Status'),
    column('Completions'),
    column('Duration'),
    ageColumn,
    wideColumn('Containers'),
    wideColumn('Images'),
    wideColumn('Selector'),
  ],
  row: (job, nowMs) => [
    job.metadata.name ?? '',
    statusWord(job),
    completions(job),
    duration(job, nowMs),
    age(job, nowMs),
    ...containerCells(job.spec.template?.spec?.containers),
    formatLabelSelectorObject(job.spec.selector),
  ],
  selectableFields: { 'status.successful': (job) => String(job.status?.succeeded ?? 0) },
  applyDefaults,
  prepareForCreate(job) {
    job.status = {};
    generateSelector(job);
  },
  validateCreate: (job) => [...validateSelector(job), ...validateJobSpec(job.spec, 'spec')],
  validateUpdate,
});

export const Jobs: Resource<Job> = resourceOf<Job>(jobDefinition);
