import { afterEach, describe, expect, it } from 'vitest';
import {
  IPAddressClaims,
  IPAddresses,
  type OpenStackFloatingIPPoolSpec,
  OpenStackFloatingIPPools,
  OpenStackServers,
} from '../../../api/index.ts';
import { collect, type FloatingIp } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { openStackServerController } from '../server/server-controller.ts';
import { createServer, deleteServer, leftBehind, serverIsReady } from '../testing/servers.ts';
import {
  by,
  createInfrastructureWorld,
  credentialsName,
  type InfrastructureWorld,
  type WorldOptions,
} from '../testing/world.ts';
import { openStackFloatingIpPoolController } from './floating-ip-pool-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const openWorld = async (options: Partial<WorldOptions> = {}): Promise<InfrastructureWorld> => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [
      openStackServerController(dependencies),
      openStackFloatingIpPoolController(dependencies),
    ],
    ...options,
  });
  return world;
};
const createPool = (spec: Partial<OpenStackFloatingIPPoolSpec> = {}): Promise<unknown> =>
  world.client.create(
    OpenStackFloatingIPPools,
    {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'OpenStackFloatingIPPool',
      metadata: { name: 'pool', namespace: world.namespace },
      spec: { identityRef: { name: credentialsName, cloudName: 'openstack' }, reclaimPolicy: 'Delete', ...spec },
    },
    by,
  );
const claim = (name: string): Promise<unknown> =>
  world.client.create(
    IPAddressClaims,
    {
      apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
      kind: 'IPAddressClaim',
      metadata: { name, namespace: world.namespace },
      spec: {
        poolRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackFloatingIPPool', name: 'pool' },
      },
    },
    by,
  );
const unclaim = (name: string): Promise<unknown> =>
  world.client.delete(IPAddressClaims, { namespace: world.namespace, name });
const addressOf = async (name: string): Promise<string | undefined> => {
  const answered = (await world.find(IPAddressClaims, name))?.status?.addressRef?.name;
  return answered === undefined ? undefined : (await world.get(IPAddresses, answered)).spec.address;
};
const isAnswered = async (name: string): Promise<boolean> => (await addressOf(name)) !== undefined;
const isGivenBack = async (name: string): Promise<boolean> => (await world.find(IPAddresses, name)) === undefined;
const pool = () => world.get(OpenStackFloatingIPPools, 'pool');
const poolReady = async (): Promise<string> => {
  const condition = conditionOf(await pool(), 'OpenstackFloatingIPPoolReadyCondition');
  return condition ? `${condition.status} ${condition.reason}: ${condition.message}` : '';
};
const floatingIps = (): Promise<FloatingIp[]> => collect(world.tenant.network.floatingIps.list());
const makeFloatingIp = async (): Promise<FloatingIp> => {
  const [external] = await collect(world.tenant.network.networks.list({ external: true }));
  return world.tenant.network.floatingIps.create({ networkId: external!.id, description: "somebody else's" });
};
const deletePool = async (): Promise<void> => {
  await world.client.delete(OpenStackFloatingIPPools, { namespace: world.namespace, name: 'pool' });
  await world.until(async () => (await world.find(OpenStackFloatingIPPools, 'pool')) === undefined);
};

