import type { Duplex } from 'node:stream';
import type { PeerPolicy } from '../../machinery/index.ts';

/** The fields of a kubeconfig that are read. Unknown fields are preserved on write. */
export interface KubeconfigCluster {
  server?: string;
  'tls-server-name'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'proxy-url'?: string;
  'disable-compression'?: boolean;
  extensions?: { name: string; extension: unknown }[];
}

export interface KubeconfigExec {
  apiVersion?: string;
  command?: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

export interface KubeconfigUser {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'as-user-extra'?: Record<string, string[]>;
  exec?: KubeconfigExec;
  'auth-provider'?: { name?: string };
}

export interface KubeconfigContext {
  cluster?: string;
  user?: string;
  namespace?: string;
}

export interface KubeconfigFile {
  apiVersion?: string;
  kind?: string;
  'current-context'?: string;
  clusters?: { name: string; cluster: KubeconfigCluster }[] | null;
  users?: { name: string; user: KubeconfigUser }[] | null;
  contexts?: { name: string; context: KubeconfigContext }[] | null;
}

/** An entry and its file; paths in the entry are relative to that file. */
export interface Located<T> {
  value: T;
  /** empty if not read from a file */
  file: string;
}

export interface MergedKubeconfig {
  currentContext: string | undefined;
  clusters: Map<string, Located<KubeconfigCluster>>;
  users: Map<string, Located<KubeconfigUser>>;
  contexts: Map<string, Located<KubeconfigContext>>;
  /** files in order of precedence */
  files: string[];
}

export interface Credential {
  token?: string;
  basic?: { username: string; password: string };
  clientCertificate?: { certificate: string; key: string };
}

/** Source of credentials. It is called before every request, so it must be cheap if nothing changed. */
export interface CredentialSource {
  get(signal?: AbortSignal): Promise<Credential>;
  /** called after a 401: the next `get` must not return cached credentials. Returns true if a retry may help */
  refresh(): boolean;
}

export interface Impersonation {
  user: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

/** Restrictions for a server that a tenant named. */
export interface ConnectionGuard {
  /** allowed addresses */
  readonly peers: PeerPolicy;
  /** maximum size of a response and of a watch event */
  readonly maxAnswerBytes: number;
}

export interface ConnectionConfig {
  /** for servers that tenants name: sets limits and hides responses that are no Kubernetes objects */
  guard?: ConnectionGuard;
  /** base URL; its path is the prefix of every request */
  server: string;
  /** PEM; default: system CAs */
  certificateAuthority?: string;
  insecureSkipTlsVerify?: boolean;
  /** host name to verify the certificate against, if it differs from that of `server` */
  tlsServerName?: string;
  /** http://, https:// or socks5:// URL */
  proxyUrl?: string;
  /** opens a stream to the server instead of a socket */
  dial?: () => Promise<Duplex>;
  credentials: CredentialSource;
  impersonate?: Impersonation;
  /** namespace of the context, by default `default` */
  namespace: string;
  /** name of the context; empty in a pod */
  context: string;
}
