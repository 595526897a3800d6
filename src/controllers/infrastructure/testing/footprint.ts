import { collect, isOpenStackError, type OpenStack } from '../../../openstack/index.ts';
import type { InfrastructureWorld } from './world.ts';

/** Lists all resources of a project as sorted lines like `network NAME`, for comparison. */
export async function footprint(cloud: OpenStack): Promise<string[]> {
  const projectId = await cloud.projectId();
  const { network, loadBalancer, compute, volume } = cloud;
  const lines: string[] = [];
  const add = (kind: string, names: readonly string[]): void => {
    for (const name of names) lines.push(`${kind} ${name}`);
  };
  const named = (things: readonly { name: string }[]): string[] => things.map(({ name }) => name);
  add('network', named(await collect(network.networks.list({ projectId }))));
  add('subnet', named(await collect(network.subnets.list({ projectId }))));
  add('router', named(await collect(network.routers.list({ projectId }))));
  add('security group', named(await collect(network.securityGroups.list({ projectId }))));
  add(
    'floating IP',
    (await collect(network.floatingIps.list({ projectId }))).map(({ description }) => description || 'without a mark'),
  );
  add(
    'port',
    (await collect(network.ports.list({ projectId })))
      .filter(({ deviceOwner }) => !deviceOwner.startsWith('network:dhcp'))
      .map((port) => `${port.name || port.deviceOwner}`),
  );
  add('server', named(await collect(compute.servers.list())));
  add('volume', named(await collect(volume.volumes.list())));
  try {
    add('load balancer', named(await collect(loadBalancer.loadBalancers.list({ projectId }))));
    add('listener', named(await collect(loadBalancer.listeners.list({ projectId }))));
    add('pool', named(await collect(loadBalancer.pools.list({ projectId }))));
    add('health monitor', named(await collect(loadBalancer.healthMonitors.list({ projectId }))));
  } catch (error) {
    if (!isOpenStackError(error, 'noService')) throw error;
  }
  return lines.sort();
}

/** Returns the lines that were added since `before`. */
export function added(before: readonly string[], now: readonly string[]): string[] {
  const left = [...before];
  return now.filter((line) => {
    const index = left.indexOf(line);
    if (index < 0) return true;
    left.splice(index, 1);
    return false;
  });
}

/** Lists requests since a point as `POST /network/v2.0/networks`, without token and version requests. */
export function requestsSince(world: InfrastructureWorld, start: number): string[] {
  return world.requests
    .slice(start)
    .map(({ method, path }) => `${method} ${path.replace(/\?.*$/s, '')}`)
    .filter((line) => !/\/identity\/|\/(v[\d.]+\/?)?$/.test(line));
}
