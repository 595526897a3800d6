import {
  type Cluster,
  clusterNameLabel,
  controlPlaneLabel,
  type OpenStackCluster,
  type OpenStackMachine,
  type OpenStackServer,
} from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { floatingIpAnnotation } from '../shared/index.ts';
import { type Prices, priceOf } from './prices.ts';

/** Hourly cost of a cluster by category. */
export interface ClusterCost {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** the control plane runs in Pods, so it has no billed machines */
  readonly hosted: boolean;
  readonly controlPlane: number;
  readonly workers: number;
  readonly volumes: number;
  /** load balancer and floating IPs of the API */
  readonly network: number;
  readonly total: number;
  readonly servers: number;
  /** flavors and volume types without a price; their cost is missing in the sums */
  readonly unpriced: readonly string[];
}

/** Inputs of the cost calculation. */
export interface CostObjects {
  readonly clusters: readonly Cluster[];
  readonly openStackClusters: readonly OpenStackCluster[];
  readonly machines: readonly OpenStackMachine[];
  readonly servers: readonly OpenStackServer[];
}

/** Computes the cost of clusters from existing servers, not from desired ones. */
export function clusterCosts(objects: CostObjects, prices: Prices): ClusterCost[] {
  const servers = byCluster(objects.servers.filter(({ status }) => status?.instanceID !== undefined));
  const controlPlanes = new Set(
    objects.machines.filter(({ metadata }) => metadata.labels?.[controlPlaneLabel] !== undefined).map(keyOf),
  );
  const infrastructure = new Map(objects.openStackClusters.map((one) => [keyOf(one), one]));
  return objects.clusters.map((cluster) => {
    const { namespace = '', name = '', labels = {} } = cluster.metadata;
    const own = servers.get(`${namespace}/${name}`) ?? [];
    const unpriced = new Set<string>();
    const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
    const serverPrice = ({ spec }: OpenStackServer): number => {
      const flavor = spec.flavor ?? spec.flavorID ?? '';
      return priceOf(prices.flavors, flavor) ?? missing(unpriced, `flavor ${flavor}`);
    };
    const volumePrice = (server: OpenStackServer): number =>
      sum(
        volumesOf(server).map(({ sizeGiB, type }) => {
          const price = priceOf(prices.volumeGiB, type);
          return sizeGiB * (price ?? missing(unpriced, type === '' ? 'volumes' : `volumes of type ${type}`));
        }),
      );
    const isControlPlane = (server: OpenStackServer): boolean => controlPlanes.has(keyOf(server));
    const reference = cluster.spec.infrastructureRef?.name ?? name;
    const controlPlane = sum(own.filter(isControlPlane).map(serverPrice));
    const workers = sum(own.filter((server) => !isControlPlane(server)).map(serverPrice));
    const volumes = sum(own.map(volumePrice));
    const network = networkPrice(infrastructure.get(`${namespace}/${reference}`), prices);
    return {
      namespace,
      name,
      labels,
      hosted: !own.some(isControlPlane) && isHosted(cluster),
      controlPlane,
      workers,
      volumes,
      network,
      total: controlPlane + workers + volumes + network,
      servers: own.length,
      unpriced: [...unpriced].sort(),
    };
  });
}

function missing(unpriced: Set<string>, what: string): 0 {
  unpriced.add(what);
  return 0;
}

const hostedKinds = new Set(['K0smotronControlPlane', 'KamajiControlPlane', 'HostedControlPlane']);

function isHosted({ spec }: Cluster): boolean {
  return hostedKinds.has(spec.controlPlaneRef?.kind ?? '');
}

function networkPrice(cluster: OpenStackCluster | undefined, prices: Prices): number {
  if (!cluster) return 0;
  const addresses = (['api', 'bastion'] as const).filter(
    (role) => cluster.metadata.annotations?.[floatingIpAnnotation(role)] !== undefined,
  );
  const balancer = cluster.status?.apiServerManagedLoadBalancer?.id === undefined ? 0 : prices.loadBalancer;
  return balancer + addresses.length * prices.floatingIP;
}

function volumesOf({ spec }: OpenStackServer): { sizeGiB: number; type: string }[] {
  const devices = (spec.additionalBlockDevices ?? []).filter(({ storage }) => storage.type === 'Volume');
  return [
    ...(spec.rootVolume ? [{ sizeGiB: spec.rootVolume.sizeGiB, type: spec.rootVolume.type ?? '' }] : []),
    ...devices.map(({ sizeGiB, storage }) => ({ sizeGiB, type: storage.volume?.type ?? '' })),
  ];
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace ?? ''}/${name ?? ''}`;

function byCluster(servers: readonly OpenStackServer[]): Map<string, OpenStackServer[]> {
  const found = new Map<string, OpenStackServer[]>();
  for (const server of servers) {
    const cluster = server.metadata.labels?.[clusterNameLabel];
    if (cluster === undefined) continue;
    const key = `${server.metadata.namespace ?? ''}/${cluster}`;
    found.set(key, [...(found.get(key) ?? []), server]);
  }
  return found;
}
