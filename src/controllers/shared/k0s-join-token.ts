import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { type BootstrapToken, formatToken, type TokenPurpose } from './bootstrap-token.ts';

export type K0sRole = 'worker' | 'controller';

/** Token properties that k0s requires, by role. */
export const k0sTokenPurposes: Readonly<Record<K0sRole, TokenPurpose>> = {
  worker: {
    usages: ['usage-bootstrap-api-auth', 'usage-bootstrap-authentication', 'usage-bootstrap-api-worker-calls'],
    description: 'made for a k0s worker that joins',
  },
  controller: {
    usages: ['usage-bootstrap-api-auth', 'usage-controller-join'],
    description: 'made for a k0s controller that joins',
  },
};

const userNames: Readonly<Record<K0sRole, string>> = {
  worker: 'kubelet-bootstrap',
  controller: 'controller-bootstrap',
};

export interface JoinTokenOptions {
  role: K0sRole;
  token: BootstrapToken;
  /** https:// URL of the API server, or of the join API for controllers */
  server: string;
  /** PEM; several certificates during a CA rotation */
  authority: string;
}

/** Renders the kubeconfig inside a join token. */
export function joinKubeconfig({ role, token, server, authority }: JoinTokenOptions): string {
  const name = 'k0s';
  const user = userNames[role];
  return stringify(
    {
      apiVersion: 'v1',
      clusters: [
        { cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') }, name },
      ],
      contexts: [{ context: { cluster: name, user }, name }],
      'current-context': name,
      kind: 'Config',
      users: [{ name: user, user: { token: formatToken(token) } }],
    },
    { lineWidth: 0 },
  );
}

/** Builds the content of `k0s worker --token-file`: a kubeconfig, gzipped and base64-encoded. */
export function k0sJoinToken(options: JoinTokenOptions): string {
  return gzipSync(joinKubeconfig(options), { level: 9 }).toString('base64');
}
