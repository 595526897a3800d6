import { parse, stringify } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/index.ts';

/** Address of an API and credentials of its user. */
export interface KubeconfigFacts {
  /** https://host:port */
  readonly server: string;
  readonly certificateAuthority: string | undefined;
  readonly user: string;
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  readonly token?: string;
  /** name expected in the serving certificate, if it differs from the server's */
  readonly tlsServerName?: string;
}

/**
 * Builds a kubeconfig with one cluster and one user, as kubeadm writes it. With `keyFile`, certificate and key are in a
 * separate file.
 */
export function renderKubeconfig(facts: KubeconfigFacts, clusterName: string, keyFile?: string): string {
  const { server, certificateAuthority, user, clientCertificate, token } = facts;
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const credentials: JsonObject =
    keyFile !== undefined
      ? { 'client-certificate': keyFile, 'client-key': keyFile }
      : clientCertificate
        ? {
            'client-certificate-data': encode(clientCertificate.certificate),
            'client-key-data': encode(clientCertificate.key),
          }
        : token === undefined
          ? {}
          : { token };
  const context = `${user}@${clusterName}`;
  return stringify(
    {
      apiVersion: 'v1',
      clusters: [
        {
          cluster: {
            ...(certificateAuthority !== undefined && {
              'certificate-authority-data': encode(certificateAuthority),
            }),
            server,
          },
          name: clusterName,
        },
      ],
      contexts: [{ context: { cluster: clusterName, user }, name: context }],
      'current-context': context,
      kind: 'Config',
      preferences: {},
      users: [{ name: user, user: credentials }],
    },
    { lineWidth: 0 },
  );
}

/**
 * Parses the current context of a kubeconfig. Referenced files are on the same disk. Undefined if it is not a
 * kubeconfig.
 */
export function readKubeconfig(
  text: string,
  disk: { read(path: string): string | undefined },
): KubeconfigFacts | undefined {
  let config: JsonValue;
  try {
    config = parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isJsonObject(config)) return undefined;
  const named = (list: JsonValue | undefined, name: JsonValue | undefined): JsonObject | undefined =>
    Array.isArray(list)
      ? list.filter(isJsonObject).find((item) => name === undefined || item['name'] === name)
      : undefined;
  const inner = (item: JsonObject | undefined, field: string): JsonObject => {
    const value = item?.[field];
    return isJsonObject(value) ? value : {};
  };
  const currentContext = config['current-context'];
  const context = inner(named(config['contexts'], currentContext === '' ? undefined : currentContext), 'context');
  const cluster = inner(named(config['clusters'], context['cluster']), 'cluster');
  const userName = context['user'];
  const user = inner(named(config['users'], userName), 'user');
  const { server } = cluster;
  if (typeof server !== 'string') return undefined;
  const content = (holder: JsonObject, name: string): string | undefined => {
    const data = holder[`${name}-data`];
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString('utf8');
    const path = holder[name];
    return typeof path === 'string' ? disk.read(path) : undefined;
  };
  const certificate = content(user, 'client-certificate');
  const key = content(user, 'client-key');
  const { token } = user;
  const tlsServerName = cluster['tls-server-name'];
  return {
    server,
    certificateAuthority: content(cluster, 'certificate-authority'),
    user: typeof userName === 'string' ? userName : '',
    ...(certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } }),
    ...(typeof token === 'string' && { token }),
    ...(typeof tlsServerName === 'string' && tlsServerName !== '' && { tlsServerName }),
  };
}

/** Splits https://host:port into host and port. */
export function serverAddress(server: string): { host: string; port: number } {
  const url = new URL(server.includes('://') ? server : `https://${server}`);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? 443 : Number(url.port) };
}
