import type { FieldError } from '../../machinery/index.ts';
import { fieldError } from '../../machinery/index.ts';
import type { CustomResourceDefinition } from './types.ts';

/** On definitions of protected groups: URL of the API review, or the reason why there is none. */
export const approvalAnnotation = 'api-approved.kubernetes.io';
const annotation = approvalAnnotation;
const policy = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Tells whether a group belongs to the Kubernetes community and needs an annotation with its API review. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

export interface Approval {
  state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  reason: string;
}

export function approvalOf(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const value = annotations?.[annotation] ?? '';
  if (value === '') {
    return { state: 'missing', reason: `protected groups must have approval annotation "${annotation}", ${policy}` };
  }
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(value)}` };
  if (/^[A-Za-z][-+.A-Za-z0-9]*:\/\/[^/\s]+/.test(value)) return { state: 'approved', reason: `approved in ${value}` };
  return {
    state: 'invalid',
    reason: `protected groups must have approval annotation "${annotation}" with either a URL or a reason starting with "unapproved", ${policy}`,
  };
}

export function validateApproval(crd: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  if (!isProtectedGroup(crd.spec.group)) return [];
  const approval = approvalOf(crd.metadata.annotations);
  if (old && approvalOf(old.metadata.annotations).state === approval.state) return [];
  const field = `metadata.annotations[${annotation}]`;
  if (approval.state === 'missing') return [fieldError.required(field, approval.reason)];
  if (approval.state !== 'invalid') return [];
  return [fieldError.invalid(field, crd.metadata.annotations?.[annotation], approval.reason)];
}
