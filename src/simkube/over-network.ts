import { isIP, isIPv6 } from 'node:net';
import { type Client, type HttpClient, httpClient, staticCredentials } from '../client/index.ts';
import { type Clock, must, type Random, statusError } from '../machinery/index.ts';
import type { ApiCredentials, PortService, ReachableApi } from './types.ts';

export interface OverNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** Clients retry by themselves after this time. */
const requestTimeoutMs = 10_000;
/** A node sends one request at a time; watches have connections of their own. */
const maxConnections = 2;
const maxEndpoints = 4_096;
const maxClients = 64;
/** Paths without authentication. Simulated machines may load nothing else from outside. */
const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/**
 * Connects simulated components to Kubernetes APIs outside of this process, over HTTPS with the credentials of the
 * caller. Whether the API answers is unknown before the first request.
 */
export function overNetwork(options: OverNetworkOptions): (host: string, port: number) => PortService {
  const known = new Map<string, PortService>();
  return (host, port) => {
    const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
    return recent(known, authority, maxEndpoints, () => ({
      api: remoteApi(`https://${authority}`, options),
      // Raw bytes are not forwarded. A caller with a socket can connect directly.
      accept: (socket) => void socket.destroy(),
    }));
  };
}

function remoteApi(server: string, { clock, random }: OverNetworkOptions): ReachableApi {
  const clients = new Map<string, HttpClient>();
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  const open = ({ certificateAuthority, clientCertificate, token, serverName }: ApiCredentials): HttpClient =>
    httpClient(
      {
        server,
        ...(certificateAuthority === undefined ? { insecureSkipTlsVerify: true } : { certificateAuthority }),
        // TLS server names cannot be addresses; then the certificate is verified against the dialled host.
        ...(serverName !== host && isIP(serverName) === 0 && { tlsServerName: serverName }),
        credentials: staticCredentials({
          ...(clientCertificate && { clientCertificate }),
          ...(token !== undefined && { token }),
        }),
        namespace: 'default',
        context: '',
      },
      { userAgent: 'kubelet', clock, random, requestTimeoutMs, maxAttempts: 1, maxConnections },
    );
  const connect = (credentials: ApiCredentials): HttpClient => {
    const { certificateAuthority = '', clientCertificate, token = '', serverName } = credentials;
    const key = [certificateAuthority, clientCertificate?.certificate ?? '', token, serverName].join('\n');
    // An evicted client is not closed: its users continue, and idle connections end by themselves.
    return recent(clients, key, maxClients, () => open(credentials));
  };
  return {
    connect: (credentials): Client => connect(credentials),
    async raw(path) {
      const [plain = ''] = path.split('?');
      if (!healthPaths.has(plain))
        throw Object.assign(new Error(`nothing is loaded from ${server}`), { code: 'EACCES' });
      return (await connect({ certificateAuthority: undefined, serverName: host }).raw(path)).body;
    },
    async portForward() {
      throw statusError.serviceUnavailable(`streams to Pods of ${server} need a client of its own`);
    },
  };
}

/** Returns a cached value or creates it. Evicts the least recently used entry beyond the limit. */
function recent<T>(known: Map<string, T>, key: string, limit: number, make: () => T): T {
  const found = known.get(key) ?? make();
  known.delete(key);
  known.set(key, found);
  if (known.size > limit) known.delete(must(known.keys().next().value, 'the oldest'));
  return found;
}
