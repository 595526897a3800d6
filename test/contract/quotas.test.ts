import { beforeAll, expect, it } from 'vitest';
import { collect } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createLab } from './support/lab.ts';
import { refused } from './support/refused.ts';
import { serverSpec, untilStatus } from './support/servers.ts';
import { setQuotas, type Tenant, uniqueName } from './support/tenant.ts';
import { until } from './support/wait.ts';

contract('quotas', (cloud) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await cloud.stranger();
    await setQuotas(cloud.admin, tenant.projectId, {
      compute: { instances: 1, key_pairs: 1, server_groups: 1 },
      network: { network: 2, port: 3, floatingip: 0, security_group: 2, router: 1 },
      volume: { volumes: 1, gigabytes: 5 },
      loadBalancer: { load_balancer: 0 },
    });
  });
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPMZEEbIIO/zjhmg1lKkuPf9ldXGUIWzMfz2zKaiuToH contract';

  it('limit servers', async () => {
    const { servers } = tenant.cloud.compute;
    // nova counts a server once it is scheduled.
    const { id } = await servers.create(serverSpec(cloud, {}));
    await untilStatus(tenant.cloud, id, 'ACTIVE');
    await refused(servers.create(serverSpec(cloud, {})), {
      status: 403,
      kind: 'quota',
      says: 'Quota exceeded for instances: Requested 1, but already used 1 of 1 instances',
    });
    expect(await collect(servers.list())).toHaveLength(1);
    expect((await tenant.cloud.compute.quotas(tenant.projectId))['instances']).toMatchObject({ limit: 1, used: 1 });
  });

  it('limit key pairs and server groups', async () => {
    const { keypairs, serverGroups } = tenant.cloud.compute;
    await keypairs.create({ name: 'one', publicKey: key });
    await refused(keypairs.create({ name: 'two', publicKey: key }), { status: 403, kind: 'quota' });
    await serverGroups.create({ name: 'one', policy: 'affinity' });
    await refused(serverGroups.create({ name: 'two', policy: 'affinity' }), { status: 403, kind: 'quota' });
  });

  it('limit networks and ports, all or nothing', async () => {
    const { network } = tenant.cloud;
    const lab = await createLab(tenant.cloud);
    const bulk = { networks: [{ name: 'a' }, { name: 'b' }] };
    await refused(network.service.request({ method: 'POST', path: '/networks', json: bulk }), {
      status: 409,
      kind: 'quota',
      type: 'OverQuota',
      says: "Quota exceeded for resources: ['network'].",
    });
    expect(await collect(network.networks.list({ projectId: tenant.projectId }))).toHaveLength(1);
    const desired = { networkId: lab.network.id };
    const before = (await collect(network.ports.list({ projectId: tenant.projectId }))).length;
    await network.ports.createMany(Array.from({ length: 3 - before }, () => desired));
    await refused(network.ports.create(desired), { status: 409, kind: 'quota', type: 'OverQuota', says: "['port']" });
    expect((await network.quotas(tenant.projectId))['port']).toMatchObject({ limit: 3, used: 3 });
  });

  it('limit floating IPs, security groups and routers', async () => {
    const { network } = tenant.cloud;
    await refused(network.floatingIps.create({ networkId: cloud.world.external.id }), {
      status: 409,
      kind: 'quota',
      type: 'OverQuota',
    });
    const name = () => ({ name: uniqueName('q') });
    // The default group counts.
    await network.securityGroups.create(name());
    await refused(network.securityGroups.create(name()), { status: 409, kind: 'quota' });
    await network.routers.create(name());
    await refused(network.routers.create(name()), { status: 409, kind: 'quota' });
  });

  it('limit volumes and their size', async () => {
    const { volumes } = tenant.cloud.volume;
    await refused(volumes.create({ name: 'large', size: 9 }), {
      status: 413,
      kind: 'quota',
      says: /exceeds allowed gigabytes quota\. Requested 9G, quota is 5G and 0G has been consumed\./,
    });
    const { id } = await volumes.create({ name: 'small', size: 2 });
    await until(
      () => volumes.get(id),
      ({ status }) => status === 'available',
    );
    await refused(volumes.create({ name: 'second', size: 1 }), { status: 413, kind: 'quota' });
    await refused(volumes.extend(id, 7), { status: 413, kind: 'quota' });
  });

  it('limit load balancers', async () => {
    const lab = (await collect(tenant.cloud.network.subnets.list({ projectId: tenant.projectId })))[0]!;
    await refused(tenant.cloud.loadBalancer.loadBalancers.create({ name: 'lb', vipSubnetId: lab.id }), {
      status: 403,
      kind: 'quota',
      says: 'Quota has been met for resources: Load Balancer',
    });
  });
});
