import { isIP, isIPv6 } from 'node:net';
import { type Client, type HttpClient, httpClient, staticCredentials } from '../client/index.ts';
import { type Clock, must, type Random, statusError } from '../machinery/index.ts';
import type { ApiCredentials, PortService, ReachableApi } from './types.ts';

export interface OverNetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** whoever is not answered within this time tries again by itself */
const requestTimeoutMs = 10_000;
/** A node asks one thing at a time; its watches have connections of their own. */
const maxConnections = 2;
const maxEndpoints = 4_096;
const maxClients = 64;
/** what anybody may ask; nothing else of the world is for simulated machines to load */
const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/**
 * Kubernetes APIs beyond this process, for what is simulated in it: reached over HTTPS with the credentials of whoever asks.
 * That one answers is not known before it is asked.
 */
export function overNetwork(options: OverNetworkOptions): (host: string, port: number) => PortService {
  const known = new Map<string, PortService>();
  return (host, port) => {
    const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
    return recent(known, authority, maxEndpoints, () => ({
      api: remoteApi(`https://${authority}`, options),
      // Bytes of others do not pass through here: who has a socket can dial by itself.
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
        // TLS names no addresses: the certificate is held against the one that is dialled.
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
    // One that is pushed out is not closed: whoever still has it goes on, and its idle connections end by themselves.
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

/** What is known under a key, made when it is not; the one not asked for the longest goes when there are too many. */
function recent<T>(known: Map<string, T>, key: string, limit: number, make: () => T): T {
  const found = known.get(key) ?? make();
  known.delete(key);
  known.set(key, found);
  if (known.size > limit) known.delete(must(known.keys().next().value, 'the oldest'));
  return found;
}
