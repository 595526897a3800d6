import { type ApiStatusError, statusError } from '../../machinery/index.ts';
import type { Wire } from './wire.ts';

/** Maximum size of a request head, including path and query. */
export const maxHeadBytes: number = 64 * 1024;
/** More than any client sends, even one that impersonates a user with very many groups. */
export const maxHeadFields = 1000;

/**
 * Refuses a request with a too large head. The listener accepts larger heads than this, so that such a request gets an
 * error and an audit event instead of silently losing its last headers.
 */
export function refuseOversizedHead({ rawHeaders, url }: Wire): ApiStatusError | undefined {
  const fields = rawHeaders.length / 2;
  if (fields > maxHeadFields) {
    return statusError.headersTooLarge(`the request has ${fields} header fields, more than ${maxHeadFields}`);
  }
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length;
  if (bytes <= maxHeadBytes) return undefined;
  return statusError.headersTooLarge(`the head of the request is larger than ${maxHeadBytes} bytes`);
}

/** Lists the credentials of an unauthenticated request in the words of kube-apiserver's audit log. */
export function attemptedCredentials({ headers, url, socket }: Wire): string {
  const attempted: string[] = [];
  const authorization = headers.authorization?.trim().toLowerCase() ?? '';
  if (authorization.startsWith('basic ')) attempted.push('basic');
  if (authorization.startsWith('bearer ')) attempted.push('bearer');
  if (/[?&]access_token=[^&]/.test(url)) attempted.push('access_token');
  if (socket?.getPeerX509Certificate() !== undefined) attempted.push('x509');
  return attempted.length > 0
    ? `Authentication failed, attempted: ${attempted.join(', ')}`
    : 'Authentication failed, no credentials provided';
}
