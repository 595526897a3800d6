import { type Provider, Providers } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import type { ControllerArea } from './controller-areas.ts';
import { systemNamespace } from './controller-identity.ts';

/** A Cluster API provider whose work the controllers of an area do. */
interface BuiltInProvider {
  area: ControllerArea;
  /** name in clusterctl: type and name combined */
  label: string;
  providerName: string;
  type: NonNullable<Provider['type']>;
  /** upstream release with equivalent behavior, which clusterctl compares for moves and upgrades */
  version: string;
}

const clusterApiVersion = 'v1.14.0';
const k0smotronVersion = 'v2.1.0';
const rke2Version = 'v0.25.0';
const kamajiVersion = 'v0.20.0';
const hostedControlPlaneVersion = 'v1.7.2';

const builtIn: readonly BuiltInProvider[] = [
  {
    area: 'cluster',
    label: 'cluster-api',
    providerName: 'cluster-api',
    type: 'CoreProvider',
    version: clusterApiVersion,
  },
  {
    area: 'bootstrap',
    label: 'bootstrap-kubeadm',
    providerName: 'kubeadm',
    type: 'BootstrapProvider',
    version: clusterApiVersion,
  },
  {
    area: 'control-plane',
    label: 'control-plane-kubeadm',
    providerName: 'kubeadm',
    type: 'ControlPlaneProvider',
    version: clusterApiVersion,
  },
  {
    area: 'bootstrap',
    label: 'bootstrap-k0sproject-k0smotron',
    providerName: 'k0sproject-k0smotron',
    type: 'BootstrapProvider',
    version: k0smotronVersion,
  },
  {
    area: 'control-plane',
    label: 'control-plane-k0sproject-k0smotron',
    providerName: 'k0sproject-k0smotron',
    type: 'ControlPlaneProvider',
    version: k0smotronVersion,
  },
  {
    area: 'bootstrap',
    label: 'bootstrap-rke2',
    providerName: 'rke2',
    type: 'BootstrapProvider',
    version: rke2Version,
  },
  {
    area: 'control-plane',
    label: 'control-plane-rke2',
    providerName: 'rke2',
    type: 'ControlPlaneProvider',
    version: rke2Version,
  },
  {
    area: 'control-plane',
    label: 'control-plane-kamaji',
    providerName: 'kamaji',
    type: 'ControlPlaneProvider',
    version: kamajiVersion,
  },
  {
    area: 'control-plane',
    label: 'control-plane-hosted-control-plane',
    providerName: 'hosted-control-plane',
    type: 'ControlPlaneProvider',
    version: hostedControlPlaneVersion,
  },
  {
    area: 'infrastructure',
    label: 'infrastructure-openstack',
    providerName: 'openstack',
    type: 'InfrastructureProvider',
    version: 'v0.15.0',
  },
];

/** Returns the upstream release that a built-in provider follows. */
export function providerVersion(label: string): string {
  return builtIn.find((provider) => provider.label === label)?.version ?? clusterApiVersion;
}

/**
 * Adds the built-in providers to clusterctl's inventory, so that `clusterctl init` finds them installed and `move`
 * accepts this API as source and target. A provider that somebody installed in another namespace stays, because
 * clusterctl allows one entry per provider.
 */
export async function ensureProviderInventory(
  client: Client,
  areas: ReadonlySet<ControllerArea>,
  signal: AbortSignal,
): Promise<void> {
  const present = await client.list(Providers, { signal });
  const isForeign = ({ type, providerName }: BuiltInProvider): boolean =>
    present.items.some(
      (entry) =>
        entry.metadata.namespace !== systemNamespace && entry.type === type && entry.providerName === providerName,
    );
  await Promise.all(
    builtIn
      .filter((provider) => areas.has(provider.area) && !isForeign(provider))
      .map((provider) =>
        client.apply(Providers, inventoryEntry(provider), { fieldManager: 'capstan', force: true, signal }),
      ),
  );
}

function inventoryEntry({ label, providerName, type, version }: BuiltInProvider): Provider {
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Provider',
    metadata: {
      name: label,
      namespace: systemNamespace,
      labels: {
        'clusterctl.cluster.x-k8s.io': '',
        'clusterctl.cluster.x-k8s.io/core': 'inventory',
        'cluster.x-k8s.io/provider': label,
      },
    },
    providerName,
    type,
    version,
  };
}

export const providerInventory: readonly Provider[] = builtIn.map(inventoryEntry);
