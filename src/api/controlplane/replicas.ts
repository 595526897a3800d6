import { type FieldError, fieldError } from '../../machinery/index.ts';

/** Fields of a control plane that this file reads. */
interface Replicated {
  spec?: { replicas?: number };
}

/** An update without replicas keeps the current value. */
export function keepReplicas(draft: Replicated, old: Replicated): void {
  const { spec } = draft;
  const before = old.spec?.replicas;
  if (spec !== undefined && spec.replicas === undefined && before !== undefined) spec.replicas = before;
}

export function validateReplicas(replicas: number | undefined): FieldError[] {
  if (replicas === undefined) return [fieldError.required('spec.replicas', 'is required')];
  return replicas <= 0 ? [fieldError.forbidden('spec.replicas', 'cannot be less than or equal to 0')] : [];
}
