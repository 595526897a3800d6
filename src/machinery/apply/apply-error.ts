import { ApiStatusError, type StatusCause, statusError } from '../errors/status.ts';

/** An applied configuration that cannot be read: wrong kind (400), or a type mismatch (500, as upstream). */
export class ApplyError extends Error {
  readonly status: 400 | 500;

  constructor(status: 400 | 500, message: string) {
    super(message);
    this.name = 'ApplyError';
    this.status = status;
  }

  /** Builds the same API status as kube-apiserver. */
  toApiStatusError(): ApiStatusError {
    if (this.status === 400) return statusError.badRequest(this.message);
    return new ApiStatusError(
      { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: this.message, code: 500 },
      { cause: this },
    );
  }
}

/** A field that an applied configuration would take from another manager. */
export interface ApplyConflict {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource?: string;
  time?: string;
  /** e.g. `.spec.containers[name="a"].image` */
  field: string;
}

/** The configuration changes fields that others own, without force. */
export class ApplyConflictError extends Error {
  readonly conflicts: readonly ApplyConflict[];

  constructor(conflicts: readonly ApplyConflict[]) {
    super(conflictMessage(conflicts));
    this.name = 'ApplyConflictError';
    this.conflicts = conflicts;
  }

  toStatusCauses(): StatusCause[] {
    return this.conflicts.map((conflict) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${describeManager(conflict)}`,
      field: conflict.field,
    }));
  }

  /** Builds the same API status as kube-apiserver. */
  toApiStatusError(): ApiStatusError {
    return statusError.applyConflict(this.message, this.toStatusCauses());
  }
}

function conflictMessage(conflicts: readonly ApplyConflict[]): string {
  const [only] = conflicts;
  if (only && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${describeManager(only)}: ${only.field}`;
  }
  const lines: string[] = [];
  let previous: string | undefined;
  for (const conflict of conflicts) {
    const manager = describeManager(conflict);
    if (manager !== previous) lines.push(`conflicts with ${manager}:`);
    previous = manager;
    lines.push(`- ${conflict.field}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function describeManager(conflict: ApplyConflict): string {
  let text = JSON.stringify(conflict.manager);
  if (conflict.subresource !== undefined && conflict.subresource !== '') {
    text += ` with subresource ${JSON.stringify(conflict.subresource)}`;
  }
  return conflict.operation === 'Update' ? `${text} using ${conflict.apiVersion}` : text;
}
