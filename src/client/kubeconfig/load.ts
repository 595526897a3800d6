import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { type Clock, errorMessage, type JsonObject, systemClock, trimTrailing } from '../../machinery/index.ts';
import { staticCredentials, tokenFileCredentials } from './credentials.ts';
import { kubeconfigError } from './errors.ts';
import { execCredentials } from './exec-plugin.ts';
import { inClusterConfig } from './in-cluster.ts';
import { proxyFromEnvironment } from './proxy.ts';
import { type Environment, readKubeconfigs } from './read.ts';
import type {
  ConnectionConfig,
  Credential,
  CredentialSource,
  Impersonation,
  KubeconfigCluster,
  KubeconfigUser,
  Located,
  MergedKubeconfig,
} from './types.ts';

export interface LoadKubeconfigOptions {
  /** a file that must exist; default: $KUBECONFIG, then ~/.kube/config, then the service account of the pod */
  path?: string;
  env: Environment;
  /** overrides the current context */
  context?: string;
  clock?: Clock;
  /** allows exec plugins to ask questions at the terminal */
  interactive?: boolean;
  /** directory of the service account; for tests */
  serviceAccountDir?: string;
}

/** Loads a kubeconfig into a connection. Throws CapstanError `CAP_KUBECONFIG_*`. */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<ConnectionConfig> {
  const clock = options.clock ?? systemClock;
  const merged = await readKubeconfigs(options);
  const nothingChosen = options.context === undefined && merged.currentContext === undefined;
  if (nothingChosen && options.path === undefined) {
    const inside = await inClusterConfig({
      env: options.env,
      clock,
      ...(options.serviceAccountDir !== undefined && { serviceAccountDir: options.serviceAccountDir }),
    });
    if (inside) return inside;
  }
  return connectionFor(merged, options, clock);
}

async function connectionFor(
  merged: MergedKubeconfig,
  options: LoadKubeconfigOptions,
  clock: Clock,
): Promise<ConnectionConfig> {
  const { context: asked, env } = options;
  const where = merged.files.length > 0 ? merged.files.join(', ') : 'no kubeconfig file';
  const known = [...merged.contexts.keys()];
  const contextName = asked ?? merged.currentContext;
  if (contextName === undefined) {
    throw kubeconfigError(
      merged.files.length === 0 ? 'CAP_KUBECONFIG_NOT_FOUND' : 'CAP_KUBECONFIG_CONTEXT',
      merged.files.length === 0 ? 'no kubeconfig was found' : `no current context is set in ${where}`,
      merged.files.length === 0
        ? 'start a management API with `capstan up`, or name a file with --kubeconfig or KUBECONFIG'
        : `choose one with --context${known.length > 0 ? `: ${known.join(', ')}` : ''}`,
    );
  }
  const context = merged.contexts.get(contextName);
  if (!context) {
    throw kubeconfigError(
      'CAP_KUBECONFIG_CONTEXT',
      `context "${contextName}" does not exist in ${where}`,
      known.length > 0 ? `choose one of: ${known.join(', ')}` : 'the file defines no contexts',
    );
  }
  const cluster = entry(merged.clusters, {
    kind: 'cluster',
    name: context.value.cluster,
    contextName,
    contextFile: context.file,
  });
  const userName = context.value.user;
  const user: Located<KubeconfigUser> =
    userName === undefined || userName === ''
      ? { value: {}, file: context.file }
      : entry(merged.users, { kind: 'user', name: userName, contextName, contextFile: context.file });
  const server = checkedServer(cluster, context.value.cluster ?? '');
  const ca = await embeddedOrFile({
    data: cluster.value['certificate-authority-data'],
    path: cluster.value['certificate-authority'],
    kubeconfig: cluster.file,
    entryName: `cluster "${context.value.cluster}"`,
    field: 'certificate-authority',
  });
  const insecure = cluster.value['insecure-skip-tls-verify'] === true;
  if (insecure && ca !== undefined) {
    throw kubeconfigError(
      'CAP_KUBECONFIG_ENTRY',
      `cluster "${context.value.cluster}" in ${cluster.file} has both a certificate authority and insecure-skip-tls-verify`,
      'remove insecure-skip-tls-verify',
    );
  }
  const proxyUrl = cluster.value['proxy-url'] || proxyFromEnvironment(server, env);
  const impersonate = impersonation(user.value);
  return {
    server,
    ...(ca !== undefined && { certificateAuthority: ca }),
    ...(insecure && { insecureSkipTlsVerify: true }),
    ...(cluster.value['tls-server-name'] && { tlsServerName: cluster.value['tls-server-name'] }),
    ...(proxyUrl && { proxyUrl }),
    credentials: await credentialsOf({ user, userName: userName ?? '', cluster, ca }, options, clock),
    ...(impersonate && { impersonate }),
    namespace: context.value.namespace || 'default',
    context: contextName,
  };
}

interface WantedEntry {
  readonly kind: 'cluster' | 'user';
  readonly name: string | undefined;
  readonly contextName: string;
  readonly contextFile: string;
}

