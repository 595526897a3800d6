import { accessNamespace } from '../self/names.ts';

/** On a LatticeCluster at its parent: a new token is made, and the certificate got with it takes the place of the one before. */
export const newTokenAnnotation = 'lattice.dev/new-token';

/** In a cluster: where its parent is, and the token for the first certificate. */
export const parentConfigKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-parent-config',
};
/** In a cluster: what it shows to its parent. */
export const agentCredentialsKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-agent-credentials',
};
/** At a parent: who signs the certificates of both sides. */
export const authorityKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-cell-ca',
};
/** At a parent: the Service that leads to its endpoints, and the ConfigMap that says where they are. */
export const cellKey: { namespace: string; name: string } = { namespace: accessNamespace, name: 'lattice-cell' };
/** At a parent: the hash of a token, and the key a cluster has been known by since. */
export const enrolmentKey = (cluster: string): { namespace: string; name: string } => ({
  namespace: accessNamespace,
  name: `bootstrap-token-${cluster}`,
});

/** Of the certificates of agents. */
export const agentOrganization = 'lattice.dev:agents';
/** What both sides speak after the handshake of TLS. */
export const agentProtocol = 'lattice-agent/1';

export const manifestsPath = (cluster: string): string => `/api/clusters/${cluster}/manifests`;
export const csrPath = (cluster: string): string => `/api/clusters/${cluster}/csr`;

export const defaultPorts = { bootstrap: 8443, agents: 50051 } as const;

export const linkTimes = {
  connectMs: 10_000,
  heartbeatMs: 30_000,
  /** how long an answer to a heartbeat may take */
  answerMs: 20_000,
  /** a side that has heard nothing for so long begins anew */
  silenceMs: 90_000,
  tokenMs: 3_600_000,
} as const;
