import { X509Certificate } from 'node:crypto';
import type { Secret } from '../../../api/index.ts';
import { splitCertificates } from '../../../pki/index.ts';
import { hashOfKey } from './authority.ts';
import { agentCredentialsKey, parentConfigKey } from './names.ts';

/** Location of a parent's endpoints. */
export interface CellEndpoint {
  readonly host: string;
  readonly bootstrapPort: number;
  readonly agentPort: number;
  /** PEM */
  readonly authority: string;
}

/** Configuration of a cluster for its parent. */
export interface ParentConfig extends CellEndpoint {
  readonly cluster: string;
  /** uid of the parent's kube-system namespace */
  readonly parent: string;
  readonly token: string;
}

export const textIn = (secret: Secret | undefined, name: string): string =>
  Buffer.from(secret?.data?.[name] ?? '', 'base64').toString('utf8');

const encoded = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));

export function configSecret(config: ParentConfig): Secret {
  const { host, bootstrapPort, agentPort, authority, cluster, parent, token } = config;
  const data = encoded({
    cell_endpoint: `${host}:${bootstrapPort}:${agentPort}`,
    'ca.crt': authority,
    cluster,
    parent,
    token,
  });
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...parentConfigKey }, type: 'Opaque', data };
}

export function configOf(secret: Secret | undefined): ParentConfig | undefined {
  const [, host, bootstrap, agents] = /^(.+):(\d{1,5}):(\d{1,5})$/.exec(textIn(secret, 'cell_endpoint')) ?? [];
  const authority = textIn(secret, 'ca.crt');
  const cluster = textIn(secret, 'cluster');
  if (host === undefined || !isCertificate(authority) || cluster === '') return undefined;
  return {
    host: host.replace(/^\[|\]$/g, ''),
    bootstrapPort: Number(bootstrap),
    agentPort: Number(agents),
    authority,
    cluster,
    parent: textIn(secret, 'parent'),
    token: textIn(secret, 'token'),
  };
}

/** Client credentials of a cluster; `next*` are prepared to replace them. */
export interface AgentCredentials {
  readonly certificate: string;
  readonly key: string;
  /** hash of the token that was exchanged for them */
  readonly tokenHash: string;
  readonly nextKey: string;
  readonly nextTokenHash: string;
}

export const credentialsOf = (secret: Secret | undefined): AgentCredentials => ({
  certificate: textIn(secret, 'tls.crt'),
  key: textIn(secret, 'tls.key'),
  tokenHash: textIn(secret, 'token-sha256'),
  nextKey: textIn(secret, 'next.key'),
  nextTokenHash: textIn(secret, 'next-token-sha256'),
});

export function credentialsSecret(credentials: AgentCredentials): Secret {
  const { certificate, key, tokenHash, nextKey, nextTokenHash } = credentials;
  const data = encoded({
    'tls.crt': certificate,
    'tls.key': key,
    'token-sha256': tokenHash,
    'next.key': nextKey,
    'next-token-sha256': nextTokenHash,
  });
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...agentCredentialsKey }, type: 'Opaque', data };
}

/** Returns key hash and expiry of a certificate; undefined if another CA signed it. */
export function certificateFacts(
  certificate: string,
  authority: string,
): { keyHash: string; notBefore: number; notAfter: number } | undefined {
  if (!isCertificate(certificate) || !isCertificate(authority)) return undefined;
  const shown = new X509Certificate(certificate);
  const [signer = ''] = splitCertificates(authority);
  if (!shown.verify(new X509Certificate(signer).publicKey)) return undefined;
  return {
    keyHash: hashOfKey(shown.publicKey),
    notBefore: Date.parse(shown.validFrom),
    notAfter: Date.parse(shown.validTo),
  };
}

function isCertificate(text: string): boolean {
  if (!text.includes('-----BEGIN CERTIFICATE')) return false;
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
