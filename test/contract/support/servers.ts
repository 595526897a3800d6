import type { OpenStack, Server, ServerWish } from '../../../src/openstack/index.ts';
import type { ContractCloud } from './contract.ts';
import { uniqueName } from './tenant.ts';
import { until, untilGone } from './wait.ts';

/** A wish for a small server; `networks` must be given. */
export function serverWish(cloud: ContractCloud, wish: Partial<ServerWish>): ServerWish {
  return {
    name: uniqueName('server'),
    flavorId: cloud.world.flavor.id,
    imageId: cloud.world.image.id,
    networks: 'none',
    ...wish,
  };
}

export async function bootServer(cloud: ContractCloud, wish: Partial<ServerWish>): Promise<Server> {
  const { id } = await cloud.member.compute.servers.create(serverWish(cloud, wish));
  return untilStatus(cloud.member, id, 'ACTIVE');
}

export async function untilStatus(cloud: OpenStack, id: string, status: string): Promise<Server> {
  const server = await until(
    () => cloud.compute.servers.get(id),
    (seen) => (seen.status === status || seen.status === 'ERROR') && seen.taskState === undefined,
  );
  if (server.status !== status) throw new Error(`the server is in ERROR: ${server.fault?.message}`);
  return server;
}

export async function removeServer(cloud: OpenStack, id: string): Promise<void> {
  await cloud.compute.servers.delete(id);
  await untilGone(() => cloud.compute.servers.get(id));
}
