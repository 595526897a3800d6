import type { OpenStackCluster, OpenStackServer } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import { clusterBase } from '../common/names.ts';
import { ownerId } from '../common/ownership.ts';
import type { CloudResource, ResourceType } from './inventory.ts';

/** Objects in a management API that may own cloud resources. */
export interface OwnersOnRecord {
  /** OpenStackClusters, OpenStackServers, OpenStackFloatingIPPools and Images of all namespaces */
  readonly objects: readonly KubeObject[];
  /** namespace and name of all Clusters */
  readonly clusters: readonly { readonly namespace: string; readonly name: string }[];
}

export interface AuditFindings {
  /** resources with the mark of an owner that does not exist; only these may be deleted */
  readonly orphans: readonly CloudResource[];
  /** objects whose status names resources the cloud does not have */
  readonly missing: readonly MissingResource[];
  /** resources of other programs, recognised by names and descriptions, and resources kept on purpose or left by an edit; never deleted */
  readonly foreign: readonly ForeignResource[];
}

export interface MissingResource {
  /** for example `OpenStackServer default/red-md-0-abc` */
  readonly object: string;
  readonly type: ResourceType;
  readonly id: string;
}

export interface ForeignResource extends CloudResource {
  /** probable creator and purpose */
  readonly remark: string;
}

/** Compares the resources of a project with their owners' records. */
export function auditFindings(
  inventory: readonly CloudResource[],
  owners: OwnersOnRecord,
  /** objects with resources in this project */
  here: readonly (OpenStackCluster | OpenStackServer)[],
  /** owners whose resources are in other projects */
  elsewhere: readonly KubeObject[] = [],
): AuditFindings {
  const ids = new Set(owners.objects.map(ownerId));
  const beginnings = new Set([...ids].map((id) => id.slice(0, 8)));
  const recorded = new Set(owners.objects.flatMap((object) => recordedIds(object).map(({ id }) => id)));
  const isOwned = ({ type, owner }: CloudResource): boolean =>
    owner === undefined || (type === 'server group' ? beginnings.has(owner) : ids.has(owner));
  const unowned = new Set(inventory.filter((one) => !isOwned(one) && !recorded.has(one.id)));
  const orphans = [...unowned].filter((one) => keptOnPurpose(one) === undefined);
  const near = new Set(here.map(ownerId));
  const far = new Map(elsewhere.map((object) => [ownerId(object), object] as const).filter(([id]) => !near.has(id)));
  const bases = new Set(owners.clusters.map(({ namespace, name }) => clusterBase(namespace, name)));
  const names = new Set(owners.clusters.flatMap(({ namespace, name }) => [name, clusterBase(namespace, name)]));
  const foreign = inventory.flatMap((one): ForeignResource[] => {
    const remark = recorded.has(one.id)
      ? undefined
      : one.owner === undefined
        ? (upstreamRemark(one, bases) ?? workloadRemark(one, names))
        : unowned.has(one)
          ? keptOnPurpose(one)
          : strayRemark(far.get(one.owner));
    return remark === undefined ? [] : [{ ...one, remark }];
  });
  const there = new Set(inventory.map(({ id }) => id));
  const missing = here.flatMap((object) =>
    recordedIds(object)
      .filter(({ id }) => !there.has(id))
      .map(({ type, id }) => ({ object: titleOf(object), type, id })),
  );
  return { orphans, missing, foreign };
}

function titleOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace ?? ''}/${name ?? ''}`;
}

/** Lists resource ids in the status of an object, without those the user supplied. */
function recordedIds(object: KubeObject): { type: ResourceType; id: string }[] {
  if (object.kind === 'OpenStackServer') {
    const { instanceID } = (object as OpenStackServer).status ?? {};
    return instanceID === undefined ? [] : [{ type: 'server', id: instanceID }];
  }
  if (object.kind !== 'OpenStackCluster') return [];
  const { status = {} } = object as OpenStackCluster;
  const parts: [ResourceType, { id?: string } | undefined][] = [
    ['network', status.network],
    ...(status.network?.subnets ?? []).map((subnet): [ResourceType, { id?: string }] => ['subnet', subnet]),
    ['router', status.router],
    ['load balancer', status.apiServerManagedLoadBalancer],
    ['security group', status.controlPlaneSecurityGroup],
    ['security group', status.workerSecurityGroup],
    ['security group', status.bastionSecurityGroup],
  ];
  return parts.flatMap(([type, part]) => (part?.id === undefined || part.id === '' ? [] : [{ type, id: part.id }]));
}

const poolText = /^Created by cluster-api-provider-openstack OpenStackFloatingIPPool (\S+)/;

/** Remarks on floating IPs and images that may have been kept on purpose. A pool can retain its addresses, and an Image its image; once the owner is gone, nobody can tell. */
function keptOnPurpose({ type, description }: CloudResource): string | undefined {
  if (type === 'image') return 'of an Image, which is gone and may have left it on purpose';
  const pool = type === 'floating IP' ? poolText.exec(description)?.[1] : undefined;
  return pool === undefined ? undefined : `of OpenStackFloatingIPPool ${pool}, which is gone and may have retained it`;
}

/** Remarks on resources of an owner that now refers to another project, where its controllers no longer look. */
function strayRemark(owner: KubeObject | undefined): string | undefined {
  return owner && `of ${titleOf(owner)}, which is in another project by now`;
}

const upstreamName = /^k8s-clusterapi-cluster-(.+?)(?:-kubeapi.*)?$/;
const upstreamText = /^Created by cluster-api-provider-openstack cluster (\S+)/;
const groupName = /^k8s-cluster-(.+)-secgroup-(?:controlplane|worker|bastion)$/;

/** Recognizes resources of upstream's provider for a cluster that does not exist here, by name and description. */
function upstreamRemark({ name, description }: CloudResource, bases: ReadonlySet<string>): string | undefined {
  const base = upstreamName.exec(name)?.[1] ?? groupName.exec(name)?.[1] ?? upstreamText.exec(description)?.[1];
  if (base === undefined || bases.has(base)) return undefined;
  return `of a cluster ${base} of cluster-api-provider-openstack, which does not exist here`;
}

const serviceBalancer = /^kube_service_(.+?)_/;
const serviceAddress = /^Floating IP for Kubernetes external service \S+ from cluster (\S+)/;
const volumeCluster = 'cinder.csi.openstack.org/cluster';

/** Recognizes resources of cloud controllers inside a workload cluster that no longer exists. */
function workloadRemark(one: CloudResource, clusters: ReadonlySet<string>): string | undefined {
  const cluster = workloadOf(one);
  if (cluster === undefined || clusters.has(cluster) || cluster === 'kubernetes') return undefined;
  return `of a ${one.type === 'volume' ? 'volume claim' : 'Service'} in a cluster ${cluster}, which does not exist here`;
}

function workloadOf({ type, name, description, metadata }: CloudResource): string | undefined {
  if (type === 'load balancer') return serviceBalancer.exec(name)?.[1];
  if (type === 'floating IP') return serviceAddress.exec(description)?.[1];
  return type === 'volume' ? metadata[volumeCluster] : undefined;
}
