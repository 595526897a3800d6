import {
  type ConnectionConfig,
  type KubeconfigFile,
  mergeKubeconfigs,
  parseKubeconfig,
  staticCredentials,
} from '../../../client/index.ts';
import { CapstanError, trimTrailing } from '../../../machinery/index.ts';

function refuse(what: string): CapstanError {
  return new CapstanError('CAP_WORKLOAD_KUBECONFIG', `the kubeconfig of the workload cluster cannot be used: ${what}`, {
    hint: 'correct the kubeconfig Secret, or delete it; it is then created again',
  });
}

/**
 * Reads the connection from a kubeconfig Secret. Security: whoever writes that Secret must gain nothing but a
 * connection, so nothing is executed and no file is read.
 */
export function workloadConnection(text: string, name: string): ConnectionConfig {
  const content: KubeconfigFile = parseKubeconfig(text, name);
  const merged = mergeKubeconfigs([{ path: name, content }]);
  const context = merged.currentContext === undefined ? undefined : merged.contexts.get(merged.currentContext)?.value;
  if (!context) throw refuse('it has no current context');
  const cluster = merged.clusters.get(context.cluster ?? '')?.value;
  const user = merged.users.get(context.user ?? '')?.value;
  if (!cluster?.server) throw refuse(`its cluster "${context.cluster ?? ''}" names no server`);
  if (!URL.canParse(cluster.server)) throw refuse(`its server ${JSON.stringify(cluster.server)} is not a URL`);
  if (!user) throw refuse(`its user "${context.user ?? ''}" does not exist`);
  if (user.exec || user['auth-provider']) throw refuse('it gets its credentials from a program');
  if (user.tokenFile || user['client-certificate'] || user['client-key'] || cluster['certificate-authority']) {
    throw refuse('it refers to files');
  }
  const ca = pem(cluster['certificate-authority-data'], 'certificate-authority-data');
  const certificate = pem(user['client-certificate-data'], 'client-certificate-data');
  const key = pem(user['client-key-data'], 'client-key-data');
  if ((certificate === undefined) !== (key === undefined))
    throw refuse('client certificate and key must come together');
  return {
    server: trimTrailing(cluster.server, '/'),
    ...(ca !== undefined && { certificateAuthority: ca }),
    ...(cluster['insecure-skip-tls-verify'] === true && { insecureSkipTlsVerify: true }),
    ...(cluster['tls-server-name'] && { tlsServerName: cluster['tls-server-name'] }),
    ...(cluster['proxy-url'] && { proxyUrl: cluster['proxy-url'] }),
    credentials: staticCredentials({
      ...(certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } }),
      ...(user.token && { token: user.token }),
      ...(user.username && { basic: { username: user.username, password: user.password ?? '' } }),
    }),
    namespace: context.namespace || 'default',
    context: merged.currentContext ?? '',
  };
}

function pem(data: string | undefined, field: string): string | undefined {
  if (data === undefined || data === '') return undefined;
  const text = Buffer.from(data, 'base64').toString('utf8');
  if (!text.includes('-----BEGIN ')) throw refuse(`${field} is not base64 of a PEM block`);
  return text;
}
