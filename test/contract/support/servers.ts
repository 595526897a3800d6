import type { OpenStack, Server, ServerSpec } from '../../../src/openstack/index.ts';
import type { ContractCloud } from './contract.ts';
import { uniqueName } from './tenant.ts';
import { until, untilGone } from './wait.ts';

/** Builds the spec of a small server. `networks` is required. */
export function serverSpec(cloud: ContractCloud, desired: Partial<ServerSpec>): ServerSpec {
  return {
    name: uniqueName('server'),
    flavorId: cloud.world.flavor.id,
    imageId: cloud.world.image.id,
    networks: 'none',
    ...desired,
  };
}

export async function bootServer(cloud: ContractCloud, desired: Partial<ServerSpec>): Promise<Server> {
  const { id } = await cloud.member.compute.servers.create(serverSpec(cloud, desired));
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
