import type { Duplex } from 'node:stream';
import type { PeerPolicy } from '../../machinery/index.ts';

/** The parts of a kubeconfig file we read. Unknown fields are left alone when a file is written. */
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

/** An entry together with the file it came from: paths inside it are relative to that file. */
export interface Located<T> {
  value: T;
  /** empty for configurations that were not read from a file */
  file: string;
}

/** Several kubeconfig files seen as one. */
export interface MergedKubeconfig {
  currentContext: string | undefined;
  clusters: Map<string, Located<KubeconfigCluster>>;
  users: Map<string, Located<KubeconfigUser>>;
  contexts: Map<string, Located<KubeconfigContext>>;
  /** files read, in order of precedence */
  files: string[];
}

/** What proves who we are, at one moment. */
export interface Credential {
  token?: string;
  basic?: { username: string; password: string };
  clientCertificate?: { certificate: string; key: string };
}

/** Where credentials come from; asked before every request, so it must be cheap when nothing changed. */
export interface CredentialSource {
  get(signal?: AbortSignal): Promise<Credential>;
  /** told when the server answered 401: the next `get` must not return what is cached. True when that may help. */
  refresh(): boolean;
}

export interface Impersonation {
  user: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

/** All that is needed to talk to one API server. */
/** How far a server is trusted that somebody else named. */
export interface ConnectionGuard {
  /** which addresses may be asked */
  readonly peers: PeerPolicy;
  /** the largest answer, and the largest event of a watch, that is taken */
  readonly maxAnswerBytes: number;
}

export interface ConnectionConfig {
  /** for servers that tenants name: limits, and nothing of an answer that is not Kubernetes' is shown */
  guard?: ConnectionGuard;
  /** base URL; a path in it is kept in front of every request */
  server: string;
  /** PEM; the system's authorities when absent */
  certificateAuthority?: string;
  insecureSkipTlsVerify?: boolean;
  /** name the server's certificate is checked against, when it differs from the host of `server` */
  tlsServerName?: string;
  /** http://, https:// or socks5:// URL */
  proxyUrl?: string;
  /** opens a stream to the server instead of a socket to its address */
  dial?: () => Promise<Duplex>;
  credentials: CredentialSource;
  impersonate?: Impersonation;
  /** namespace of the context; `default` when the context names none */
  namespace: string;
  /** name of the context; empty inside a cluster */
  context: string;
}
