import { collect, type Member } from '../../../openstack/index.ts';
import { setClusterStatus, usualClusterStatus } from './machines.ts';
import { createOpenStackCluster, type InfrastructureWorld } from './world.ts';

/** A load balancer as the OpenStackCluster controller creates it. */
export interface ApiLoadBalancer {
  readonly id: string;
  /** members of the pool behind a port */
  members(port: number): Promise<Member[]>;
  poolId(port: number): string;
}

/** Creates a cluster whose API load balancer has these ports; the first is the API's. */
export async function createBalancedCluster(
  world: InfrastructureWorld,
  name: string,
  ports: readonly number[],
): Promise<ApiLoadBalancer> {
  const { loadBalancers, listeners, pools: poolService } = world.tenant.loadBalancer;
  const status = await usualClusterStatus(world);
  const resourceName = `k8s-clusterapi-cluster-${world.namespace}-${name}-kubeapi`;
  const balancer = await loadBalancers.create({ name: resourceName, vipSubnetId: status.network!.subnets![0]!.id });
  const { id, vipAddress = '' } = balancer;
  const isFree = (): Promise<void> =>
    world.until(async () => (await loadBalancers.get(id)).provisioningStatus === 'ACTIVE');
  await isFree();
  const pools = new Map<number, string>();
  for (const port of ports) {
    const partName = `${resourceName}-${port}`;
    const listener = await listeners.create({
      name: partName,
      protocol: 'TCP',
      protocolPort: port,
      loadBalancerId: id,
    });
    await isFree();
    const pool = await poolService.create({
      name: partName,
      protocol: 'TCP',
      algorithm: 'ROUND_ROBIN',
      listenerId: listener.id,
    });
    pools.set(port, pool.id);
    await isFree();
  }
  const [port = 6443, ...additionalPorts] = ports;
  await createOpenStackCluster(world, name, {
    apiServer: { managedLoadBalancer: { additionalPorts } },
    controlPlaneEndpoint: { host: vipAddress, port },
  });
  await setClusterStatus(world, name, {
    ...status,
    apiServerManagedLoadBalancer: { name: resourceName, id, ip: vipAddress, internalIP: vipAddress },
  });
  const poolId = (of: number): string => pools.get(of) ?? '';
  return { id, poolId, members: (of) => collect(world.tenant.loadBalancer.members(poolId(of)).list()) };
}
