import { createSecureContext, type SecureContext } from 'node:tls';
import type { ConnectionConfig, Credential } from '../kubeconfig/types.ts';

/** TLS options for server trust and client identity. */
interface TlsIdentity {
  ca?: string;
  cert?: string;
  key?: string;
  rejectUnauthorized?: false;
  servername?: string;
}

function tlsIdentity(config: ConnectionConfig, credential: Credential): TlsIdentity {
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

/** TLS options of every connection to a server. */
export interface TlsConnection {
  secureContext?: SecureContext;
  rejectUnauthorized?: false;
  servername?: string;
}

const knownConnections = new WeakMap<Credential, { ca: string | undefined; connection: TlsConnection }>();

/** Parses keys and CAs once for all connections, because this costs more than the rest of the handshake. */
export function tlsConnection(config: ConnectionConfig, credential: Credential): TlsConnection {
  const { ca, cert, key, ...rest } = tlsIdentity(config, credential);
  const known = knownConnections.get(credential);
  if (known && known.ca === ca) return known.connection;
  const connection: TlsConnection = {
    ...rest,
    secureContext: createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    }),
  };
  knownConnections.set(credential, { ca, connection });
  return connection;
}

/** Returns the headers for authentication and impersonation. */
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
