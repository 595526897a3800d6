import { errorMessage } from '../machinery/index.ts';

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ETIMEDOUT: 'i/o timeout',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ENOTFOUND: 'lookup failed: no such host',
  ECONNRESET: 'read: connection reset by peer',
};

/** Describes a connection failure in the words of Go's dialer. */
export function dialWords(error: unknown): string {
  const { code } = error as { code?: string };
  return words[code ?? ''] ?? errorMessage(error);
}
