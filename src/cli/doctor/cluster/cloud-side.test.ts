import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OpenStackCluster, OpenStackServer } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { seededRandom, systemClock } from '../../../machinery/index.ts';
import { cloudFromText, connect, type OpenStack } from '../../../openstack/index.ts';
import { createCloud, defaultWorld, renderCloudsYaml, type SimulatedCloud } from '../../../simulator/index.ts';
import { type Finding, hasFailed } from '../findings.ts';
import { cloudSideChecks } from './cloud-side.ts';
import { runChecks } from './run-checks.ts';
import type { ClusterInCloud } from './subject.ts';

const { signal } = new AbortController();
const url = 'http://cloud.test';

// The resources of a cluster in a simulated cloud; each test breaks one thing without the controllers and repairs it.
describe('the check of a cluster in its cloud', () => {
  let cloud: SimulatedCloud;
  let openstack: OpenStack;
  let subject: ClusterInCloud;
  let ids: Record<'server' | 'balancer' | 'network' | 'router' | 'group' | 'floating' | 'port', string>;

  beforeAll(async () => {
    cloud = await createCloud({ clock: systemClock, random: seededRandom(1), world: defaultWorld, timeScale: 0 });
    const text = renderCloudsYaml({ url, region: 'RegionOne', secrets: cloud.secrets });
    const config = await cloudFromText({ text, source: 'the simulated cloud', cloud: 'openstack' });
    openstack = connect(config, { transport: (request) => cloud.transport(request as never) });
    subject = await makeCluster();
  });
  afterAll(async () => {
    await cloud.close();
  });

  async function makeCluster(): Promise<ClusterInCloud> {
    const { network, compute, image, loadBalancer } = openstack;
    const external = await network.networks.find('public');
    const net = await network.networks.create({ name: 'net' });
    const subnet = await network.subnets.create({ networkId: net.id, name: 'net', cidr: '10.9.0.0/24', ipVersion: 4 });
    const router = await network.routers.create({ name: 'router', gateway: { networkId: external?.id ?? '' } });
    await network.routers.addInterface(router.id, { subnetId: subnet.id });
    const group = await network.securityGroups.create({ name: 'group' });
    await network.securityGroupRules.create({ securityGroupId: group.id, direction: 'ingress', protocol: 'tcp' });
    const port = await network.ports.create({ networkId: net.id, name: 'server-0' });
    const flavor = await compute.flavors.find('m1.medium');
    const disk = await image.images.find('ubuntu-capi-image-v1.33.6');
    const server = await compute.servers.create({
      name: 'red-cp-0',
      flavorId: flavor?.id ?? '',
      imageId: disk?.id ?? '',
      networks: [{ portId: port.id }],
    });
    const balancer = await loadBalancer.loadBalancers.create({ name: 'api', vipSubnetId: subnet.id });
    await untilActive(async () => (await loadBalancer.loadBalancers.get(balancer.id)).provisioningStatus);
    const pool = await loadBalancer.pools.create({
      name: 'api',
      protocol: 'TCP',
      algorithm: 'ROUND_ROBIN',
      loadBalancerId: balancer.id,
    });
    await untilActive(async () => (await loadBalancer.loadBalancers.get(balancer.id)).provisioningStatus);
    const address = port.fixedIps[0]?.address ?? '';
    await loadBalancer.members(pool.id).create({ name: 'red-cp-0', address, protocolPort: 6443 });
    await untilActive(async () => (await loadBalancer.loadBalancers.get(balancer.id)).provisioningStatus);
    const { vipPortId } = await loadBalancer.loadBalancers.get(balancer.id);
    const floating = await network.floatingIps.create({ networkId: external?.id ?? '', portId: vipPortId });
    await untilActive(async () => (await compute.servers.get(server.id)).status);
    ids = {
      server: server.id,
      balancer: balancer.id,
      network: net.id,
      router: router.id,
      group: group.id,
      floating: floating.id,
      port: port.id,
    };
    const infrastructure = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'OpenStackCluster',
      metadata: { name: 'red', namespace: 'default' },
      spec: { identityRef: { name: 'x', cloudName: 'openstack' } },
      status: {
        network: { id: net.id, name: 'net', subnets: [{ id: subnet.id, name: 'net', cidr: '10.9.0.0/24' }] },
        router: { id: router.id, name: 'router' },
        externalNetwork: { id: external?.id ?? '', name: 'public' },
        controlPlaneSecurityGroup: { id: group.id, name: 'group' },
        apiServerManagedLoadBalancer: { id: balancer.id, name: 'api', ip: floating.address },
      },
    } as OpenStackCluster;
    const servers = [
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'OpenStackServer',
        metadata: { name: 'red-cp-0', namespace: 'default' },
        spec: { ports: [{}], flavorID: flavor?.id ?? '' } as OpenStackServer['spec'],
        status: { ready: true, instanceID: server.id },
      },
    ];
    const cluster = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'red', namespace: 'default' },
      spec: { controlPlaneEndpoint: { host: floating.address, port: 6443 } },
    };
    return {
      name: 'red',
      namespace: 'default',
      // These checks do not use the management API.
      client: {} as Client,
      found: { cluster, objects: [] },
      machines: [],
      nowMs: systemClock.now(),
      cloud: openstack,
      infrastructure,
      servers,
    };
  }

  const examine = (): Promise<Finding[]> => runChecks(cloudSideChecks, subject, signal);
  const said = async (check: string): Promise<string> =>
    (await examine())
      .filter((finding) => finding.check === check && finding.status !== 'ok')
      .map(({ detail, cure }) => `${detail}; ${cure}`)
      .join('\n');

  it('reports only ok for a healthy cluster', async () => {
    const findings = await examine();
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(hasFailed(findings)).toBe(false);
    expect(findings.find(({ check }) => check === 'load balancer')?.detail).toContain(ids.balancer);
  });

  it('reports a quota that is too small for one more machine', async () => {
    const project = await openstack.projectId();
    cloud.operator.setQuota('compute', project, { cores: 3 });
    expect(await said('quota')).toMatch(/not enough for one more machine: cores \(1 left, 2 needed\).*ask for more/);
    cloud.operator.setQuota('compute', project, { cores: 8000 });
  });

  it('reports a floating IP that points to no port, or to a port of others', async () => {
    const floating = await openstack.network.floatingIps.get(ids.floating);
    cloud.operator.moveFloatingIp(ids.floating, null);
    expect(await said('floating IP')).toMatch(/leads nowhere; .*running control plane machine/);
    const foreign = await openstack.network.ports.create({ networkId: ids.network, name: 'foreign' });
    cloud.operator.moveFloatingIp(ids.floating, foreign.id);
    expect(await said('floating IP')).toMatch(
      /leads to port foreign .*, which does not belong to this cluster; disconnect it/,
    );
    cloud.operator.moveFloatingIp(ids.floating, floating.portId ?? null);
    await openstack.network.ports.delete(foreign.id);
  });

  it('reports a router without the external network', async () => {
    const { gateway } = await openstack.network.routers.get(ids.router);
    cloud.operator.moveFloatingIp(ids.floating, null);
    const floating = await openstack.network.floatingIps.get(ids.floating);
    await openstack.network.routers.update(ids.router, { gateway: null });
    expect(await said('network')).toMatch(/router router does not lead to the external network .*; the controllers/);
    await openstack.network.routers.update(ids.router, { gateway: { networkId: gateway?.networkId ?? '' } });
    expect(floating.portId).toBeUndefined();
  });

  it('reports a security group that lets nothing in or is gone', async () => {
    for await (const { id, direction } of openstack.network.securityGroupRules.list({ securityGroupId: ids.group })) {
      if (direction === 'ingress') await openstack.network.securityGroupRules.delete(id);
    }
    expect(await said('security groups')).toMatch(/security group group allows no incoming traffic; /);
    await openstack.network.securityGroups.delete(ids.group);
    expect(await said('security groups')).toMatch(/no longer exists in the cloud/);
  });

  it('reports a server that is stopped, broken or gone', async () => {
    cloud.operator.stopServer(ids.server);
    expect(await said('servers')).toMatch(/server red-cp-0 is SHUTOFF; openstack server start/);
    cloud.operator.breakServer(ids.server, 'No valid host was found');
    expect(await said('servers')).toMatch(
      /is in ERROR: No valid host was found; when the cause is gone, replace it with kubectl delete machine/,
    );
    cloud.operator.deleteServer(ids.server);
    expect(await said('servers')).toMatch(/no longer exists in the cloud/);
  });

  it('reports a load balancer in ERROR', async () => {
    cloud.operator.breakLoadBalancer(ids.balancer);
    expect(await said('load balancer')).toMatch(
      new RegExp(`api \\(${ids.balancer}\\) is ERROR, .*openstack loadbalancer failover`),
    );
  });
});

async function untilActive(state: () => Promise<string>): Promise<void> {
  await vi.waitFor(async () => expect(await state()).toBe('ACTIVE'), { timeout: 30_000, interval: 20 });
}
