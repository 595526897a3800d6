import { type Clock, errorMessage, sleep } from '../../../machinery/index.ts';
import {
  type CallOptions,
  collect,
  type Deletable,
  isOpenStackError,
  type OpenStack,
  orUndefined,
} from '../../../openstack/index.ts';
import type { CloudResource, ResourceType } from './inventory.ts';

/** Deletion order: servers hold ports and volumes, load balancers hold ports, routers hold subnets. */
const order: readonly ResourceType[] = [
  'server',
  'load balancer',
  'floating IP',
  'trunk',
  'port',
  'router',
  'subnet',
  'network',
  'security group',
  'volume',
  'server group',
];

export interface RemovalOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** time limit for the deletion of one resource type */
  readonly patienceMs: number;
  onRemoved(resource: CloudResource): void;
}

export interface Refusal {
  readonly resource: CloudResource;
  readonly why: string;
}

const pauseMs = 2_000;

/** Deletes marked resources in order. Reports refusals and continues. */
export async function removeResources(
  cloud: OpenStack,
  resources: readonly CloudResource[],
  options: RemovalOptions,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  for (const type of order) {
    const wave = resources.filter((one) => one.type === type && one.owner !== undefined);
    await Promise.all(
      wave.map(async (resource) => {
        try {
          await removeOne(cloud, resource, options);
          options.onRemoved(resource);
        } catch (error) {
          options.signal.throwIfAborted();
          refusals.push({ resource, why: errorMessage(error) });
        }
      }),
    );
  }
  return refusals;
}

/** Deletes one resource and waits until it is gone. Retries temporary refusals until the time is up. */
async function removeOne(cloud: OpenStack, resource: CloudResource, options: RemovalOptions): Promise<void> {
  const { clock, signal } = options;
  const deadline = clock.now() + options.patienceMs;
  for (;;) {
    let refusal: unknown;
    try {
      await prepare(cloud, resource, signal);
      if (!(await requestDeletion(cloud, resource, signal))) return;
    } catch (error) {
      if (!mayPass(error, resource)) throw error;
      refusal = error;
    }
    if (!(await isThere(cloud, resource, signal))) return;
    if (clock.now() >= deadline)
      throw refusal ?? new Error('the cloud has taken the order to delete it, but it is still there');
    await sleep(clock, pauseMs, signal);
  }
}

/** Tells whether a refusal is temporary: the resource is busy, in use by one that is being deleted, or was changed meanwhile. Cinder answers 400 for volumes in transition. */
function mayPass(error: unknown, { type }: CloudResource): boolean {
  return (
    isOpenStackError(error, 'conflict', 'immutable', 'notFound') ||
    (type === 'volume' && isOpenStackError(error, 'badRequest'))
  );
}

/** A router can be deleted only without interfaces. */
async function prepare({ network }: OpenStack, { type, id }: CloudResource, signal: AbortSignal): Promise<void> {
  if (type !== 'router') return;
  for (const port of await collect(network.ports.list({ deviceId: id }, { signal }))) {
    if (
      port.deviceOwner.startsWith('network:router_interface') ||
      port.deviceOwner.includes('ha_router_replicated_interface')
    ) {
      await network.routers.removeInterface(id, { portId: port.id }, { signal });
    }
  }
}

type Collections = Readonly<
  Record<ResourceType, Deletable & { get(id: string, options: CallOptions): Promise<unknown> }>
>;

function collectionsOf({ compute, network, loadBalancer, volume, image }: OpenStack): Collections {
  return {
    server: compute.servers,
    'load balancer': loadBalancer.loadBalancers,
    'floating IP': network.floatingIps,
    trunk: network.trunks,
    port: network.ports,
    router: network.routers,
    subnet: network.subnets,
    network: network.networks,
    'security group': network.securityGroups,
    volume: volume.volumes,
    'server group': compute.serverGroups,
    image: image.images,
  };
}

/** Returns false if the resource is gone already. */
function requestDeletion(cloud: OpenStack, { type, id }: CloudResource, signal: AbortSignal): Promise<boolean> {
  return type === 'load balancer'
    ? cloud.loadBalancer.loadBalancers.delete(id, { cascade: true, signal })
    : collectionsOf(cloud)[type].delete(id, { signal });
}

async function isThere(cloud: OpenStack, { type, id }: CloudResource, signal: AbortSignal): Promise<boolean> {
  const found = await orUndefined(collectionsOf(cloud)[type].get(id, { signal }));
  return found !== undefined;
}
