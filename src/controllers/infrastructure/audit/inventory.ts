import { collect, isOpenStackError, type OpenStack, type Trunk } from '../../../openstack/index.ts';
import { ownerMetadataKey } from '../common/names.ts';
import { markOf } from '../common/ownership.ts';

export type ResourceType =
  | 'server'
  | 'load balancer'
  | 'floating IP'
  | 'port'
  | 'trunk'
  | 'router'
  | 'subnet'
  | 'network'
  | 'security group'
  | 'volume'
  | 'server group'
  | 'image';

/** A cloud resource with hints about its creator. */
export interface CloudResource {
  readonly type: ResourceType;
  readonly id: string;
  /** name; for a floating IP, its address */
  readonly name: string;
  readonly description: string;
  /** owner in its mark; undefined without a mark */
  readonly owner: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Server group names end with the first digits of the owner, because server groups have no description for a mark. */
const groupSuffix = /^k8s-clusterapi-cluster-.+-([0-9a-f]{8})$/;

/** Lists everything in the project that a controller may have created, with one list per resource type. */
export async function cloudInventory(cloud: OpenStack, signal: AbortSignal): Promise<CloudResource[]> {
  const projectId = await cloud.projectId(signal);
  const mine = { projectId };
  const described =
    (type: ResourceType) =>
    (one: { id: string; name: string; description: string }): CloudResource => ({
      type,
      id: one.id,
      name: one.name,
      description: one.description,
      owner: markOf(one)?.owner,
      metadata: {},
    });
  const labelled =
    (type: ResourceType) =>
    (one: { id: string; name: string; metadata: Readonly<Record<string, string>> }): CloudResource => ({
      type,
      id: one.id,
      name: one.name,
      description: '',
      owner: one.metadata[ownerMetadataKey],
      metadata: one.metadata,
    });
  const { network, compute } = cloud;
  const lists = await Promise.all([
    collect(compute.servers.list({}, { signal })).then((all) => all.map(labelled('server'))),
    ifServed(collect(cloud.loadBalancer.loadBalancers.list(mine, { signal }))).then((all) =>
      all.map(described('load balancer')),
    ),
    collect(network.floatingIps.list(mine, { signal })).then((all) =>
      all.map((address) => described('floating IP')({ ...address, name: address.address })),
    ),
    collect(network.ports.list(mine, { signal })).then((all) => all.map(described('port'))),
    trunks(cloud, projectId, signal).then((all) => all.map(described('trunk'))),
    collect(network.routers.list(mine, { signal })).then((all) => all.map(described('router'))),
    collect(network.subnets.list(mine, { signal })).then((all) => all.map(described('subnet'))),
    collect(network.networks.list(mine, { signal })).then((all) => all.map(described('network'))),
    collect(network.securityGroups.list(mine, { signal })).then((all) => all.map(described('security group'))),
    ifServed(collect(cloud.volume.volumes.list({}, { signal }))).then((all) => all.map(labelled('volume'))),
    collect(compute.serverGroups.list({}, { signal })).then((all) =>
      all.map((group) => ({
        ...labelled('server group')({ ...group, metadata: {} }),
        owner: groupSuffix.exec(group.name)?.[1],
      })),
    ),
    ifServed(collect(cloud.image.images.list({ owner: projectId }, { signal }))).then((all) =>
      all.map((image) => labelled('image')({ ...image, metadata: image.properties })),
    ),
  ]);
  return lists.flat();
}

async function trunks({ network }: OpenStack, projectId: string | undefined, signal: AbortSignal): Promise<Trunk[]> {
  return (await network.extensions.has('trunk')) ? await collect(network.trunks.list({ projectId }, { signal })) : [];
}

/** Returns an empty list if the cloud lacks the service, for example load balancers or volumes. */
async function ifServed<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (isOpenStackError(error, 'noService')) return [];
    throw error;
  }
}
