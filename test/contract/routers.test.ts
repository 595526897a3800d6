import { describe, expect, it } from 'vitest';
import { collect } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { allocate, createLab, createRoutedLab } from './support/lab.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';
import { until } from './support/wait.ts';

contract('routers and floating IPs', (cloud) => {
  const network = () => cloud.member.network;

  describe('routers', () => {
    it('start without a gateway and without routes', async () => {
      const made = await network().routers.create({ name: uniqueName('router') });
      expect(made).toMatchObject({ status: 'ACTIVE', adminStateUp: true, gateway: undefined, routes: [] });
    });

    it('get a gateway and lose it', async () => {
      const made = await network().routers.create({
        name: uniqueName('router'),
        gateway: { networkId: cloud.world.external.id },
      });
      expect(made.gateway).toMatchObject({ networkId: cloud.world.external.id, enableSnat: true });
      expect(made.gateway!.fixedIps).toHaveLength(1);
      expect((await network().routers.update(made.id, { gateway: null })).gateway).toBeUndefined();
    });

    it('require an external network for the gateway', async () => {
      const { network: net } = await createLab(cloud.member);
      const create = (networkId: string) =>
        network().routers.create({ name: uniqueName('router'), gateway: { networkId } });
      await refused(create(net.id), {
        status: 400,
        type: 'BadRequest',
        says: `Network ${net.id} is not an external network`,
      });
      await refused(create(nobody), { status: 404, type: 'NetworkNotFound' });
    });

    it('join subnets by a port with the gateway address', async () => {
      const { network: net, subnet } = await createLab(cloud.member);
      const router = await network().routers.create({ name: uniqueName('router') });
      const joined = await network().routers.addInterface(router.id, { subnetId: subnet.id });
      expect(joined).toMatchObject({ subnetId: subnet.id, networkId: net.id });
      expect(await network().ports.get(joined.portId)).toMatchObject({
        deviceId: router.id,
        deviceOwner: 'network:router_interface',
        fixedIps: [{ subnetId: subnet.id, address: subnet.gatewayIp }],
        securityGroupIds: [],
        portSecurityEnabled: false,
      });
      await refused(network().routers.addInterface(router.id, { subnetId: subnet.id }), {
        status: 400,
        type: 'BadRequest',
        says: `Router already has a port on subnet ${subnet.id}.`,
      });
      await refused(network().routers.delete(router.id), { status: 409, kind: 'conflict', type: 'RouterInUse' });
      await refused(network().ports.delete(joined.portId), { status: 409, type: 'ServicePortInUse' });
      await network().routers.removeInterface(router.id, { subnetId: subnet.id });
      await refused(network().routers.removeInterface(router.id, { subnetId: subnet.id }), {
        status: 404,
        type: 'RouterInterfaceNotFoundForSubnet',
      });
      expect(await network().routers.delete(router.id)).toBe(true);
    });

    it('join subnets by a port of the user', async () => {
      const { network: net } = await createLab(cloud.member);
      const router = await network().routers.create({ name: uniqueName('router') });
      const port = await network().ports.create({ networkId: net.id });
      expect(await network().routers.addInterface(router.id, { portId: port.id })).toMatchObject({ portId: port.id });
      await network().routers.removeInterface(router.id, { portId: port.id });
      await refused(network().ports.get(port.id), { status: 404 });
    });

    it('require a subnet or port to join', async () => {
      const router = await network().routers.create({ name: uniqueName('router') });
      const path = `/routers/${router.id}/add_router_interface`;
      await refused(network().service.request({ method: 'PUT', path, json: {} }), {
        status: 400,
        says: 'Either subnet_id or port_id must be specified.',
      });
    });

    it('accept routes', async () => {
      const { router } = await createRoutedLab(cloud);
      const routes = [{ destination: '192.168.77.0/24', nexthop: '10.20.0.77' }];
      expect((await network().routers.update(router.id, { routes })).routes).toEqual(routes);
      expect((await network().routers.update(router.id, { routes: [] })).routes).toEqual([]);
    });
  });

  describe('floating IPs', () => {
    it('are allocated from the external network without a port at first', async () => {
      const ip = await allocate(cloud);
      expect(ip).toMatchObject({
        networkId: cloud.world.external.id,
        portId: undefined,
        fixedAddress: undefined,
        routerId: undefined,
        status: 'DOWN',
      });
      expect(ip.address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect((await network().floatingIps.find(ip.address))?.id).toBe(ip.id);
      expect(await network().floatingIps.delete(ip.id)).toBe(true);
      expect(await network().floatingIps.delete(ip.id)).toBe(false);
    });

    it('are attached to a port behind a router and can be detached', async () => {
      const { network: net, router } = await createRoutedLab(cloud);
      const port = await network().ports.create({ networkId: net.id });
      const ip = await allocate(cloud);
      const led = await network().floatingIps.update(ip.id, { portId: port.id });
      expect(led).toMatchObject({ portId: port.id, fixedAddress: port.fixedIps[0]!.address, routerId: router.id });
      await until(
        () => network().floatingIps.get(ip.id),
        ({ status }) => status === 'ACTIVE',
      );
      expect((await collect(network().floatingIps.list({ portId: port.id }))).map(({ id }) => id)).toEqual([ip.id]);
      const second = await allocate(cloud);
      await refused(network().floatingIps.update(second.id, { portId: port.id }), {
        status: 409,
        type: 'FloatingIPPortAlreadyAssociated',
      });
      const free = await network().floatingIps.update(ip.id, { portId: null });
      expect([free.portId, free.fixedAddress, free.routerId]).toEqual([undefined, undefined, undefined]);
    });

    it('stay when their port is deleted', async () => {
      const { network: net } = await createRoutedLab(cloud);
      const port = await network().ports.create({ networkId: net.id });
      const ip = await network().floatingIps.create({
        networkId: cloud.world.external.id,
        portId: port.id,
        description: 'd',
      });
      expect(ip.description).toBe('d');
      await network().ports.delete(port.id);
      expect((await network().floatingIps.get(ip.id)).portId).toBeUndefined();
    });

    it('keep their router interface from being removed', async () => {
      const { network: net, subnet, router } = await createRoutedLab(cloud);
      const port = await network().ports.create({ networkId: net.id });
      await network().floatingIps.create({ networkId: cloud.world.external.id, portId: port.id });
      await refused(network().routers.removeInterface(router.id, { subnetId: subnet.id }), {
        status: 409,
        type: 'RouterInterfaceInUseByFloatingIP',
      });
      await refused(network().routers.update(router.id, { gateway: null }), {
        status: 409,
        type: 'RouterExternalGatewayInUseByFloatingIp',
      });
    });

    it('require a router that leads outside', async () => {
      const { network: net } = await createLab(cloud.member);
      const port = await network().ports.create({ networkId: net.id });
      const ip = await allocate(cloud);
      await refused(network().floatingIps.update(ip.id, { portId: port.id }), {
        status: 404,
        type: 'ExternalGatewayForFloatingIPNotFound',
        says: 'is not reachable from subnet',
      });
    });

    it('require an external network and a port that exist', async () => {
      const { network: net } = await createLab(cloud.member);
      const { floatingIps } = network();
      await refused(floatingIps.create({ networkId: net.id }), {
        status: 400,
        type: 'BadRequest',
        says: 'is not a valid external network',
      });
      await refused(floatingIps.create({ networkId: nobody }), { status: 404 });
      await refused(floatingIps.create({ networkId: cloud.world.external.id, portId: nobody }), {
        status: 404,
        type: 'PortNotFound',
      });
      const external = cloud.world.external.id;
      await refused(floatingIps.create({ networkId: external, address: '203.0.113.99' }), {
        status: 403,
        kind: 'forbidden',
        type: 'PolicyNotAuthorized',
      });
    });

    it('carry tags', async () => {
      const ip = await allocate(cloud);
      const mark = uniqueName('tag');
      await network().floatingIps.replaceTags(ip.id, [mark]);
      expect((await collect(network().floatingIps.list({ tags: [mark] }))).map(({ id }) => id)).toEqual([ip.id]);
    });

    it('of others cannot be found or deleted', async () => {
      const ip = await allocate(cloud);
      const stranger = await cloud.stranger();
      expect(await stranger.cloud.network.floatingIps.find(ip.address)).toBeUndefined();
      expect(await stranger.cloud.network.floatingIps.delete(ip.id)).toBe(false);
    });
  });
});
