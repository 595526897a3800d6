import { stringify } from 'yaml';
import {
  type BootstrapFile,
  type Cluster,
  KubeadmConfigs,
  type KubeadmDiscovery,
  type KubeadmDiscoveryFile,
} from '../../../api/index.ts';
import { clone } from '../../../machinery/index.ts';
import { patchObject } from '../../../runtime/index.ts';
import {
  authorityHashes,
  type ClusterCertificates,
  endpointUrl,
  fieldManager,
  formatToken,
  newToken,
} from '../../shared/index.ts';
import { type KubeadmConfigScope, specOf } from './scope.ts';

/** Returns host:port of the cluster's API; undefined until the endpoint is set. */
export function endpointOfCluster({ spec }: Cluster): string | undefined {
  const { host, port } = spec.controlPlaneEndpoint ?? {};
  if (!host || !port) return undefined;
  return endpointUrl({ host, port }).slice('https://'.length);
}

/** Fills in unset discovery fields; undefined while the cluster has no endpoint. */
export function completeDiscovery(
  discovery: KubeadmDiscovery | undefined,
  cluster: Cluster,
  certificates: ClusterCertificates,
  makeToken: () => string,
): KubeadmDiscovery | undefined {
  const endpoint = endpointOfCluster(cluster);
  // a user-defined discovery file is kept as it is
  if (discovery?.file) {
    return discovery.file.kubeConfig && !discovery.file.kubeConfig.cluster?.server && !endpoint ? undefined : discovery;
  }
  const given = discovery?.bootstrapToken ?? {};
  const apiServerEndpoint = given.apiServerEndpoint ?? endpoint;
  if (apiServerEndpoint === undefined) return undefined;
  const skips = given.unsafeSkipCAVerification === true;
  const caCertHashes = given.caCertHashes ?? (skips ? undefined : authorityHashes(certificates));
  return {
    ...discovery,
    bootstrapToken: {
      ...given,
      token: given.token ?? makeToken(),
      apiServerEndpoint,
      ...(caCertHashes && { caCertHashes }),
    },
  };
}

/**
 * Stores the completed discovery in the configuration before anything is made from it, so that a retry after a crash
 * reuses the token. Returns undefined while the cluster has no endpoint.
 */
export async function recordDiscovery(
  scope: KubeadmConfigScope,
  certificates: ClusterCertificates,
): Promise<KubeadmDiscovery | undefined> {
  const { config, cluster, context } = scope;
  const spec = specOf(config);
  const join = spec.joinConfiguration;
  const discovery = completeDiscovery(join?.discovery, cluster, certificates, () =>
    formatToken(newToken(context.random)),
  );
  if (!discovery || discovery === join?.discovery) return discovery;
  await recordSpec(scope, { ...spec, joinConfiguration: { ...join, discovery } });
  return discovery;
}

/** Stores a new token in the configuration before it is used, like `recordDiscovery`. */
export async function recordNewToken(scope: KubeadmConfigScope): Promise<string> {
  const { config, context } = scope;
  const spec = specOf(config);
  const join = spec.joinConfiguration;
  const token = formatToken(newToken(context.random));
  const discovery = { ...join?.discovery, bootstrapToken: { ...join?.discovery?.bootstrapToken, token } };
  await recordSpec(scope, { ...spec, joinConfiguration: { ...join, discovery } });
  return token;
}

async function recordSpec(scope: KubeadmConfigScope, spec: KubeadmConfigScope['config']['spec']): Promise<void> {
  const { context, original } = scope;
  const stored = await patchObject(
    context.client,
    KubeadmConfigs,
    original,
    { ...original, spec },
    { fieldManager, clock: context.clock, signal: context.signal, optimisticLock: true },
  );
  scope.original = stored;
  // continue with the stored object, but keep the status of this reconcile
  const { status } = scope.config;
  scope.config = { ...clone(stored), ...(status && { status }) };
}

/** Renders the kubeconfig that `discovery.file` describes. */
export function discoveryFile(
  file: KubeadmDiscoveryFile,
  cluster: Cluster,
  certificates: ClusterCertificates,
): BootstrapFile | undefined {
  const { kubeConfig } = file;
  if (!kubeConfig) return undefined;
  const desired = kubeConfig.cluster ?? {};
  const authority = certificates.get('ca');
  const { authProvider, exec } = kubeConfig.user;
  const name = 'default';
  const content = stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name,
          cluster: {
            server: desired.server ?? `https://${endpointOfCluster(cluster) ?? ''}`,
            ...(desired.tlsServerName !== undefined && { 'tls-server-name': desired.tlsServerName }),
            ...(desired.insecureSkipTLSVerify === true
              ? { 'insecure-skip-tls-verify': true }
              : {
                  'certificate-authority-data':
                    desired.certificateAuthorityData ?? Buffer.from(authority?.certificate ?? '').toString('base64'),
                }),
            ...(desired.proxyURL !== undefined && { 'proxy-url': desired.proxyURL }),
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
      users: [
        {
          name,
          user: {
            ...(authProvider && { 'auth-provider': authProvider }),
            ...(exec && {
              exec: {
                apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
                command: exec.command,
                ...(exec.args && { args: exec.args }),
                ...(exec.env && { env: exec.env }),
                provideClusterInfo: exec.provideClusterInfo ?? false,
                interactiveMode: 'Never',
              },
            }),
          },
        },
      ],
    },
    { version: '1.1', lineWidth: 0, singleQuote: true },
  );
  return { path: file.kubeConfigPath, owner: 'root:root', permissions: '0640', content };
}
