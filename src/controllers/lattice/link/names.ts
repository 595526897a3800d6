import { accessNamespace } from '../self/names.ts';

/** Annotation of a LatticeCluster at its parent: requests a new token; its certificate replaces the previous one. */
export const newTokenAnnotation = 'lattice.dev/new-token';

/** Secret in a cluster with the location of its parent, and the token for its first certificate. */
export const parentConfigKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-parent-config',
};
/** Secret in a cluster with its client credentials for the parent. */
export const agentCredentialsKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-agent-credentials',
};
/** Secret of a parent with the CA for both sides. */
export const authorityKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-cell-ca',
};
/** Name of the parent's Service for its endpoints, and of the ConfigMap that describes them. */
export const cellKey: { namespace: string; name: string } = { namespace: accessNamespace, name: 'lattice-cell' };
/** Secret of a parent with a cluster's token hash and key hash. */
export const enrolmentKey = (cluster: string): { namespace: string; name: string } => ({
  namespace: accessNamespace,
  name: `bootstrap-token-${cluster}`,
});

/** Organization in agent certificates. */
export const agentOrganization = 'lattice.dev:agents';
/** ALPN protocol of the stream. */
export const agentProtocol = 'lattice-agent/1';

export const manifestsPath = (cluster: string): string => `/api/clusters/${cluster}/manifests`;
export const csrPath = (cluster: string): string => `/api/clusters/${cluster}/csr`;

export const defaultPorts = { bootstrap: 8443, agents: 50051 } as const;

export const linkTimes = {
  connectMs: 10_000,
  heartbeatMs: 30_000,
  /** timeout of a heartbeat response */
  answerMs: 20_000,
  /** a side that hears nothing for this long reconnects */
  silenceMs: 90_000,
  tokenMs: 3_600_000,
} as const;
