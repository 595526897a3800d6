import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { loadKubeconfig } from '../../src/client/index.ts';

export interface Answer {
  status: number;
  body: Buffer;
}

/**
 * A connection to an API server. Both implementations handle their protocol directly and decode only what a benchmark
 * needs, so that the server is measured and not the load generator.
 */
export interface Connection {
  send(method: string, path: string, body?: Buffer): Promise<Answer>;
  /** resolves once the answer has begun; `onData` receives the body without framing */
  stream(path: string, onData: (bytes: Buffer) => void): Promise<void>;
  close(): void;
}

export type Protocol = 'h1' | 'h2';

/** Address and credentials of a server. */
export interface Endpoint {
  host: string;
  port: number;
  tls: ConnectionOptions;
  /** additional header fields, in lower case */
  headers: Readonly<Record<string, string>>;
}

export async function endpointOf(kubeconfig: string): Promise<Endpoint> {
  const config = await loadKubeconfig({ path: kubeconfig, env: process.env });
  const url = new URL(config.server);
  const { token, clientCertificate } = await config.credentials.get();
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 443),
    tls: {
      ...(config.certificateAuthority !== undefined && { ca: config.certificateAuthority }),
      ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
      ...(config.insecureSkipTlsVerify && { rejectUnauthorized: false }),
      ...(config.tlsServerName !== undefined && { servername: config.tlsServerName }),
    },
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}

export function openSocket(endpoint: Endpoint, alpn: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { host, port, tls } = endpoint;
    const socket = connect({ ...tls, host, port, ALPNProtocols: [alpn] });
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      if (socket.alpnProtocol === alpn) resolve(socket);
      else reject(new Error(`${host}:${port} does not speak ${alpn}`));
    });
  });
}
