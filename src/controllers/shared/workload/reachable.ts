import { lookup } from 'node:dns';
import { connect } from 'node:net';
import { ApiUnreachableError } from '../../../client/index.ts';
import { anyPeer, checkPeerHost, guardedLookup, type PeerPolicy } from '../../../machinery/index.ts';

/**
 * Resolves once a URL's host and port accept connections. Much cheaper than a TLS request, for frequent polls of a
 * starting server.
 */
export function reachable(url: string, signal: AbortSignal, peers: PeerPolicy = anyPeer): Promise<void> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    checkPeerHost(peers, host);
    const socket = connect({
      host,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      lookup: guardedLookup(peers, lookup as never) as never,
    });
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      settle();
    };
    const onAbort = (): void => end(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => end(resolve));
    socket.once('error', (error) =>
      end(() => reject(new ApiUnreachableError(`connection to ${url} failed: ${error.message}`, { cause: error }))),
    );
  });
}
