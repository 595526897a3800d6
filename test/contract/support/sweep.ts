import { collect, isOpenStackError, type OpenStack } from '../../../src/openstack/index.ts';
import { until, untilGone } from './wait.ts';

/** Deletes all resources of a project in the order of their dependencies. */
export async function sweep(cloud: OpenStack): Promise<void> {
  const { compute, network, volume, image } = cloud;
  const projectId = await cloud.projectId();
  await sweepLoadBalancers(cloud);
  await deleteAll(compute.servers);
  await deleteAll(compute.serverGroups);
  for (const { name } of await collect(compute.keypairs.list())) await compute.keypairs.delete(name);
  await until(
    async () => {
      for (const { id, status } of await collect(volume.volumes.list())) {
        if (status !== 'deleting') await volume.volumes.delete(id).catch(ignoreBusy);
      }
      return collect(volume.volumes.list());
    },
    (left) => left.length === 0,
  );
  for (const { id } of await collect(network.floatingIps.list())) await network.floatingIps.delete(id);
  for (const { id } of await collect(network.trunks.list())) await network.trunks.delete(id);
  for (const router of await collect(network.routers.list({ projectId }))) {
    if (router.routes.length > 0) await network.routers.update(router.id, { routes: [] });
    for (const port of await collect(network.ports.list({ deviceId: router.id }))) {
      if (port.deviceOwner.startsWith('network:router_interface')) {
        await network.routers.removeInterface(router.id, { portId: port.id });
      }
    }
    await network.routers.delete(router.id);
  }
  for (const port of await collect(network.ports.list({ projectId }))) {
    if (!port.deviceOwner.startsWith('network:')) await network.ports.delete(port.id);
  }
  for (const { id } of await collect(network.networks.list({ projectId }))) await network.networks.delete(id);
  for (const group of await collect(network.securityGroups.list({ projectId }))) {
    if (group.name !== 'default') await network.securityGroups.delete(group.id);
  }
  for (const { id } of await collect(image.images.list({ owner: projectId }))) {
    await image.images.setProperties(id, { protected: false });
    await image.images.delete(id);
  }
}

interface Swept {
  list(): AsyncIterable<{ readonly id: string }>;
  get(id: string): Promise<unknown>;
  delete(id: string): Promise<boolean>;
}

async function deleteAll(things: Swept): Promise<void> {
  const found = await collect(things.list());
  for (const { id } of found) await things.delete(id);
  for (const { id } of found) await untilGone(() => things.get(id));
}

async function sweepLoadBalancers({ loadBalancer: { loadBalancers } }: OpenStack): Promise<void> {
  await until(
    async () => {
      const left = await collect(loadBalancers.list());
      for (const { id } of left) await loadBalancers.delete(id, { cascade: true }).catch(ignoreBusy);
      return left;
    },
    (left) => left.length === 0,
  );
}

/** Ignores resources that are still changing. The next round deletes them. */
function ignoreBusy(error: unknown): void {
  if (!isOpenStackError(error, 'immutable', 'conflict', 'badRequest', 'notFound')) throw error;
}
