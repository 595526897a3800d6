import { lookup } from 'node:dns';
import { promisify } from 'node:util';
import { CapstanError, checkPeerHost, guardedLookup } from '../../machinery/index.ts';
import type { ConnectionConfig, ConnectionGuard } from '../kubeconfig/types.ts';

// What a server is held to that somebody else than the operator named.

/** Throws PeerRefusedError where the server, or the proxy before it, must not be asked. */
export async function checkServer({ guard, server, proxyUrl, dial }: ConnectionConfig): Promise<void> {
  if (!guard || dial) return;
  const asked = new URL(proxyUrl ?? server);
  checkPeerHost(guard.peers, asked.hostname);
  // proxies of this kind resolve names themselves: nothing of ours looks at the address later
  if (/^socks/.test(asked.protocol)) {
    const { address } = await promisify(lookup)(asked.hostname);
    checkPeerHost(guard.peers, address);
  }
}

/** For sockets: names lead to allowed addresses only. */
export function lookupOption({ guard }: ConnectionConfig): { lookup?: never } {
  return guard ? { lookup: guardedLookup(guard.peers, lookup as never) as never } : {};
}

/** A whole body as text; never holds more than the limit. */
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
