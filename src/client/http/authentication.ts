import type { ConnectionConfig, Credential } from '../kubeconfig/types.ts';

/** What Node's TLS needs to trust the server and to show who we are. */
export interface TlsIdentity {
  ca?: string;
  cert?: string;
  key?: string;
  rejectUnauthorized?: false;
  servername?: string;
}

export function tlsIdentity(config: ConnectionConfig, credential: Credential): TlsIdentity {
  return {
    ...(config.certificateAuthority !== undefined && { ca: config.certificateAuthority }),
    ...(credential.clientCertificate && {
      cert: credential.clientCertificate.certificate,
      key: credential.clientCertificate.key,
    }),
    ...(config.insecureSkipTlsVerify === true && { rejectUnauthorized: false as const }),
    ...(config.tlsServerName !== undefined && { servername: config.tlsServerName }),
  };
}

/** Headers that say who asks, and as whom. */
export function identityHeaders(config: ConnectionConfig, credential: Credential): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (credential.token !== undefined) headers['authorization'] = `Bearer ${credential.token}`;
  else if (credential.basic) {
    const { username, password } = credential.basic;
    headers['authorization'] = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }
  const as = config.impersonate;
  if (as) {
    headers['impersonate-user'] = as.user;
    if (as.uid !== undefined) headers['impersonate-uid'] = as.uid;
    if (as.groups) headers['impersonate-group'] = as.groups;
    for (const [key, values] of Object.entries(as.extra ?? {})) {
      headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
    }
  }
  return headers;
}
