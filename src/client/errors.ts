import { ApiStatusError, CapstanError, type Status } from '../machinery/index.ts';

/** A request without response: refused, reset or timed out. A write may or may not have been performed. */
export class ApiUnreachableError extends CapstanError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('CAP_API_UNREACHABLE', message, options);
    this.name = 'ApiUnreachableError';
  }
}

/** A watch stream with invalid data, or one that ended within an event. */
export class WatchDecodeError extends CapstanError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('CAP_WATCH_DECODE', message, options);
    this.name = 'WatchDecodeError';
  }
}

export const isUnreachable = (error: unknown): boolean => error instanceof ApiUnreachableError;

const reasonOfCode: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Maximum length of a quoted non-Status response, because proxies often return whole pages. */
const maxQuotedBody = 512;

/** Returns the error of a failed response: the Status of the server, otherwise one built from the HTTP code. */
export function errorFromResponse(
  code: number,
  body: string,
  request: string,
  options: { hidesForeign?: boolean } = {},
): ApiStatusError {
  const parsed = parseStatus(body);
  if (parsed) return new ApiStatusError({ ...parsed, code: parsed.code || code });
  const text = options.hidesForeign === true ? '' : body.trim().slice(0, maxQuotedBody);
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `the server answered ${code} to ${request}${text === '' ? '' : `: ${text}`}`,
    reason: reasonOfCode[code] ?? (code >= 500 ? 'InternalError' : 'Unknown'),
    code,
  });
}

function parseStatus(body: string): Status | undefined {
  if (!body.startsWith('{')) return undefined;
  try {
    const value = JSON.parse(body) as Partial<Status>;
    return value.kind === 'Status' ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}
