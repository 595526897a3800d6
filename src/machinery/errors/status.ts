import { formatGroupResource } from '../meta/group-version-kind.ts';
import { aggregateText } from '../text/aggregate.ts';
import { causeReason, type FieldError, fieldErrorBody, formatFieldError } from './field-error.ts';

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The `Status` object that answers every failed request. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** An error of a local or remote Kubernetes API. Use the predicates below instead of comparing messages. */
export class ApiStatusError extends Error {
  readonly status: Status;

  constructor(status: Status, options?: { cause?: unknown }) {
    super(status.message ?? status.reason ?? `HTTP ${status.code}`, options);
    this.name = 'ApiStatusError';
    this.status = status;
  }

  get code(): number {
    return this.status.code;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }
}

interface Subject {
  group: string;
  /** plural resource name, or the kind where upstream uses the kind */
  resource: string;
  name?: string;
}

function failure(code: number, reason: string, message: string, details?: StatusDetails): ApiStatusError {
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason !== '' && { reason }),
    ...(details && { details }),
    code,
  });
}

function detailsOf(subject: Subject, extra?: Partial<StatusDetails>): StatusDetails {
  return {
    ...(subject.name !== undefined && subject.name !== '' && { name: subject.name }),
    ...(subject.group !== '' && { group: subject.group }),
    ...(subject.resource !== '' && { kind: subject.resource }),
    ...extra,
  };
}

/** Limits of an error response, so that it does not grow to many times the size of an object with very many errors. */
const maxFieldErrors = 1000;
const maxFieldErrorText = 1024 * 1024;

/** Selects the errors to report and formats them. */
function formatted(all: readonly FieldError[]): { errors: FieldError[]; texts: string[] } {
  const errors: FieldError[] = [];
  const texts: string[] = [];
  let length = 0;
  for (const error of all) {
    if (errors.length === maxFieldErrors || length > maxFieldErrorText) break;
    const text = formatFieldError(error);
    length += text.length;
    errors.push(error);
    texts.push(text);
  }
  return { errors, texts };
}

/** Constructors by kind of failure, with the wording of kube-apiserver. */
export const statusError = {
  notFound: (subject: Subject): ApiStatusError =>
    failure(
      404,
      'NotFound',
      `${formatGroupResource(subject.group, subject.resource)} "${subject.name ?? ''}" not found`,
      detailsOf(subject),
    ),
  /** the path itself does not exist */
  pathNotFound: (): ApiStatusError => failure(404, 'NotFound', 'the server could not find the requested resource', {}),
  alreadyExists: (subject: Subject): ApiStatusError =>
    failure(
      409,
      'AlreadyExists',
      `${formatGroupResource(subject.group, subject.resource)} "${subject.name ?? ''}" already exists`,
      detailsOf(subject),
    ),
  conflict: (subject: Subject, message: string): ApiStatusError =>
    failure(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${formatGroupResource(subject.group, subject.resource)} "${subject.name ?? ''}": ${message}`,
      detailsOf(subject),
    ),
  /** `kind` is the Kind, not the plural: upstream says `Deployment.apps "x" is invalid`. */
  invalid: (group: string, kind: string, name: string, all: readonly FieldError[]): ApiStatusError => {
    const { errors, texts } = formatted(all);
    const unique = [...new Set(texts)];
    if (all.length > errors.length) unique.push(`and ${all.length - errors.length} more`);
    const list = aggregateText(unique);
    return failure(
      422,
      'Invalid',
      `${formatGroupResource(group, kind)} "${name}" is invalid${errors.length > 0 ? `: ${list}` : ''}`,
      detailsOf(
        { group, resource: kind, name },
        {
          causes: errors.map((error) => ({
            reason: causeReason(error.type),
            message: fieldErrorBody(error),
            field: error.field === '' ? '<nil>' : error.field,
          })),
        },
      ),
    );
  },
  badRequest: (message: string): ApiStatusError => failure(400, 'BadRequest', message),
  unauthorized: (message = 'Unauthorized'): ApiStatusError => failure(401, 'Unauthorized', message),
  forbidden: (subject: Subject, message: string, causes?: StatusCause[]): ApiStatusError => {
    const resource = formatGroupResource(subject.group, subject.resource);
    const text =
      resource === ''
        ? `forbidden: ${message}`
        : subject.name === undefined || subject.name === ''
          ? `${resource} is forbidden: ${message}`
          : `${resource} "${subject.name}" is forbidden: ${message}`;
    return failure(403, 'Forbidden', text, detailsOf(subject, causes && { causes }));
  },
  methodNotSupported: (group: string, resource: string, verb: string): ApiStatusError =>
    failure(
      405,
      'MethodNotAllowed',
      `${verb} is not supported on resources of kind "${formatGroupResource(group, resource)}"`,
      detailsOf({ group, resource }),
    ),
  methodNotAllowed: (): ApiStatusError =>
    failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  notAcceptable: (message: string): ApiStatusError => failure(406, 'NotAcceptable', message),
  expired: (message: string): ApiStatusError => failure(410, 'Expired', message),
  gone: (message: string): ApiStatusError => failure(410, 'Gone', message),
  requestEntityTooLarge: (message: string): ApiStatusError => failure(413, 'RequestEntityTooLarge', message),
  unsupportedMediaType: (message: string): ApiStatusError => failure(415, 'UnsupportedMediaType', message),
  headersTooLarge: (message: string): ApiStatusError => failure(431, 'RequestHeaderFieldsTooLarge', message),
  tooManyRequests: (message: string, retryAfterSeconds = 1): ApiStatusError =>
    failure(429, 'TooManyRequests', message, { retryAfterSeconds }),
  internal: (message: string): ApiStatusError =>
    failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }),
  /** etcd rejected the object for its size; kube-apiserver passes on its message */
  storageTooLarge: (): ApiStatusError => failure(500, '', 'etcdserver: request is too large'),
  serviceUnavailable: (message: string): ApiStatusError => failure(503, 'ServiceUnavailable', message),
  timeout: (message: string, retryAfterSeconds = 1, causes?: StatusCause[]): ApiStatusError =>
    failure(504, 'Timeout', `Timeout: ${message}`, { retryAfterSeconds, ...(causes && { causes }) }),
  applyConflict: (message: string, causes: StatusCause[]): ApiStatusError =>
    failure(409, 'Conflict', message, { causes }),
};

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof ApiStatusError && error.reason === reason;
}

export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound');
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict');
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists');
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid');
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden');
export const isExpired = (error: unknown): boolean => hasReason(error, 'Expired') || hasReason(error, 'Gone');
export const isTooManyRequests = (error: unknown): boolean => hasReason(error, 'TooManyRequests');

/**
 * Reports whether the exact object no longer exists: it is not found, or another object has its name and the uid
 * precondition failed.
 */
export const isObjectGone = (error: unknown): boolean =>
  isNotFound(error) || (error instanceof ApiStatusError && /uid mismatch|UID in precondition/i.test(error.message));

/** Ignores NotFound and rethrows other errors: for deletes and optional reads. */
export function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}