describe('an OpenStackFloatingIPPool', () => {
  it('is deleted without its cloud when it never reached it, and accepts a corrected region', async () => {
    await openWorld();
    const region = { name: credentialsName, cloudName: 'openstack', region: 'Nowhere' };
    await createPool({ identityRef: region });
    const key = { namespace: world.namespace, name: 'pool' };
    const authentication = async () =>
      conditionOf(await world.get(OpenStackFloatingIPPools, 'pool'), 'OpenStackAuthenticationSucceeded');
    await world.until(async () => (await authentication())?.status === 'False');
    await world.client.patch(OpenStackFloatingIPPools, key, 'merge', { spec: { identityRef: { region: null } } }, by);
    await world.until(async () => (await authentication())?.status === 'True');
    await world.client.patch(OpenStackFloatingIPPools, key, 'merge', { spec: { identityRef: { name: 'absent' } } }, by);
    await world.until(async () => (await authentication())?.status === 'False');
    await world.client.delete(OpenStackFloatingIPPools, key);
    await world.until(async () => (await world.find(OpenStackFloatingIPPools, 'pool')) === undefined);
  });

  it('deletes its addresses without its cloud when its user abandons it', async () => {
    await openWorld();
    await createPool();
    await claim('a');
    await world.until(async () => (await world.find(IPAddresses, 'a')) !== undefined);
    const key = { namespace: world.namespace, name: 'pool' };
    const annotations = { 'infrastructure.cluster.x-k8s.io/abandon-cloud-resources': 'true' };
    const spec = { identityRef: { name: 'absent' } };
    await world.client.patch(OpenStackFloatingIPPools, key, 'merge', { spec, metadata: { annotations } }, by);
    await world.client.delete(OpenStackFloatingIPPools, key);
    await world.until(async () => (await world.find(OpenStackFloatingIPPools, 'pool')) === undefined);
    await world.client.delete(IPAddresses, { namespace: world.namespace, name: 'a' });
    expect(await world.find(IPAddresses, 'a')).toBeUndefined();
  });

  it('creates an address for a claim and deletes it with the claim', async () => {
    await openWorld();
    await createPool();
    await claim('a');
    await world.until(() => isAnswered('a'));
    const [made] = await floatingIps();
    expect(await addressOf('a')).toBe(made!.address);
    expect(made!.tags).toEqual(['cluster-api-provider-openstack-fip-pool-pool']);
    expect((await world.get(IPAddresses, 'a')).spec).toMatchObject({ prefix: 32, claimRef: { name: 'a' } });
    expect((await pool()).status).toMatchObject({ claimedIPs: [made!.address], floatingIPNetwork: { name: 'public' } });
    await unclaim('a');
    await world.until(() => isGivenBack('a'));
    expect(await floatingIps()).toEqual([]);
    await deletePool();
  });

  it('with policy Retain keeps an address for the next claim, and deletes it with the pool', async () => {
    await openWorld();
    await createPool({ reclaimPolicy: 'Retain' });
    await claim('a');
    await world.until(() => isAnswered('a'));
    const address = await addressOf('a');
    await unclaim('a');
    await world.until(() => isGivenBack('a'));
    await world.until(async () => (await pool()).status?.availableIPs?.[0] === address);
    await claim('b');
    await world.until(() => isAnswered('b'));
    expect(await addressOf('b')).toBe(address);
    await unclaim('b');
    await world.until(() => isGivenBack('b'));
    await deletePool();
    expect(await floatingIps()).toEqual([]);
  });

  it('uses preallocated addresses first, never deletes them, and takes none in use', async () => {
    await openWorld();
    const [brought, used] = [await makeFloatingIp(), await makeFloatingIp()];
    await createServer(world, 's1');
    await world.until(() => serverIsReady(world, 's1'));
    const port = (await world.get(OpenStackServers, 's1')).status!.resources!.ports![0]!.id;
    await world.tenant.network.floatingIps.update(used.id, { portId: port });
    await createPool({ preAllocatedFloatingIPs: [used.address, brought.address, '172.24.6.1'] });
    await claim('a');
    await world.until(() => isAnswered('a'));
    expect(await addressOf('a')).toBe(brought.address);
    await claim('b');
    await world.until(() => isAnswered('b'));
    expect(await floatingIps()).toHaveLength(3);
    const { claimedIPs, failedIPs } = (await pool()).status!;
    expect(claimedIPs).toHaveLength(2);
    expect(failedIPs).toEqual(['172.24.6.1', used.address].toSorted());
    for (const name of ['a', 'b']) await unclaim(name);
    await world.until(async () => (await isGivenBack('a')) && (await isGivenBack('b')));
    await deletePool();
    const left = await floatingIps();
    expect(left.map(({ id }) => id).toSorted()).toEqual([brought.id, used.id].toSorted());
    expect(left.find(({ id }) => id === used.id)?.portId).toBe(port);
  });

  it('allocates up to maxIPs addresses, and the next when one is released', async () => {
    await openWorld();
    await createPool({ maxIPs: 1 });
    await claim('a');
    await world.until(() => isAnswered('a'));
    await claim('b');
    await world.until(async () => (await poolReady()).startsWith('False MaxIPsReached'));
    expect(await poolReady()).toContain('raise maxIPs');
    await world.pass(120_000);
    expect(await isAnswered('b')).toBe(false);
    await unclaim('a');
    await world.until(() => isAnswered('b'));
    expect(await poolReady()).toMatch(/^True/);
  });

  it('reports a network that cannot be found', async () => {
    await openWorld();
    await createPool({ floatingIPNetwork: { filter: { name: 'nope' } } });
    await world.until(async () => (await poolReady()).includes('no external network matches name "nope"'));
    await deletePool();
  });

  it('allocates an address to a server, whose claim is deleted with it', async () => {
    await openWorld();
    const floatingIPPoolRef = {
      apiGroup: 'infrastructure.cluster.x-k8s.io',
      kind: 'OpenStackFloatingIPPool',
      name: 'pool',
    };
    await createServer(world, 's1', { floatingIPPoolRef });
    const ready = async (): Promise<string | undefined> =>
      conditionOf((await world.get(OpenStackServers, 's1')) as { status?: object }, 'FloatingAddressFromPoolReady')
        ?.status;
    await world.until(async () => (await ready()) === 'False');
    expect(await leftBehind(world)).toEqual([]);
    await createPool();
    await world.until(async () => (await ready()) === 'True');
    const [made] = await floatingIps();
    expect(made!.portId).toBe((await world.get(OpenStackServers, 's1')).status!.resources!.ports![0]!.id);
    await world.until(
      async () =>
        (await world.get(OpenStackServers, 's1')).status?.addresses?.some(
          ({ type, address }) => type === 'ExternalIP' && address === made!.address,
        ) === true,
    );
    world.cloud.operator.moveFloatingIp(made!.id, null);
    await world.until(async () => (await floatingIps())[0]?.portId !== undefined);
    await deleteServer(world, 's1');
    await world.until(async () => (await floatingIps()).length === 0);
    expect(await world.list(IPAddressClaims)).toEqual([]);
  });

  it.each(['fail', 'lose'] as const)(
    'loses no address when a request is bound to %s',
    { timeout: 120_000 },
    async (fate) => {
      await openWorld();
      await createPool();
      await world.until(async () => (await pool()).status?.floatingIPNetwork !== undefined);
      for (let n = 1; ; n++) {
        let seen = 0;
        world.setFate(() => (++seen === n ? fate : 'pass'));
        await claim('a');
        await world.until(() => isAnswered('a'));
        expect(await floatingIps()).toHaveLength(1);
        await unclaim('a');
        await world.until(() => isGivenBack('a'));
        world.setFate(undefined);
        expect(await floatingIps(), `after a fault of request ${n}`).toEqual([]);
        if (seen < n) {
          expect(n).toBeGreaterThan(4);
          return;
        }
      }
    },
  );
});
