import {
  type FieldError,
  fieldError,
  type LabelSelectorObject,
  labelSelectorFromObject,
  validateLabelSelector,
  validateNonNegative,
} from '../../machinery/index.ts';
import { notSupported } from '../common/validation.ts';
import type { PodTemplateSpec } from '../core/pod-types.ts';
import { validatePodTemplateSpec } from '../core/pod-validation.ts';

/** Spec fields that Deployment, ReplicaSet, StatefulSet and DaemonSet share. */
export interface WorkloadSpec {
  selector?: LabelSelectorObject;
  template?: PodTemplateSpec;
}

function isEmpty(selector: LabelSelectorObject): boolean {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
}

/** Checks that the selector is present, not empty, and matches the labels of the template. */
export function validateWorkloadSelector(spec: WorkloadSpec, kind: string): FieldError[] {
  const selector = spec.selector;
  if (!selector) {
    return [
      fieldError.required('spec.selector'),
      fieldError.invalid(
        'spec.template.metadata.labels',
        spec.template?.metadata?.labels ?? null,
        '`selector` does not match template `labels`',
      ),
    ];
  }
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (errors.length > 0) {
    // Upstream reports an unreadable selector a second time as a whole, with a different message per kind.
    if (kind === 'StatefulSet') errors.push(fieldError.invalid('spec.selector', selector, ''));
    else if (kind !== 'DaemonSet') errors.push(fieldError.invalid('spec.selector', selector, 'invalid label selector'));
    return errors;
  }
  if (isEmpty(selector)) {
    errors.push(fieldError.invalid('spec.selector', selector, `empty selector is invalid for ${kind.toLowerCase()}`));
  } else if (!labelSelectorFromObject(selector).matches(labelsOf(spec))) {
    const text = '`selector` does not match template `labels`';
    errors.push(fieldError.invalid('spec.template.metadata.labels', spec.template?.metadata?.labels ?? null, text));
  }
  return errors;
}

function labelsOf(spec: WorkloadSpec): Record<string, string> {
  return spec.template?.metadata?.labels ?? {};
}

/** Requires restartPolicy Always and forbids a deadline, because a workload replaces pods that end. */
export function validateWorkloadTemplate(spec: WorkloadSpec, kind: string): FieldError[] {
  const errors = validatePodTemplateSpec(spec.template, 'spec.template');
  const pod = spec.template?.spec;
  if (pod && pod.restartPolicy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', pod.restartPolicy ?? '', ['Always']));
  }
  if (pod?.activeDeadlineSeconds !== undefined) {
    const text = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(fieldError.forbidden('spec.template.spec.activeDeadlineSeconds', text));
  }
  return errors;
}

/** Checks that counters are neither negative nor greater than the total. */
export function validateReplicaCounts<T extends object>(
  status: T | undefined,
  fields: readonly (keyof T & string)[],
  total: keyof T & string,
): FieldError[] {
  const errors: FieldError[] = [];
  const counts = (status ?? {}) as Record<string, number | undefined>;
  for (const field of [total, ...fields]) errors.push(...validateNonNegative(counts[field], `status.${field}`));
  for (const field of fields) {
    const count = counts[field] ?? 0;
    if (count > (counts[total] ?? 0)) {
      errors.push(fieldError.invalid(`status.${field}`, count, `cannot be greater than status.${total}`));
    }
  }
  return errors;
}
