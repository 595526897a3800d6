import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, type OpenStack } from '../../../openstack/index.ts';
import { ownerMetadataKey } from '../common/names.ts';
import { added, footprint } from '../testing/footprint.ts';
import { createInfrastructureWorld, type InfrastructureWorld } from '../testing/world.ts';
import { cloudInventory } from './inventory.ts';
import { type Refusal, removeResources } from './removal.ts';

const owner = '99999999-2222-3333-4444-555555555555';
const description = `left behind [owner ${owner}]`;
const minute = 60_000;

let world: InfrastructureWorld;
let before: string[];
beforeEach(async () => {
  world = await createInfrastructureWorld({ controllers: () => [] });
  before = await footprint(world.tenant);
});
afterEach(() => world.stop());

/** Removes all resources of the missing owner while time passes. */
async function removeAll(cloud: OpenStack = world.tenant, patienceMs = 10 * minute): Promise<Refusal[]> {
  const { signal } = new AbortController();
  const marked = (await cloudInventory(world.tenant, signal)).filter((one) => one.owner === owner);
  expect(marked).not.toEqual([]);
  let refusals: Refusal[] | undefined;
  void removeResources(cloud, marked, { clock: world.clock, signal, patienceMs, onRemoved: () => {} }).then((all) => {
    refusals = all;
  });
  await world.until(() => refusals !== undefined);
  return refusals ?? [];
}

async function makeNetwork(): Promise<{ subnetId: string; routerId: string }> {
  const { network } = world.tenant;
  const { id: networkId } = await network.networks.create({ name: 'left', description });
  const subnet = await network.subnets.create({
    name: 'left',
    description,
    networkId,
    cidr: '10.8.0.0/24',
    ipVersion: 4,
  });
  const router = await network.routers.create({ name: 'left', description });
  await network.routers.addInterface(router.id, { subnetId: subnet.id });
  return { subnetId: subnet.id, routerId: router.id };
}

describe('removal of orphaned resources', () => {
  it('waits for a busy load balancer and for its deletion', async () => {
    const { subnetId } = await makeNetwork();
    await world.tenant.loadBalancer.loadBalancers.create({ name: 'left', description, vipSubnetId: subnetId });
    expect(await removeAll()).toEqual([]);
    expect(added(before, await footprint(world.tenant))).toEqual([]);
  });

  it('waits for a volume in a transitional state', async () => {
    const spec = { name: 'left', size: 1, metadata: { [ownerMetadataKey]: owner } };
    await world.tenant.volume.volumes.create(spec);
    expect(await removeAll()).toEqual([]);
    expect(added(before, await footprint(world.tenant))).toEqual([]);
  });

  it('continues with a router whose interface was already removed', async () => {
    await makeNetwork();
    const { network } = world.tenant;
    const routers: OpenStack['network']['routers'] = {
      ...network.routers,
      removeInterface: async (...args) => {
        await network.routers.removeInterface(...args);
        return await network.routers.removeInterface(...args);
      },
    };
    expect(await removeAll({ ...world.tenant, network: { ...network, routers } })).toEqual([]);
    expect(added(before, await footprint(world.tenant))).toEqual([]);
  });

  it('names resources that are held by foreign ones, and removes them the next time', async () => {
    const { subnetId } = await makeNetwork();
    const { network } = world.tenant;
    const [{ id: networkId = '' } = {}] = await collect(network.networks.list({ name: 'left' }));
    const port = await network.ports.create({ name: 'foreign', networkId, fixedIps: [{ subnetId }] });
    const refusals = await removeAll(world.tenant, 5_000);
    expect(refusals.map(({ resource: { type } }) => type)).toEqual(['subnet', 'network']);
    expect(refusals[0]?.why).toMatch(/in use|One or more ports/i);
    await network.ports.delete(port.id);
    expect(await removeAll()).toEqual([]);
    expect(added(before, await footprint(world.tenant))).toEqual([]);
  });
});

describe('the cloud inventory', () => {
  it('lists nothing of other projects, whoever asks', async () => {
    const { network } = world.tenant;
    const { id: networkId } = await network.networks.create({ name: 'left', description });
    const { id: portId } = await network.ports.create({ name: 'left', description, networkId });
    await network.trunks.create({ name: 'left', description, portId });
    const { signal } = new AbortController();
    const typesOf = async (cloud: OpenStack): Promise<string[]> =>
      (await cloudInventory(cloud, signal)).filter((one) => one.owner === owner).map(({ type }) => type);
    expect(await typesOf(world.tenant)).toEqual(['port', 'trunk', 'network']);
    expect(await typesOf(world.admin)).toEqual([]);
  });
});
