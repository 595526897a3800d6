import type { TransportResponse } from '../transport/types.ts';
import { type FaultText, isHtml, readFault } from './body.ts';
import { OpenStackError, type OpenStackErrorKind } from './openstack-error.ts';
import { safeText } from './redact.ts';

/** The failed request, as far as messages may reveal it. */
export interface FailedRequest {
  readonly service: string;
  readonly method: string;
  /** below the service's endpoint, without the query */
  readonly path: string;
  /** scheme, host and port */
  readonly origin: string;
  readonly secrets: Iterable<string>;
}

const decoder = new TextDecoder();

/** Converts an error response to an error with its cause. */
export function errorFromResponse(request: FailedRequest, response: TransportResponse, now: number): OpenStackError {
  const contentType = response.headers['content-type'] ?? '';
  const body = decoder.decode(response.body);
  const requestId = requestIdOf(response.headers);
  if (isForeignPage(response.status, contentType, body, requestId)) return foreignAnswer(request, response, body);
  const fault = readFault(contentType, body, requestId !== undefined) ?? { message: reasonOf(response.status) };
  const kind = kindOf(request.service, response.status, fault);
  return new OpenStackError({
    kind,
    service: request.service,
    detail: safeText(fault.message, request.secrets) || reasonOf(response.status),
    cure: cureOf(kind, request.service, fault),
    method: request.method,
    path: request.path,
    status: response.status,
    type: fault.type,
    requestId,
    retryAfterMs: retryAfterOf(response.headers['retry-after'], now),
  });
}

export function requestIdOf(headers: Readonly<Record<string, string>>): string | undefined {
  return headers['x-openstack-request-id'] ?? headers['x-compute-request-id'];
}

