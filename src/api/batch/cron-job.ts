import {
  checkCronSchedule,
  type FieldError,
  fieldError,
  formatLabelSelectorObject,
  type KubeObject,
  type ObjectMeta,
  type Resource,
  type ResourceDefinition,
  validateAnnotations,
  validateLabels,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, containerCells, nameColumn, since, wideColumn } from '../common/printing.ts';
import { notSupported, validateEnum } from '../common/validation.ts';
import type { ObjectReference } from '../core/event.ts';
import { defaultJobSpec, type JobSpec, validateJobSpec } from './job.ts';

export interface CronJob extends KubeObject {
  spec: {
    schedule?: string;
    timeZone?: string;
    startingDeadlineSeconds?: number;
    concurrencyPolicy?: string;
    suspend?: boolean;
    jobTemplate?: { metadata?: ObjectMeta; spec?: JobSpec };
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
  };
  status?: { active?: ObjectReference[]; lastScheduleTime?: string; lastSuccessfulTime?: string };
}

function validateSchedule(schedule: string | undefined): FieldError[] {
  if (!schedule) return [fieldError.required('spec.schedule')];
  const path = 'spec.schedule';
  const zone = /^(?:CRON_)?TZ=\S*\s*/.exec(schedule)?.[0] ?? '';
  const errors = checkCronSchedule(schedule.slice(zone.length)).map((text) => fieldError.invalid(path, schedule, text));
  if (zone !== '') {
    const text = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    errors.push(fieldError.invalid(path, schedule, text));
  }
  return errors;
}

function validateTimeZone(zone: string | undefined): FieldError[] {
  if (zone === undefined) return [];
  const path = 'spec.timeZone';
  if (zone === '') return [fieldError.invalid(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.toLowerCase() === 'local') {
    const text = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [fieldError.invalid(path, zone, text)];
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return [];
  } catch {
    return [fieldError.invalid(path, zone, `unknown time zone ${zone}`)];
  }
}

function validate(cronJob: CronJob): FieldError[] {
  const spec = cronJob.spec;
  const errors = [...validateSchedule(spec.schedule), ...validateTimeZone(spec.timeZone)];
  errors.push(...validateNonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'));
  errors.push(...validateEnum(spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], 'spec.concurrencyPolicy'));
  const template = spec.jobTemplate ?? {};
  const path = 'spec.jobTemplate';
  if (template.metadata?.labels) errors.push(...validateLabels(template.metadata.labels, `${path}.metadata.labels`));
  if (template.metadata?.annotations) {
    errors.push(...validateAnnotations(template.metadata.annotations, `${path}.metadata.annotations`));
  }
  const job = template.spec ?? {};
  errors.push(...validateJobSpec(job, `${path}.spec`));
  if (job.selector !== undefined) {
    errors.push(fieldError.invalid(`${path}.spec.selector`, job.selector, '`selector` will be auto-generated'));
  }
  if (job.manualSelector === true) {
    errors.push(notSupported(`${path}.spec.manualSelector`, true, ['nil', 'false']));
  }
  errors.push(...validateNonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'));
  errors.push(...validateNonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'));
  return errors;
}

export const cronJobDefinition: ResourceDefinition = defineBuiltin<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.batch.v1.CronJob',
  hasStatus: true,
  columns: [
    nameColumn,
    column('Schedule'),
    column('Timezone'),
    column('Suspend', 'boolean'),
    column('Active', 'integer'),
    column('Last Schedule'),
    ageColumn,
    wideColumn('Containers'),
    wideColumn('Images'),
    wideColumn('Selector'),
  ],
  row({ metadata, spec, status, ...rest }, nowMs) {
    const job = spec.jobTemplate?.spec;
    return [
      metadata.name ?? '',
      spec.schedule ?? '',
      spec.timeZone ?? '<none>',
      spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
      (status?.active ?? []).length,
      status?.lastScheduleTime ? since(status.lastScheduleTime, nowMs) : '<none>',
      age({ metadata, ...rest }, nowMs),
      ...containerCells(job?.template?.spec?.containers),
      formatLabelSelectorObject(job?.selector),
    ];
  },
  applyDefaults(cronJob) {
    setDefault(cronJob, 'spec', {});
    const spec = cronJob.spec;
    setDefault(spec, 'concurrencyPolicy', 'Allow');
    setDefault(spec, 'suspend', false);
    setDefault(spec, 'successfulJobsHistoryLimit', 3);
    setDefault(spec, 'failedJobsHistoryLimit', 1);
    setDefault(setDefault(spec, 'jobTemplate', {}), 'metadata', {});
    if (spec.jobTemplate?.spec) defaultJobSpec(spec.jobTemplate.spec);
    setDefault(cronJob, 'status', {});
  },
  prepareForCreate(cronJob) {
    cronJob.status = {};
  },
  validateCreate(cronJob) {
    const errors = validate(cronJob);
    const name = cronJob.metadata.name ?? '';
    // The controller appends a dash and ten digits to the name of a job, and names of jobs are limited to 63
    // characters.
    if (name.length > 52) errors.push(fieldError.invalid('metadata.name', name, 'must be no more than 52 characters'));
    return errors;
  },
  validateUpdate: validate,
});

export const CronJobs: Resource<CronJob> = resourceOf<CronJob>(cronJobDefinition);
