import { lookup } from 'node:dns';
import { promisify } from 'node:util';
import { CapstanError, checkPeerHost, guardedLookup } from '../../machinery/index.ts';
import type { ConnectionConfig, ConnectionGuard } from '../kubeconfig/types.ts';

// Restrictions for servers that somebody other than the operator named.

/** Throws PeerRefusedError if the server or its proxy is not allowed. */
export async function checkServer({ guard, server, proxyUrl, dial }: ConnectionConfig): Promise<void> {
  if (!guard || dial) return;
  const asked = new URL(proxyUrl ?? server);
  checkPeerHost(guard.peers, asked.hostname);
  // SOCKS proxies resolve names themselves, so the address cannot be checked later.
  if (/^socks/.test(asked.protocol)) {
    const { address } = await promisify(lookup)(asked.hostname);
    checkPeerHost(guard.peers, address);
  }
}

/** Lookup function for sockets that resolves only to allowed addresses. */
export function lookupOption({ guard }: ConnectionConfig): { lookup?: never } {
  return guard ? { lookup: guardedLookup(guard.peers, lookup as never) as never } : {};
}

/** Reads a body as text, up to the size limit of the guard. */
export async function readText(
  body: AsyncIterable<Buffer> & { text(): Promise<string> },
  guard: ConnectionGuard | undefined,
): Promise<string> {
  if (!guard) return await body.text();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > guard.maxAnswerBytes) {
      throw new CapstanError(
        'CAP_ANSWER_TOO_LARGE',
        `the server answered with more than ${guard.maxAnswerBytes} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
