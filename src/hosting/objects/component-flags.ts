import { ipFamily } from '../../machinery/index.ts';
import { loadBalancerHost, planeEndpoint, serverUrl } from '../endpoint.ts';
import { etcdClientPort } from '../etcd/members.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlaneSpec } from '../spec.ts';
import {
  auditDirectory,
  auditWebhookDirectory,
  authenticationDirectory,
  egressFile,
  encryptionDirectory,
  encryptionFile,
  konnectivityDirectory,
  pki,
} from './component-files.ts';
import { type Flags, type MergedFlags, mergeFlags } from './flags.ts';
import { k0sApiServerArgs } from './k0s-config.ts';
import { isRetired, withoutRetired } from './retired-flags.ts';

/** NodeRestriction admission plugin: without it, a compromised node could change all other nodes. */
const nodeRestriction = 'NodeRestriction';

export const kineSocketDirectory = '/uds';
export const kineSocket: string = `unix://${kineSocketDirectory}/kine`;

export const apiTargetPort = ({ exposure }: PlaneSpec): number => exposure.apiTargetPort ?? exposure.apiPort;

/** Builds the command line of the API server. */
export function apiServerArgs(
  desired: PlaneSpec,
  facts: PlaneFacts,
): MergedFlags & { readonly retired: readonly string[] } {
  const fixed: Flags = {
    ...apiServerFixedFlags(desired, facts),
    ...dataStoreFlags(desired),
    ...(desired.konnectivity && {
      'egress-selector-config-file': `${konnectivityDirectory}/configurations/${egressFile}`,
    }),
    ...extraConfigFlags(desired),
  };
  const { args: user, retired } = withoutRetired(desired.version, desired.components.apiServer?.args ?? []);
  const hasAuthorization = user.some((argument) => /^-*authorization-config(=|$)/.test(argument));
  const defaults: Flags = {
    'allow-privileged': 'true',
    'enable-bootstrap-token-auth': 'true',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'service-account-issuer': serviceAccountIssuer(desired),
    ...(!hasAuthorization && { 'authorization-mode': 'Node,RBAC' }),
  };
  // only layout `together` lets users override the defaults; elsewhere user values of list flags are already part of
  // `fixed` and `defaults`
  const merged =
    desired.layout === 'together' ? mergeFlags(fixed, defaults, user) : mergeFlags({ ...fixed, ...defaults }, {}, user);
  return { ...merged, retired };
}

const serviceAccountIssuer = ({ apiServer, layout, network }: PlaneSpec): string =>
  apiServer.serviceAccountIssuer ??
  (layout === 'together' ? `https://kubernetes.default.svc.${network.domain}` : 'https://kubernetes.default.svc');

function apiServerFixedFlags(desired: PlaneSpec, facts: PlaneFacts): Flags {
  const { apiServer, network } = desired;
  const advertised = advertiseAddress(desired, facts);
  const answer = planeEndpoint(desired, facts);
  const plugins = [...new Set([...apiServer.admissionPlugins, nodeRestriction])];
  const isApart = desired.layout === 'hardened';
  return {
    ...(advertised !== undefined && { 'advertise-address': advertised }),
    'client-ca-file': pki('ca.crt'),
    'enable-admission-plugins': plugins.join(','),
    'kubelet-client-certificate': pki('apiserver-kubelet-client.crt'),
    'kubelet-client-key': pki('apiserver-kubelet-client.key'),
    'kubelet-preferred-address-types': (
      apiServer.kubeletPreferredAddressTypes ?? ['InternalIP', isApart ? 'InternalDNS' : 'ExternalIP', 'Hostname']
    ).join(','),
    'proxy-client-cert-file': pki('front-proxy-client.crt'),
    'proxy-client-key-file': pki('front-proxy-client.key'),
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-client-ca-file': pki('front-proxy-ca.crt'),
    'secure-port': String(apiTargetPort(desired)),
    'service-account-key-file': pki('sa.pub'),
    'service-account-signing-key-file': pki('sa.key'),
    'service-cluster-ip-range': network.serviceCidrs.join(','),
    'tls-cert-file': pki('apiserver.crt'),
    'tls-private-key-file': pki('apiserver.key'),
    ...(isApart &&
      answer.known && {
        'external-hostname': answer.endpoint.host,
        'service-account-jwks-uri': `${serverUrl(answer.endpoint)}/openid/v1/jwks`,
      }),
  };
}

/**
 * Returns the address announced to Pods of the workload cluster. Behind a Gateway, only the load balancer can be
 * reached by IP address.
 */
