import {
  type Cluster,
  defaultK0sVersion,
  desiredK0sVersion,
  type K0smotronClusterSpec,
  type K0smotronService,
  k0sImage,
} from '../../../api/index.ts';
import {
  type BackupSpec,
  type CertificatePolicy,
  type ComponentSpec,
  type ExposureSpec,
  type ExtraMetadata,
  etcdMembersFor,
  type K0sSpec,
  k0smotronNaming,
  type NetworkSpec,
  type PlaneComponents,
  type PlaneNaming,
  type PlaneSpec,
  type SpecProblem,
} from '../../../hosting/index.ts';
import {
  asJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  must,
  type OwnerReference,
} from '../../../machinery/index.ts';
import { credentialNames } from './names.ts';
import { dataStoreSpec, etcdOf } from './storage-spec.ts';

const dayMs = 24 * 3_600_000;
const defaultApiPort = 30443;
const defaultKonnectivityPort = 30132;
const ingressPort = 443;

/** Defaults of k0s. */
const defaultNetwork = { podCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/12', clusterDomain: 'cluster.local' };

export interface K0smotronSpecInput {
  namespace: string;
  /** name of the Cluster; for standalone planes, of the plane itself */
  clusterName: string;
  spec: K0smotronClusterSpec;
  /** the k0smotron.io Cluster that owns all objects */
  owner: OwnerReference;
  metadata: ExtraMetadata;
  /** provides the networks that the k0s configuration does not set */
  cluster?: Cluster;
  /** second name of the API Service */
  aliasServiceName?: string;
  backup?: BackupSpec;
}

/** Names and owner of the objects of a plane, sufficient to delete it. */
export function k0smotronPlaneNames(
  input: Pick<K0smotronSpecInput, 'namespace' | 'clusterName' | 'owner' | 'metadata' | 'spec'>,
): Pick<PlaneSpec, 'identity' | 'naming'> {
  const { namespace, clusterName, owner, metadata, spec } = input;
  return {
    identity: { namespace, clusterName, owner, metadata },
    naming: k0smotronNaming(clusterName, serviceOf(spec).type),
  };
}

const serviceOf = ({ service }: K0smotronClusterSpec): K0smotronService => service ?? { type: 'ClusterIP' };

export type K0smotronPlaneSpec = { readonly desired: PlaneSpec } | { readonly problem: SpecProblem };

/** Translates the user's spec for the engine. */
export function k0smotronPlaneSpec(input: K0smotronSpecInput): K0smotronPlaneSpec {
  const { spec } = input;
  if (spec.remoteHostCluster?.kubeconfigRef) {
    return {
      problem: {
        reason: 'RemoteHostClusterNotSupported',
        message:
          'spec.remoteHostCluster: control planes run on the management cluster only; remove it, or manage this cluster from there',
      },
    };
  }
  const { identity, naming } = k0smotronPlaneNames(input);
  const service = serviceOf(spec);
  const etcd = etcdOf(spec);
  return {
    desired: {
      identity,
      naming,
      layout: 'k0s',
      version: desiredK0sVersion(spec) ?? defaultK0sVersion,
      replicas: spec.replicas ?? 1,
      images: { k0s: k0sImage(spec, defaultK0sVersion), etcd: etcd.image },
      components: componentSpecs(spec),
      pods: {
        automountServiceAccountToken: false,
        ...(spec.serviceAccount && { serviceAccountName: spec.serviceAccount }),
        ...(spec.topologySpreadConstraints && { topologySpreadConstraints: spec.topologySpreadConstraints }),
      },
      dataStore: dataStoreSpec(spec, etcdMembersFor(spec.replicas ?? 1)),
      exposure: exposureSpec(spec, service, input.aliasServiceName),
      network: networkSpec(spec, input.cluster),
      // k0s brings its own agents and add-ons
      konnectivity: undefined,
      addons: { kubeadm: false },
      apiServer: { admissionPlugins: ['NodeRestriction'] },
      certificates: certificatePolicy(spec, naming),
      ...(spec.kubeconfigSecretMetadata && { kubeconfigMetadata: spec.kubeconfigSecretMetadata }),
      k0s: k0sSpec(spec),
      ...(input.backup && { backup: input.backup }),
      patches: (spec.patches ?? []).map(({ target, patch }) => ({ ...target, ...patch })),
    },
  };
}

function componentSpecs(spec: K0smotronClusterSpec): PlaneComponents {
  const { args, resources } = etcdOf(spec);
  const etcd: ComponentSpec = { ...(args && { args }), ...(resources && { resources }) };
  return { k0s: { ...(spec.resources && { resources: spec.resources }) }, etcd };
}

function exposureSpec(
  { ingress, externalAddress }: K0smotronClusterSpec,
  service: K0smotronService,
  aliasServiceName: string | undefined,
): ExposureSpec {
  const { annotations, labels, externalTrafficPolicy, loadBalancerClass } = service;
  return {
    type: service.type,
    apiPort: service.apiPort ?? defaultApiPort,
    konnectivityPort: service.konnectivityPort ?? defaultKonnectivityPort,
    ...(externalAddress && { address: externalAddress }),
    ...((annotations || labels) && {
      metadata: { ...(annotations && { annotations }), ...(labels && { labels }) },
    }),
    ...(externalTrafficPolicy && { externalTrafficPolicy }),
    ...(loadBalancerClass && { loadBalancerClass }),
    sans: [],
    ...(ingress && {
      ingress: {
        deploy: ingress.deploy ?? true,
        host: ingress.apiHost,
        konnectivityHost: ingress.konnectivityHost,
        port: ingress.port ?? ingressPort,
        ...(ingress.className && { className: ingress.className }),
        ...(ingress.annotations && { metadata: { annotations: ingress.annotations } }),
      },
    }),
    ...(aliasServiceName !== undefined && { aliasServiceName }),
  };
}

/** The k0s configuration overrides the Cluster's networks, field by field. */
function networkSpec({ k0sConfig }: K0smotronClusterSpec, cluster: Cluster | undefined): NetworkSpec {
  const given = objectAt(objectAt(k0sConfig, 'spec'), 'network');
  const { pods, services, serviceDomain } = cluster?.spec.clusterNetwork ?? {};
  const range = (own: JsonValue | undefined, blocks: readonly string[] | undefined, fallback: string): string[] =>
    textOf(own) !== undefined ? [must(textOf(own), 'textOf(own)')] : blocks?.length ? [...blocks] : [fallback];
  return {
    podCidrs: range(given['podCIDR'], pods?.cidrBlocks, defaultNetwork.podCIDR),
    serviceCidrs: range(given['serviceCIDR'], services?.cidrBlocks, defaultNetwork.serviceCIDR),
    domain: textOf(given['clusterDomain']) ?? (serviceDomain || defaultNetwork.clusterDomain),
  };
}

function certificatePolicy({ certificateRefs }: K0smotronClusterSpec, naming: PlaneNaming): CertificatePolicy {
  const external: Record<string, string> = {};
  for (const { type, name } of certificateRefs ?? []) {
    const credential = credentialNames[type];
    // upstream writes its generated names into the user's spec; Capstan manages Secrets with those names itself
    if (name && name !== naming.secrets[credential]?.name) external[credential] = name;
  }
  return {
    authorityDurationMs: 3650 * dayMs,
    leafDurationMs: 365 * dayMs,
    leafRenewBeforeMs: 90 * dayMs,
    authorityRenewBeforeMs: 365 * dayMs,
    ...(Object.keys(external).length > 0 && { external }),
  };
}

function k0sSpec(spec: K0smotronClusterSpec): K0sSpec {
  const { monitoring } = spec;
  return {
    config: spec.k0sConfig ?? {},
    flags: spec.controlPlaneFlags ?? [],
    persistence: persistenceSpec(spec),
    manifests: spec.manifests ?? [],
    mounts: (spec.mounts ?? []).map(({ path, readOnly, ...source }) => ({
      path,
      // ConfigMap, Secret and projected volumes are read-only
      readOnly: readOnly === true || source.configMap !== undefined || source.secret !== undefined,
      source: asJson(source),
    })),
    ...(monitoring?.enabled === true && {
      monitoring: { prometheusImage: monitoring.prometheusImage, proxyImage: monitoring.proxyImage },
    }),
  };
}

function persistenceSpec({ persistence }: K0smotronClusterSpec): K0sSpec['persistence'] {
  switch (persistence?.type) {
    case 'hostPath':
      return { type: 'hostPath', path: persistence.hostPath ?? '' };
    case 'pvc': {
      const { metadata, spec } = persistence.persistentVolumeClaim ?? {};
      const claim = { ...(metadata && { metadata }), spec: spec ?? {} };
      return {
        type: 'pvc',
        claim: asJson(claim),
        autoDelete: persistence.autoDeletePVCs === true,
      };
    }
    default:
      return { type: 'emptyDir' };
  }
}

function objectAt(value: JsonValue | undefined, field: string): JsonObject {
  const inner = isJsonObject(value) ? value[field] : undefined;
  return isJsonObject(inner) ? inner : {};
}

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
