import type { Duplex } from 'node:stream';
import type { Client } from '../client/index.ts';

// Interface to the programs of a simulated Kubernetes, independent of their machine or Pod.

/** Credentials and trust of a caller; the same data as in a kubeconfig. */
export interface ApiCredentials {
  /** PEM of trusted CA certificates; undefined: no verification */
  readonly certificateAuthority: string | undefined;
  /** PEM */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  readonly token?: string;
  /** the dialled name or address, which the serving certificate must contain */
  readonly serverName: string;
}

/** A Kubernetes API for simulated callers. An API in this process needs no wire protocol. */
export interface ReachableApi {
  /** Returns a client with these credentials. Throws the error of a failed TLS handshake. */
  connect(credentials: ApiCredentials): Client;
  /** PEM of the serving certificate, for callers without trust yet; absent: only a handshake reveals it */
  servingCertificate?(): string;
  /** answers a GET of a path that is not a resource, such as /healthz */
  raw(path: string): Promise<string>;
  /** opens a stream to a port of a Pod */
  portForward(pod: { namespace: string; name: string }, port: number): Promise<Duplex>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Service at one port of one machine or Pod. */
export interface PortService {
  /** accepts a connection from a real socket */
  accept(socket: Duplex): void;
  readonly api?: ReachableApi;
  /** Answers a GET of a probe without wire protocol or handshake; absent if it does not speak HTTP. */
  readonly get?: (path: string) => Promise<HttpAnswer>;
}
