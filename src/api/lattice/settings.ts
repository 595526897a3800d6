import { withLeadingV } from '../../machinery/index.ts';
import type {
  LatticeBootstrap,
  LatticeCluster,
  LatticeControlPlaneNodes,
  LatticeRootVolume,
  LatticeWorkerPool,
} from './types.ts';

/** Settings of one group of machines of a LatticeCluster. */
export interface LatticeMachineSettings {
  readonly flavor: string;
  readonly rootVolume: LatticeRootVolume | undefined;
  readonly zone: string | undefined;
}

export interface LatticePoolSettings extends LatticeMachineSettings {
  readonly id: string;
  readonly pool: LatticeWorkerPool;
  /** set if both bounds are given; an autoscaler then owns the number of nodes */
  readonly bounds: { readonly min: number; readonly max: number } | undefined;
}

/** Settings of a LatticeCluster on OpenStack, independent of the spelling in its spec. */
export interface LatticeSettings {
  /** with a leading v */
  readonly version: string;
  readonly bootstrap: LatticeBootstrap;
  readonly certSANs: readonly string[];
  /** id or name */
  readonly externalNetwork: string;
  readonly image: string;
  readonly sshKey: string;
  readonly sshAuthorizedKeys: readonly string[];
  readonly cloudName: string;
  readonly secret: { readonly namespace: string; readonly name: string };
  readonly dnsNameservers: readonly string[];
  readonly nodeCidr: string;
  readonly loadBalancerFlavor: string | undefined;
  readonly managedSecurityGroups: boolean;
  readonly allowAllInClusterTraffic: boolean;
  readonly controlPlane: LatticeMachineSettings & { readonly replicas: number };
  /** keyed by id */
  readonly pools: readonly LatticePoolSettings[];
}

export const latticeDefaults = {
  bootstrap: 'kubeadm',
  cloudName: 'openstack',
  secret: { namespace: 'capo-system', name: 'openstack-cloud-config' },
  /** Namespace of credentialsSecretRef only. */
  credentialsNamespace: 'lattice-system',
  dnsNameservers: ['8.8.8.8', '8.8.4.4'],
  nodeCidr: '10.6.0.0/24',
  podCidr: '192.168.0.0/16',
  serviceCidr: '10.128.0.0/12',
} as const;

export function controlPlaneNodes(value: number | LatticeControlPlaneNodes): LatticeControlPlaneNodes {
  return typeof value === 'number' ? { replicas: value } : value;
}

/** Returns the settings of a LatticeCluster; undefined for other providers than OpenStack. */
export function latticeSettings({ spec }: LatticeCluster): LatticeSettings | undefined {
  const { openstack } = spec.provider.config;
  if (openstack === undefined) return undefined;
  const { kubernetes } = spec.provider;
  const plane = controlPlaneNodes(spec.nodes.controlPlane);
  return {
    version: withLeadingV(kubernetes.version),
    bootstrap: kubernetes.bootstrap ?? latticeDefaults.bootstrap,
    certSANs: subjectNames(spec),
    externalNetwork: openstack.externalNetworkId ?? openstack.externalNetwork ?? '',
    image: openstack.imageName,
    sshKey: openstack.sshKeyName,
    sshAuthorizedKeys: openstack.sshAuthorizedKeys ?? [],
    cloudName: openstack.cloudName ?? latticeDefaults.cloudName,
    secret: secretOf(spec.provider.credentialsSecretRef, openstack.secretRef),
    dnsNameservers: openstack.dnsNameservers ?? latticeDefaults.dnsNameservers,
    nodeCidr: openstack.nodeCidr ?? latticeDefaults.nodeCidr,
    loadBalancerFlavor: openstack.apiServerLoadBalancerFlavor,
    managedSecurityGroups: openstack.managedSecurityGroups ?? true,
    allowAllInClusterTraffic: openstack.allowAllInClusterTraffic ?? false,
    controlPlane: {
      replicas: plane.replicas,
      flavor: plane.instanceType?.name ?? openstack.cpFlavor ?? '',
      rootVolume: plane.rootVolume ?? volumeOf(openstack.cpRootVolumeSizeGb, openstack.cpRootVolumeType),
      zone: openstack.cpAvailabilityZone,
    },
    pools: Object.entries(spec.nodes.workerPools ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, pool]) => ({
        id,
        pool,
        flavor: pool.instanceType?.name ?? openstack.workerFlavor ?? '',
        rootVolume: pool.rootVolume ?? volumeOf(openstack.workerRootVolumeSizeGb, openstack.workerRootVolumeType),
        zone: openstack.workerAvailabilityZone,
        bounds: pool.min !== undefined && pool.max !== undefined ? { min: pool.min, max: pool.max } : undefined,
      })),
  };
}

/** A parent is also reached by the name of its endpoints, so its API server has this name in its certificate. */
function subjectNames({ provider, endpoints, parentConfig }: LatticeCluster['spec']): string[] {
  const host = endpoints?.host ?? parentConfig?.host ?? '';
  return [...new Set([...(provider.kubernetes.certSANs ?? []), host])].filter((name) => name !== '');
}

function secretOf(
  provider: { name: string; namespace?: string } | undefined,
  openstack: { name: string; namespace?: string } | undefined,
): LatticeSettings['secret'] {
  if (openstack) return { namespace: openstack.namespace ?? latticeDefaults.secret.namespace, name: openstack.name };
  if (provider) return { namespace: provider.namespace ?? latticeDefaults.credentialsNamespace, name: provider.name };
  return latticeDefaults.secret;
}

function volumeOf(sizeGb: number | undefined, type: string | undefined): LatticeRootVolume | undefined {
  return sizeGb === undefined ? undefined : { sizeGb, ...(type !== undefined && { type }) };
}

export const latticeNamespace = (name: string): string => `capi-${name}`;

/** Returns the name prefix of the MachineDeployments and other objects of a pool. */
export const latticePoolName = (cluster: string, pool: string): string => `${cluster}-pool-${pool}`;
