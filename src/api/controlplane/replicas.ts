import { type FieldError, fieldError } from '../../machinery/index.ts';

/** what is looked at of any control plane on machines */
interface Replicated {
  spec?: { replicas?: number };
}

/** Whoever leaves the replicas out of an update leaves them as they are. */
export function keepReplicas(draft: Replicated, old: Replicated): void {
  const { spec } = draft;
  const before = old.spec?.replicas;
  if (spec !== undefined && spec.replicas === undefined && before !== undefined) spec.replicas = before;
}

export function validateReplicas(replicas: number | undefined): FieldError[] {
  if (replicas === undefined) return [fieldError.required('spec.replicas', 'is required')];
  return replicas <= 0 ? [fieldError.forbidden('spec.replicas', 'cannot be less than or equal to 0')] : [];
}
