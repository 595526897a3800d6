import type { Duplex } from 'node:stream';
import type { Client } from '../client/index.ts';

// Where callers meet the programs of a simulated Kubernetes, whichever machine or Pod these run on.

/** How a caller shows who it is, and whom it believes; the same facts a kubeconfig holds. */
export interface ApiCredentials {
  /** PEM of the authorities the caller trusts; undefined: it does not check */
  readonly certificateAuthority: string | undefined;
  /** PEM */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  readonly token?: string;
  /** the name or address the caller dialled, which the serving certificate must be good for */
  readonly serverName: string;
}

/** A Kubernetes API as simulated callers use it; one in this process needs no bytes on a wire. */
export interface ReachableApi {
  /** The client a caller with these credentials gets; throws what a TLS handshake would fail with. */
  connect(credentials: ApiCredentials): Client;
  /** PEM of the certificate it serves with, as a caller sees it who trusts nobody yet; absent: only a handshake tells */
  servingCertificate?(): string;
  /** answers a GET of a path that is no resource, such as /healthz */
  raw(path: string): Promise<string>;
  /** a byte stream to a port of a Pod */
  portForward(pod: { namespace: string; name: string }, port: number): Promise<Duplex>;
}

/** What a GET was answered with. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** What answers at one port of one machine. */
export interface PortService {
  /** a connection came in over a real socket */
  accept(socket: Duplex): void;
  readonly api?: ReachableApi;
  /** Answers a GET of a path as probes send it, without bytes and handshakes; absent: it does not speak HTTP. */
  readonly get?: (path: string) => Promise<HttpAnswer>;
}