function advertiseAddress(desired: PlaneSpec, facts: PlaneFacts): string | undefined {
  const answer = planeEndpoint(desired, facts);
  const candidates = [
    desired.exposure.advertiseAddress,
    loadBalancerHost(facts),
    desired.exposure.address,
    answer.known ? answer.endpoint.host : undefined,
    ...(facts.service?.clusterIPs ?? []),
  ];
  return candidates.find((candidate) => candidate !== undefined && ipFamily(candidate) !== undefined);
}

function dataStoreFlags({ dataStore, naming, identity }: PlaneSpec): Flags {
  const files = {
    'etcd-cafile': pki('etcd/ca.crt'),
    'etcd-certfile': pki('etcd/client.crt'),
    'etcd-keyfile': pki('etcd/client.key'),
  };
  switch (dataStore.kind) {
    case 'own-etcd':
      return {
        'etcd-servers': `https://${naming.etcdClientService}.${identity.namespace}.svc:${etcdClientPort}`,
        ...files,
      };
    case 'shared-etcd': {
      const overrides = dataStore.overrides?.map(
        ({ resource, endpoints }) => `${resource}#${endpoints.map((endpoint) => `https://${endpoint}`).join(';')}`,
      );
      return {
        'etcd-servers': dataStore.endpoints.map((endpoint) => `https://${endpoint}`).join(','),
        'etcd-prefix': `/${dataStore.prefix}`,
        // the shared store is compacted centrally for all tenants
        'etcd-compaction-interval': '0',
        ...files,
        ...(overrides && overrides.length > 0 && { 'etcd-servers-overrides': overrides.join(',') }),
      };
    }
    case 'kine':
      return { 'etcd-servers': kineSocket };
    case 'k0s':
      throw new TypeError('only k0s stores its data by itself');
  }
}

function extraConfigFlags({ apiServer }: PlaneSpec): Flags {
  const { audit, authentication, encryptionAtRest } = apiServer;
  return {
    ...(authentication && { 'authentication-config': `${authenticationDirectory}/authentication.yaml` }),
    ...(encryptionAtRest && { 'encryption-provider-config': `${encryptionDirectory}/${encryptionFile}` }),
    ...(audit && {
      'audit-policy-file': `${auditDirectory}/policy.yaml`,
      ...(audit.webhook
        ? { 'audit-webhook-config-file': `${auditWebhookDirectory}/kubeconfig`, 'audit-webhook-mode': audit.mode }
        : { 'audit-log-path': '-', 'audit-log-mode': audit.mode }),
    }),
  };
}

/** Builds the command line of the controller manager. */
export function controllerManagerArgs(desired: PlaneSpec, kubeconfig: string): MergedFlags {
  const { network, naming, identity, layout } = desired;
  const own: Flags = {
    'allocate-node-cidrs': 'true',
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '0.0.0.0',
    'client-ca-file': pki('ca.crt'),
    'cluster-cidr': network.podCidrs.join(','),
    'cluster-name': layout === 'together' ? naming.controlPlane : identity.clusterName,
    'cluster-signing-cert-file': pki('signer.crt'),
    'cluster-signing-key-file': pki('ca.key'),
    controllers: '*,bootstrapsigner,tokencleaner',
    kubeconfig,
    // even with one replica, two run during a rollout
    'leader-elect': 'true',
    'requestheader-client-ca-file': pki('front-proxy-ca.crt'),
    'root-ca-file': pki('ca.crt'),
    'service-account-private-key-file': pki('sa.key'),
    'service-cluster-ip-range': network.serviceCidrs.join(','),
    'use-service-account-credentials': 'true',
  };
  const user = desired.components.controllerManager?.args;
  return layout === 'together' ? mergeFlags({}, own, user) : mergeFlags(own, {}, user);
}

/** Builds the command line of the scheduler. */
export function schedulerArgs(desired: PlaneSpec, kubeconfig: string): MergedFlags {
  return mergeFlags(
    {
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '0.0.0.0',
      kubeconfig,
      'leader-elect': 'true',
    },
    {},
    desired.components.scheduler?.args,
  );
}

/** Lists user flags that were removed from this API server version, for a warning. */
export function retiredArguments(desired: PlaneSpec, facts: PlaneFacts): readonly string[] {
  if (desired.layout !== 'k0s') return apiServerArgs(desired, facts).retired;
  return Object.keys(k0sApiServerArgs(desired)).filter((name) => isRetired(desired.version, name));
}

/** Lists user flags overridden by Capstan's own, by component, for a warning. */
export function overriddenArguments(desired: PlaneSpec, facts: PlaneFacts): Record<string, readonly string[]> {
  if (desired.layout === 'k0s') return {};
  const found = {
    'kube-apiserver': apiServerArgs(desired, facts).overridden,
    'kube-controller-manager': controllerManagerArgs(desired, '').overridden,
    'kube-scheduler': schedulerArgs(desired, '').overridden,
  };
  return Object.fromEntries(Object.entries(found).filter(([, names]) => names.length > 0));
}
