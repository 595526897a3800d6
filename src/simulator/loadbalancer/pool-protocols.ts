import { invalid } from './refusals.ts';

/** Pool protocols that a listener can forward to, by the listener's protocol. */
const matching: Readonly<Record<string, readonly string[]>> = {
  TCP: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  HTTP: ['HTTP', 'PROXY', 'PROXYV2'],
  HTTPS: ['HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  TERMINATED_HTTPS: ['HTTP', 'PROXY', 'PROXYV2'],
  UDP: ['UDP'],
  SCTP: ['SCTP'],
  PROMETHEUS: [],
};

export function checkPoolProtocol(listener: string, pool: string): void {
  if (matching[listener]?.includes(pool)) return;
  throw invalid(`The pool protocol '${pool}' is invalid while the listener protocol is '${listener}'.`);
}
