import { stringify } from 'yaml';
import { parseKubeconfig } from '../../client/index.ts';
import type { Clock } from '../../machinery/index.ts';
import { type CertificateAndKey, issueCertificate, parseCertificate } from '../../pki/index.ts';

export interface ClusterKubeconfigOptions {
  clusterName: string;
  /** https:// URL of the API server */
  server: string;
  /** CA of the API server */
  authority: CertificateAndKey;
  /** CA of clients, if different */
  clientAuthority?: CertificateAndKey;
  clock: Clock;
}

/** Builds the URL of an endpoint; IPv6 hosts in brackets. */
export function endpointUrl(endpoint: { host: string; port: number }): string {
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  return `https://${host}:${endpoint.port}`;
}

/** Content of a kubeconfig for one user of one cluster. */
export interface KubeconfigContent {
  /** https:// URL of the API server */
  server: string;
  /** PEM of all trusted CAs */
  trust: string;
  /** client certificate and key */
  pair: CertificateAndKey;
  /** names of its entries */
  cluster: string;
  user: string;
  context: string;
}

/** Renders a kubeconfig with the keys in upstream's order. */
export function kubeconfigText({ server, trust, pair, cluster, user, context }: KubeconfigContent): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    clusters: [{ cluster: { 'certificate-authority-data': base64(trust), server }, name: cluster }],
    contexts: [{ context: { cluster, user }, name: context }],
    'current-context': context,
    kind: 'Config',
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(pair.certificate), 'client-key-data': base64(pair.privateKey) },
      },
    ],
  });
}

/** Creates an admin kubeconfig of a workload cluster, with upstream's entry names. */
export async function createClusterKubeconfig(options: ClusterKubeconfigOptions): Promise<string> {
  const { clusterName, server, authority, clock } = options;
  const pair = await issueCertificate({
    authority: options.clientAuthority ?? authority,
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usages: ['client'],
    clock,
  });
  const user = `${clusterName}-admin`;
  return kubeconfigText({
    server,
    trust: authority.certificate,
    pair,
    cluster: clusterName,
    user,
    context: `${user}@${clusterName}`,
  });
}

/** Tells whether half of the certificate's lifetime has passed, or the kubeconfig is unreadable. */
export function kubeconfigNeedsRotation(text: string, nowMs: number): boolean {
  try {
    const data = parseKubeconfig(text, 'of the cluster').users?.[0]?.user['client-certificate-data'];
    if (data === undefined) return false;
    const { notBefore, notAfter } = parseCertificate(Buffer.from(data, 'base64').toString('utf8'));
    return nowMs >= (notBefore + notAfter) / 2;
  } catch {
    return true;
  }
}
