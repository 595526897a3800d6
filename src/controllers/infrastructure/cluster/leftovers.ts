import { Clusters } from '../../../api/index.ts';
import { collect, isOpenStackError, type LoadBalancer, type Volume } from '../../../openstack/index.ts';
import { clusterBase, deleteLeftoversAnnotation } from '../common/names.ts';
import { attempt, type Wait } from '../common/outcomes.ts';
import { managesNetwork } from './desired.ts';
import { record } from './events.ts';
import { type ClusterScope, follow } from './scope.ts';

// Resources that the workload's cloud controllers left behind: load balancers of Services and volumes of claims.

const reason = 'LeftoverDeleteFailed';
const waitMs = 10_000;
/** Description prefix of floating IPs that cloud-provider-openstack creates. */
const serviceAddressText = 'Floating IP for Kubernetes external service';
/** Metadata key that the Cinder CSI driver sets on volumes. */
const volumeClusterKey = 'cinder.csi.openstack.org/cluster';

type Leftover = 'loadbalancers' | 'volumes';

/** Parses the annotation that selects the leftovers to delete. */
export function leftoversToDelete(annotations: Readonly<Record<string, string>> | undefined): ReadonlySet<Leftover> {
  const words = (annotations?.[deleteLeftoversAnnotation] ?? '').split(',').map((word) => word.trim().toLowerCase());
  if (words.includes('all') || words.includes('true')) return new Set(['loadbalancers', 'volumes']);
  return new Set(words.filter((word): word is Leftover => word === 'loadbalancers' || word === 'volumes'));
}

/** Deletes the selected leftovers; waits until they are gone. */
export async function removeLeftovers(scope: ClusterScope): Promise<Wait | undefined> {
  const wanted = leftoversToDelete(scope.original.metadata.annotations);
  const waits = [
    wanted.has('loadbalancers') ? await removeServiceBalancers(scope) : undefined,
    wanted.has('volumes') ? await removeVolumes(scope) : undefined,
  ];
  return waits.find((wait) => wait !== undefined);
}

/** The parts of a scope that identify leftovers of its cluster. */
export type LeftoverScope = Pick<ClusterScope, 'clusterName' | 'base' | 'draft' | 'original'> & {
  readonly context: Pick<ClusterScope['context'], 'cache'>;
};

/**
 * Returns the names that cloud controllers of the workload use for the cluster: its name, or namespace and name. Names that a
 * Cluster of another namespace may also have are left out, because resources with such a name may be in use there.
 */
function ownWords({ clusterName, base, original, context }: LeftoverScope): ReadonlySet<string> {
  const words = new Set([clusterName, base]);
  const others = context.cache
    .lister(Clusters)
    .list({ filter: ({ metadata }) => metadata.namespace !== original.metadata.namespace });
  for (const { metadata } of others) {
    const { namespace = '', name = '' } = metadata;
    words.delete(name);
    words.delete(clusterBase(namespace, name));
  }
  return words;
}

/**
 * Tells whether a load balancer belongs to a Service of the cluster. On a managed network every Service load balancer
 * does; on a user-supplied network its name must match, too.
 */
export function serviceBalancersOf(scope: LeftoverScope): (balancer: LoadBalancer) => boolean {
  const { spec, status } = scope.draft;
  const network = status?.network;
  if (!network) return () => false;
  const prefixes = managesNetwork(spec)
    ? ['kube_service_']
    : [...ownWords(scope)].map((word) => `kube_service_${word}_`);
  const isOnNetwork = ({ vipNetworkId, vipSubnetId }: LoadBalancer): boolean =>
    vipNetworkId === network.id || (network.subnets ?? []).some(({ id }) => id === vipSubnetId);
  return (balancer) => isOnNetwork(balancer) && prefixes.some((prefix) => balancer.name.startsWith(prefix));
}

async function removeServiceBalancers(scope: ClusterScope): Promise<Wait | undefined> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const { loadBalancers } = openstack.loadBalancer;
  const found = await attempt('load balancers of Services could not be listed', reason, async () => {
    try {
      return await collect(loadBalancers.list({ projectId }, { signal }));
    } catch (error) {
      if (isOpenStackError(error, 'noService')) return [];
      throw error;
    }
  });
  const left = found.filter(serviceBalancersOf(scope));
  for (const balancer of left) {
    follow(scope, 'loadBalancer', balancer.id, { closely: true });
    if (balancer.provisioningStatus.startsWith('PENDING_')) continue;
    await attempt(`load balancer ${balancer.name} of a Service could not be deleted`, reason, async () => {
      await freeServiceAddress(scope, balancer);
      await loadBalancers.delete(balancer.id, { cascade: true, signal });
    });
    record(scope, 'SuccessfulDeleteLoadBalancer', `Deleted load balancer ${balancer.name} of a Service`);
  }
  const [first] = left;
  return first && wait(`${left.length} load balancers of Services are being deleted, among them ${first.name}`);
}

/** Deletes the floating IP that the cloud controller reserved for the load balancer; user-supplied ones stay. */
async function freeServiceAddress(scope: ClusterScope, { vipPortId }: LoadBalancer): Promise<void> {
  if (vipPortId === undefined) return;
  const { floatingIps } = scope.access.openstack.network;
  const { signal } = scope.context;
  for (const { id, description } of await collect(floatingIps.list({ portId: vipPortId }, { signal }))) {
    if (description.startsWith(serviceAddressText)) await floatingIps.delete(id, { signal });
  }
}

/** Returns a predicate for the volumes of the cluster's claims. */
export function claimVolumesOf(scope: LeftoverScope): (volume: Volume) => boolean {
  const words = ownWords(scope);
  return ({ metadata }) => words.has(metadata[volumeClusterKey] ?? '');
}

async function removeVolumes(scope: ClusterScope): Promise<Wait | undefined> {
  const { volumes } = scope.access.openstack.volume;
  const { signal } = scope.context;
  const found = await attempt('volumes of claims could not be listed', reason, () =>
    collect(volumes.list({}, { signal })),
  );
  const left = found.filter(claimVolumesOf(scope));
  for (const volume of left) {
    follow(scope, 'volume', volume.id, { closely: true });
    if (!['available', 'error', 'error_deleting'].includes(volume.status)) continue;
    await attempt(`volume ${volume.name} of a claim could not be deleted`, reason, () =>
      volumes.delete(volume.id, { signal }),
    );
    record(scope, 'SuccessfulDeleteVolume', `Deleted volume ${volume.name} of a claim`);
  }
  const [first] = left;
  return (
    first && wait(`${left.length} volumes of claims are being deleted, among them ${first.name} (${first.status})`)
  );
}

function wait(message: string): Wait {
  return { ms: waitMs, reason: 'WaitingForLeftovers', message };
}