/** Parses Retry-After, which HTTP allows as seconds or a date. */
export function retryAfterOf(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Gateways in front of OpenStack legitimately answer these with HTML. */
const gatewayCodes: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Reports whether a page did not come from an OpenStack service. Services also answer HTML (glance's errors, unknown
 * paths), but with a request id or in the plain form of their frameworks.
 */
function isForeignPage(status: number, contentType: string, body: string, requestId: string | undefined): boolean {
  if (requestId !== undefined || !isHtml(contentType, body)) return false;
  return status < 400 || !(gatewayCodes.has(status) || isFrameworkPage(body));
}

function isFrameworkPage(html: string): boolean {
  const heading = /<title>\s*(\d{3}) [^<]*<\/title>/i.exec(html)?.[1];
  return heading !== undefined && !/<(script|style|link|img|center|hr)\b/i.test(html);
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Detects a response below 400 that is not a success: the page of a captive portal, or a redirect. */
export function misleadingAnswer(request: FailedRequest, response: TransportResponse): OpenStackError | undefined {
  if (redirects.has(response.status)) {
    const target = response.headers['location'];
    return new OpenStackError({
      kind: 'notOpenStack',
      service: request.service,
      detail: `${request.origin} redirects${target === undefined ? '' : ` to ${placeOf(target, request)}`}`,
      // Redirects are not followed, because the token must not be sent to another place.
      cure: `use the URL it leads to in ${request.service === 'identity' ? 'auth_url' : 'the service catalogue'}`,
      method: request.method,
      path: request.path,
      status: response.status,
    });
  }
  // nova and cinder sometimes label a response without a body as HTML.
  const isPage = response.body.length > 0 && response.headers['content-type']?.includes('text/html') === true;
  return isPage && requestIdOf(response.headers) === undefined ? foreignAnswer(request, response) : undefined;
}

/** Target of a redirect without private parts: only the host if it differs. */
function placeOf(target: string, { origin, secrets }: FailedRequest): string {
  if (!URL.canParse(target, origin)) return 'somewhere that is no URL';
  const url = new URL(target, origin);
  const path = url.origin === new URL(origin).origin ? url.pathname : '';
  return safeText(url.origin + path, secrets);
}

/** Builds the error for a response that did not come from an OpenStack service. */
export function foreignAnswer(request: FailedRequest, response: TransportResponse, body?: string): OpenStackError {
  const text = body ?? decoder.decode(response.body);
  const html = isHtml(response.headers['content-type'] ?? '', text);
  const what = html ? 'a web page' : 'something that is not JSON';
  return new OpenStackError({
    kind: 'notOpenStack',
    service: request.service,
    // The content is not revealed, because the user who named the server may not be entitled to read it.
    detail: `${request.origin} answered with ${what} instead of an OpenStack API answer`,
    cure:
      request.service === 'identity'
        ? 'check auth_url, and HTTPS_PROXY and NO_PROXY if a proxy is in between'
        : 'check the endpoint in the service catalogue, and HTTPS_PROXY and NO_PROXY if a proxy is in between',
    method: request.method,
    path: request.path,
    status: response.status,
  });
}

const kindByStatus: Readonly<Record<number, OpenStackErrorKind>> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  405: 'unsupported',
  406: 'unsupported',
  408: 'unavailable',
  409: 'conflict',
  410: 'notFound',
  412: 'precondition',
  413: 'badRequest',
  415: 'badRequest',
  429: 'tooMany',
  501: 'unsupported',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** nova 403 `Quota exceeded for …`, octavia 403 `Quota has been met for …`, cinder 413 `…ExceedsAvailableQuota…` */
const quotaText =
  /quota (?:exceeded|has been met|limit)|exceeds? (?:allowed|available)?[^.]*quota|exceededquota|overquota/i;
/**
 * octavia 409 `Load Balancer X is immutable and cannot be updated.`, `Invalid state PENDING_UPDATE of loadbalancer
 * resource X`
 */
const immutableText = /is immutable|invalid state pending_/i;

function kindOf(service: string, status: number, fault: FaultText): OpenStackErrorKind {
  if (fault.type === 'OverQuota') return 'quota';
  if ((status === 403 || status === 413) && quotaText.test(fault.message)) return 'quota';
  // cinder uses 413 for both; the text distinguishes an exceeded quota from too many requests.
  if (status === 413 && fault.retryAfter !== undefined) return /quota/i.test(fault.message) ? 'quota' : 'tooMany';
  if (status === 409 && service === 'load-balancer' && immutableText.test(fault.message)) return 'immutable';
  return kindByStatus[status] ?? (status >= 500 ? 'internal' : status >= 400 ? 'badRequest' : 'unexpected');
}

const cureByType: Readonly<Record<string, string>> = {
  IpAddressGenerationFailure: 'the subnet has no free address left: free some ports or use a larger subnet',
  ExternalIpAddressExhausted:
    'the external network has no free address left: release floating IPs or use another network',
  NoMoreIpAddresses: 'the network has no free address left: free some or use another network',
};

const cureByKind: Partial<Record<OpenStackErrorKind, string>> = {
  quota: 'free some of these resources or ask the operator of the cloud for more quota',
  forbidden: 'give the user a role that allows this, or use other credentials',
  immutable: 'the load balancer is still being changed: wait until it is ACTIVE',
  tooMany: 'the cloud limits the rate of requests: try again later',
  unavailable: 'the service is away for the moment: try again later',
  internal: 'this is a failure of the cloud: tell its operator, with the request id (it is in the log)',
};

/** Cures for errors whose kind says too little. For most of these, no other role would help. */
const cureByText: readonly (readonly [text: RegExp, cure: string])[] = [
  [/flavors with zero disk/i, 'give the server a root volume, or use a flavor with a disk'],
  [/flavor's (?:disk|memory) is too small/i, 'use a larger flavor, or a smaller image'],
  [
    /interface on external network/i,
    'use a network of the project and a floating IP, or have the network shared with the project',
  ],
  [
    /not allowed to create (?:a )?port on this network/i,
    'use a network of the project, or have this one shared with the project',
  ],
  [/is locked/i, 'unlock it, or ask whoever locked it'],
  [/\bimage\b[^.]{0,200} is (?:not active|deactivated)/i, 'use another image, or have this one activated'],
];

function cureOf(kind: OpenStackErrorKind, service: string, fault: FaultText): string | undefined {
  const fitting = cureByText.find(([text]) => text.test(fault.message));
  if (fitting) return fitting[1];
  if (kind === 'forbidden' && service === 'load-balancer') {
    return 'give the user the role load-balancer_member (where the cloud asks for it), or use other credentials';
  }
  if (fault.type !== undefined && cureByType[fault.type] !== undefined) return cureByType[fault.type];
  if (kind === 'unauthorized' && service !== 'identity') return 'the token was refused twice: check the credentials';
  return cureByKind[kind];
}

const reasons: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  409: 'conflict',
  429: 'too many requests',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway time-out',
};

function reasonOf(status: number): string {
  return reasons[status] ?? `HTTP ${status}`;
}
