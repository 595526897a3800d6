import { CapstanError, type ErrorCode, sentenceEnd, trimTrailing } from '../../machinery/index.ts';

/** Kind of an error, as far as callers may need to distinguish. */
export type OpenStackErrorKind =
  /** the resource does not exist (any more) */
  | 'notFound'
  /** in use, already exists, or in a state that does not allow the request */
  | 'conflict'
  /** the load balancer is busy with an earlier change */
  | 'immutable'
  | 'quota'
  | 'forbidden'
  | 'unauthorized'
  | 'badRequest'
  /** changed by somebody else since it was read */
  | 'precondition'
  | 'tooMany'
  /** a gateway or service is temporarily unavailable */
  | 'unavailable'
  /** the service failed internally */
  | 'internal'
  /** the cloud is too old or lacks the feature */
  | 'unsupported'
  /** no connection, or a broken one */
  | 'network'
  | 'tls'
  | 'timeout'
  /** the response did not come from an OpenStack service */
  | 'notOpenStack'
  /** the catalogue lacks the service, region or interface */
  | 'noService'
  /** several resources have the name */
  | 'ambiguous'
  /** an invalid response */
  | 'unexpected';

export interface OpenStackErrorOptions {
  readonly kind: OpenStackErrorKind;
  /** service type: `compute`, `network`, … */
  readonly service: string;
  /** the cause, if possible in the cloud's own words */
  readonly detail: string;
  /** advice for the reader */
  readonly cure?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  /** neutron's error name, such as `PortNotFound` */
  readonly type?: string | undefined;
  readonly requestId?: string | undefined;
  /** wait requested by the cloud */
  readonly retryAfterMs?: number | undefined;
  /** the request cannot have reached the service */
  readonly notSent?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * Any failure of a cloud request. The one-line message names the request, the cause and the cure. Never contains
 * secrets.
 */
export class OpenStackError extends CapstanError {
  readonly kind: OpenStackErrorKind;
  readonly service: string;
  readonly detail: string;
  readonly cure: string | undefined;
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly notSent: boolean;

  constructor(options: OpenStackErrorOptions) {
    super(codes[options.kind], oneLine(options), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OpenStackError';
    this.kind = options.kind;
    this.service = options.service;
    this.detail = options.detail;
    this.cure = options.cure;
    this.method = options.method;
    this.path = options.path;
    this.status = options.status;
    this.type = options.type;
    this.requestId = options.requestId;
    this.retryAfterMs = options.retryAfterMs;
    this.notSent = options.notSent ?? false;
  }
}

const codes: Readonly<Record<OpenStackErrorKind, ErrorCode>> = {
  notFound: 'CAP_OPENSTACK_NOT_FOUND',
  conflict: 'CAP_OPENSTACK_CONFLICT',
  immutable: 'CAP_OPENSTACK_IMMUTABLE',
  quota: 'CAP_OPENSTACK_QUOTA',
  forbidden: 'CAP_OPENSTACK_FORBIDDEN',
  unauthorized: 'CAP_OPENSTACK_UNAUTHORIZED',
  badRequest: 'CAP_OPENSTACK_BAD_REQUEST',
  precondition: 'CAP_OPENSTACK_PRECONDITION',
  tooMany: 'CAP_OPENSTACK_TOO_MANY',
  unavailable: 'CAP_OPENSTACK_UNAVAILABLE',
  internal: 'CAP_OPENSTACK_INTERNAL',
  unsupported: 'CAP_OPENSTACK_UNSUPPORTED',
  network: 'CAP_OPENSTACK_NETWORK',
  tls: 'CAP_OPENSTACK_TLS',
  timeout: 'CAP_OPENSTACK_TIMEOUT',
  notOpenStack: 'CAP_OPENSTACK_NOT_OPEN_STACK',
  noService: 'CAP_OPENSTACK_NO_SERVICE',
  ambiguous: 'CAP_OPENSTACK_AMBIGUOUS',
  unexpected: 'CAP_OPENSTACK_UNEXPECTED',
};

function oneLine(options: OpenStackErrorOptions): string {
  const facts: string[] = [];
  if (options.method !== undefined) facts.push(`${options.method} ${options.path ?? ''}`.trimEnd());
  if (options.status !== undefined) facts.push(`HTTP ${options.status}`);
  if (options.requestId !== undefined) facts.push(options.requestId);
  const detail = trimTrailing(options.detail, sentenceEnd);
  const where = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const cure = options.cure === undefined ? '' : `; ${options.cure}`;
  return `${options.service}: ${detail}${where}${cure}`;
}

export function isOpenStackError(error: unknown, ...kinds: OpenStackErrorKind[]): error is OpenStackError {
  return error instanceof OpenStackError && (kinds.length === 0 || kinds.includes(error.kind));
}

export function isNotFound(error: unknown): error is OpenStackError {
  return isOpenStackError(error, 'notFound');
}

/** Returns the result, or undefined if the resource does not exist. */
export async function orUndefined<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