function entry<T>(entries: Map<string, Located<T>>, { kind, name, contextName, contextFile }: WantedEntry): Located<T> {
  const found = name === undefined ? undefined : entries.get(name);
  if (found) return found;
  throw kubeconfigError(
    'CAP_KUBECONFIG_ENTRY',
    name === undefined || name === ''
      ? `context "${contextName}" in ${contextFile} names no ${kind}`
      : `context "${contextName}" in ${contextFile} names ${kind} "${name}", which does not exist`,
    `add the ${kind} entry${entries.size > 0 ? `, or use one of: ${[...entries.keys()].join(', ')}` : ''}`,
  );
}

function checkedServer(cluster: Located<KubeconfigCluster>, name: string): string {
  const server = cluster.value.server ?? '';
  const withScheme = server.includes('://') || server === '' ? server : `https://${server}`;
  if (URL.canParse(withScheme) && /^https?:$/.test(new URL(withScheme).protocol)) return trimTrailing(withScheme, '/');
  throw kubeconfigError(
    'CAP_KUBECONFIG_ENTRY',
    `cluster "${name}" in ${cluster.file} has ${server === '' ? 'no server' : `the server ${JSON.stringify(server)}, which is not a URL`}`,
    'set server to the https:// address of the API server',
  );
}

interface EmbeddedOrFile {
  readonly data: string | undefined;
  readonly path: string | undefined;
  readonly kubeconfig: string;
  readonly entryName: string;
  readonly field: string;
}

/** `-data` overrides the file, as in kubectl; a relative path is relative to the kubeconfig. */
async function embeddedOrFile({
  data,
  path,
  kubeconfig,
  entryName,
  field,
}: EmbeddedOrFile): Promise<string | undefined> {
  if (data !== undefined && data !== '') {
    const text = Buffer.from(data, 'base64').toString('utf8');
    if (text.includes('-----BEGIN ')) return text;
    throw kubeconfigError(
      'CAP_KUBECONFIG_ENTRY',
      `${entryName} in ${kubeconfig}: ${field}-data is not base64 of a PEM file`,
      `encode the file with base64, or name it in ${field} instead`,
    );
  }
  if (path === undefined || path === '') return undefined;
  const absolute = isAbsolute(path) ? path : resolve(dirname(kubeconfig), path);
  try {
    return await readFile(absolute, 'utf8');
  } catch (error) {
    throw kubeconfigError(
      'CAP_KUBECONFIG_ENTRY',
      `${entryName} in ${kubeconfig}: cannot read ${field} ${absolute}: ${errorMessage(error)}`,
      'check the path and its permissions',
      error,
    );
  }
}

interface ChosenEntries {
  readonly user: Located<KubeconfigUser>;
  readonly userName: string;
  readonly cluster: Located<KubeconfigCluster>;
  readonly ca: string | undefined;
}

async function credentialsOf(
  { user, userName, cluster, ca }: ChosenEntries,
  options: LoadKubeconfigOptions,
  clock: Clock,
): Promise<CredentialSource> {
  const { value, file } = user;
  const label = `user "${userName}"`;
  const certificate = await embeddedOrFile({
    data: value['client-certificate-data'],
    path: value['client-certificate'],
    kubeconfig: file,
    entryName: label,
    field: 'client-certificate',
  });
  const key = await embeddedOrFile({
    data: value['client-key-data'],
    path: value['client-key'],
    kubeconfig: file,
    entryName: label,
    field: 'client-key',
  });
  if ((certificate === undefined) !== (key === undefined)) {
    throw kubeconfigError(
      'CAP_KUBECONFIG_ENTRY',
      `${label} in ${file} has ${certificate === undefined ? 'a client key but no client certificate' : 'a client certificate but no client key'}`,
      'give both, or neither',
    );
  }
  const fixed: Credential = {
    ...(certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } }),
    ...(value.token && { token: value.token }),
    ...(value.username && { basic: { username: value.username, password: value.password ?? '' } }),
  };
  if (value.tokenFile) {
    const path = isAbsolute(value.tokenFile) ? value.tokenFile : resolve(dirname(file), value.tokenFile);
    return tokenFileCredentials(path, clock, fixed);
  }
  if (Object.keys(fixed).length === 0 && value['auth-provider']) {
    throw kubeconfigError(
      'CAP_KUBECONFIG_ENTRY',
      `${label} in ${file} uses the auth-provider "${value['auth-provider'].name ?? ''}", which Kubernetes removed`,
      'replace it by the exec plugin of the same vendor',
    );
  }
  if (value.exec && fixed.token === undefined && fixed.basic === undefined) {
    return execCredentials({
      exec: value.exec,
      user: userName,
      file,
      cluster: execClusterInfo(cluster.value, ca),
      env: options.env,
      clock,
      ...(options.interactive !== undefined && { interactive: options.interactive }),
    });
  }
  return staticCredentials(fixed);
}

/** Builds `spec.cluster` of the plugin protocol; `config` is from the reserved extension. */
function execClusterInfo(cluster: KubeconfigCluster, ca: string | undefined): JsonObject {
  const extension = cluster.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec');
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'proxy-url': cluster['proxy-url'],
    config: extension?.extension as JsonObject | undefined,
  };
}

function impersonation(user: KubeconfigUser): Impersonation | undefined {
  if (!user.as) return undefined;
  return {
    user: user.as,
    ...(user['as-uid'] && { uid: user['as-uid'] }),
    ...(user['as-groups'] && { groups: user['as-groups'] }),
    ...(user['as-user-extra'] && { extra: user['as-user-extra'] }),
  };
}
