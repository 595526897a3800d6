import { type ApiStatusError, statusError } from '../../machinery/index.ts';
import type { Wire } from './wire.ts';

/** what the head of a request may hold, path and query included */
export const maxHeadBytes: number = 64 * 1024;
/** more than any client sends, such as one that impersonates a user of very many groups */
export const maxHeadFields = 1000;

/**
 * The refusal of a request with too large a head. The listener reads more than is allowed here, so that such a request is
 * seen whole, and refused with words and in the audit log instead of losing its last headers.
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

/** Which credentials a request that was not authenticated came with, in the words of kube-apiserver's audit log. */
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
