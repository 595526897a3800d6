import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenStackCluster, type OpenStackClusterSpec, OpenStackClusters } from '../../../api/index.ts';
import type { JsonObject, Resource, UnstructuredObject } from '../../../machinery/index.ts';
import { collect, type Network, type Subnet } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { footprint } from '../testing/footprint.ts';
import {
  by,
  createInfrastructureWorld,
  createOpenStackCluster,
  credentialsName,
  type InfrastructureWorld,
} from '../testing/world.ts';
import { openStackClusterController } from './cluster-controller.ts';

// One world for all cases: the spec of a cluster and its result.
let world: InfrastructureWorld;
let serial = 0;
let brought: { network: Network; subnets: Subnet[] };

beforeAll(async () => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackClusterController(dependencies)],
    cloud: { timeScale: 0.1 },
  });
  const { networks, subnets } = world.tenant.network;
  const network = await networks.create({ name: 'brought' });
  const first = { networkId: network.id, name: 'first', cidr: '10.20.0.0/24', ipVersion: 4 } as const;
  const second = { networkId: network.id, name: 'second', cidr: '10.21.0.0/24', ipVersion: 4 } as const;
  brought = { network, subnets: [await subnets.create(first), await subnets.create(second)] };
  await networks.create({ name: 'twin' });
  await networks.create({ name: 'twin' });
});
afterAll(() => world.stop());

const managed: Partial<OpenStackClusterSpec> = { managedSubnets: [{ cidr: '10.6.0.0/24' }] };
const key = (name: string) => ({ namespace: world.namespace, name });
const find = (name: string): Promise<OpenStackCluster | undefined> => world.find(OpenStackClusters, name);

async function create(
  spec: Partial<OpenStackClusterSpec>,
  options?: Parameters<typeof createOpenStackCluster>[3],
): Promise<string> {
  const name = `w${++serial}`;
  await createOpenStackCluster(world, name, spec, options);
  return name;
}

async function provisioned(name: string): Promise<OpenStackCluster> {
  await world.until(async () => (await find(name))?.status?.initialization?.provisioned === true);
  return world.get(OpenStackClusters, name);
}

async function refused(name: string): Promise<{ type: string; reason: string | undefined; message: string }> {
  await world.until(async () => conditionOf(await find(name), 'Ready')?.status === 'False');
  const conditions = (await find(name))?.status?.conditions ?? [];
  const bad = conditions.find(({ type, status }) => type !== 'Ready' && status === 'False');
  return { type: bad?.type ?? '', reason: bad?.reason, message: bad?.message ?? '' };
}

async function remove(name: string): Promise<void> {
  await world.client.delete(OpenStackClusters, key(name));
  await world.until(async () => (await find(name)) === undefined);
}

describe('the network of an OpenStackCluster', () => {
  it('is used when the user brought it, and survives the cluster', async () => {
    const before = await footprint(world.tenant);
    const name = await create({
      network: { filter: { name: 'brought' } },
      apiServer: { fixedIP: '10.20.0.9', enableFloatingIP: false },
    });
    const { status, spec } = await provisioned(name);
    expect(status?.network).toMatchObject({
      id: brought.network.id,
      subnets: expect.arrayContaining(brought.subnets.map(({ id, cidr }) => expect.objectContaining({ id, cidr }))),
    });
    expect(spec.controlPlaneEndpoint).toEqual({ host: '10.20.0.9', port: 6443 });
    expect(status?.router).toBeUndefined();
    await remove(name);
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('is found from a subnet when only that is named', async () => {
    const name = await create({
      subnets: [{ filter: { cidr: '10.21.0.0/24' } }],
      controlPlaneEndpoint: { host: 'api.example.com', port: 443 },
    });
    const { status, spec } = await provisioned(name);
    expect(status?.network?.id).toBe(brought.network.id);
    expect(status?.network?.subnets?.map(({ name: subnet }) => subnet)).toEqual(['second']);
    expect(spec.controlPlaneEndpoint).toEqual({ host: 'api.example.com', port: 443 });
    await remove(name);
  });

  it('gets the given MTU, port security, pools and name servers, and changed name servers later', async () => {
    const pools = [{ start: '10.6.0.100', end: '10.6.0.200' }];
    const name = await create({
      managedNetwork: { mtu: 1400, enablePortSecurity: false },
      managedSubnets: [{ cidr: '10.6.0.0/24', allocationPools: pools, dnsNameservers: ['192.0.2.1'] }],
      tags: ['team-a', 'team-b'],
    });
    const { status } = await provisioned(name);
    const { networks, subnets } = world.tenant.network;
    const id = status?.network?.id ?? '';
    expect(await networks.get(id)).toMatchObject({ mtu: 1400, portSecurityEnabled: false, tags: ['team-a', 'team-b'] });
    const subnetId = status?.network?.subnets?.[0]?.id ?? '';
    expect(await subnets.get(subnetId)).toMatchObject({ allocationPools: pools, dnsNameservers: ['192.0.2.1'] });
    const changed = [{ cidr: '10.6.0.0/24', allocationPools: pools, dnsNameservers: ['192.0.2.2', '192.0.2.3'] }];
    await world.client.patch(OpenStackClusters, key(name), 'merge', { spec: { managedSubnets: changed } }, by);
    await world.until(async () => (await subnets.get(subnetId)).dnsNameservers.length === 2);
    await remove(name);
  });

  it('may use IPv6 with matching rules', async () => {
    const name = await create({ managedSubnets: [{ cidr: 'fd00:6::/64' }], managedSecurityGroups: {} });
    const { status } = await provisioned(name);
    const subnet = await world.tenant.network.subnets.get(status?.network?.subnets?.[0]?.id ?? '');
    expect(subnet).toMatchObject({ ipVersion: 6, ipv6AddressMode: 'dhcpv6-stateful' });
    const { rules } = await world.tenant.network.securityGroups.get(status?.controlPlaneSecurityGroup?.id ?? '');
    expect(
      rules
        .filter(({ portRangeMin }) => portRangeMin === 6443)
        .map(({ ethertype }) => ethertype)
        .sort(),
    ).toEqual(['IPv4', 'IPv6']);
    await remove(name);
  });

  it('uses a router of the user, and keeps it', async () => {
    const { routers } = world.tenant.network;
    const router = await routers.create({
      name: 'brought-router',
      gateway: { networkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650' },
    });
    const name = await create({ ...managed, router: { id: router.id } });
    const { status } = await provisioned(name);
    expect(status?.router).toMatchObject({ id: router.id, name: 'brought-router' });
    await remove(name);
    expect(await collect(world.tenant.network.ports.list({ deviceId: router.id }))).toEqual([]);
    expect((await routers.get(router.id)).name).toBe('brought-router');
    await routers.delete(router.id);
  });
});

describe('a v1alpha3 manifest', () => {
  it('is accepted, and its Calico rules are created once and then left alone', async () => {
    const { namespace } = world;
    const name = `w${++serial}`;
    const { metadata } = await createOpenStackCluster(world, name, managed, {
      annotations: { 'cluster.x-k8s.io/paused': '' },
    });
    await world.client.delete(OpenStackClusters, key(name));
    const old: Resource<UnstructuredObject> = { ...(OpenStackClusters as Resource<never>), version: 'v1alpha3' };
    await world.client.create(
      old,
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha3',
        kind: 'OpenStackCluster',
        metadata: { name, namespace, ownerReferences: metadata.ownerReferences ?? [] },
        spec: {
          cloudName: 'openstack',
          cloudsSecret: { name: credentialsName, namespace },
          disablePortSecurity: false,
          dnsNameservers: ['8.8.8.8'],
          managedAPIServerLoadBalancer: false,
          managedSecurityGroups: true,
          externalNetworkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
          nodeCidr: '10.6.0.0/24',
          useOctavia: false,
          controlPlaneAvailabilityZones: ['nova'],
        },
      },
      by,
    );
    const { status } = await provisioned(name);
    const group = () => world.tenant.network.securityGroups.get(status?.workerSecurityGroup?.id ?? '');
    const { rules } = await group();
    expect(rules.filter(({ portRangeMin }) => portRangeMin === 179)).toHaveLength(2);
    expect(rules.filter(({ protocol }) => protocol === '4' || protocol === 'ipip')).toHaveLength(2);
    expect(status?.failureDomains?.filter(({ controlPlane }) => controlPlane).map((domain) => domain.name)).toEqual([
      'nova',
    ]);
    await world.pass(1_200_000);
    expect((await group()).rules.map(({ id }) => id).sort()).toEqual(rules.map(({ id }) => id).sort());
    await remove(name);
  });
});

describe('the endpoint of an OpenStackCluster', () => {
  it('is the floating IP of the user, which is never deleted', async () => {
    const { floatingIps } = world.tenant.network;
    const own = await floatingIps.create({ networkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650' });
    const name = await create({ ...managed, apiServer: { floatingIP: own.address, port: 8443 } });
    expect((await provisioned(name)).spec.controlPlaneEndpoint).toEqual({ host: own.address, port: 8443 });
    await remove(name);
    expect((await floatingIps.get(own.id)).address).toBe(own.address);
    await floatingIps.delete(own.id);
  });

  it('is refused when another port uses the floating IP', async () => {
    const { floatingIps, ports, subnets, routers } = world.tenant.network;
    const { id: routerId } = await routers.create({
      name: 'r',
      gateway: { networkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650' },
    });
    await routers.addInterface(routerId, { subnetId: brought.subnets[0]?.id ?? '' });
    expect((await collect(subnets.list({ networkId: brought.network.id }))).length).toBe(2);
    const port = await ports.create({
      networkId: brought.network.id,
      fixedIps: [{ subnetId: brought.subnets[0]?.id }],
    });
    const own = await floatingIps.create({ networkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650', portId: port.id });
    const name = await create({
      ...managed,
      apiServer: { floatingIP: own.address, managedLoadBalancer: { enabled: true } },
    });
    expect(await refused(name)).toMatchObject({
      type: 'APIEndpointReady',
      message: expect.stringMatching(`floating IP ${own.address} is in use by port ${port.id}; free it`),
    });
    expect((await floatingIps.get(own.id)).portId).toBe(port.id);
    await floatingIps.update(own.id, { portId: null });
    expect((await provisioned(name)).spec.controlPlaneEndpoint?.host).toBe(own.address);
    await remove(name);
    await floatingIps.delete(own.id);
  });

  it('comes from the control plane provider when the cluster may not create one', async () => {
    const name = await create({ ...managed, apiServer: { enableFloatingIP: false } });
    await world.until(
      async () => conditionOf(await find(name), 'APIEndpointReady')?.reason === 'WaitingForControlPlaneEndpoint',
    );
    const endpoint = { host: '192.0.2.10', port: 6443 };
    await world.client.patch(OpenStackClusters, key(name), 'merge', { spec: { controlPlaneEndpoint: endpoint } }, by);
    await provisioned(name);
    await remove(name);
  });

  it('comes from a hosted control plane even when floating IPs are allowed', async () => {
    const controlPlaneRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'K0smotronControlPlane', name: 'plane' };
    const name = await create(managed, { cluster: { controlPlaneRef } });
    await world.until(
      async () => conditionOf(await find(name), 'APIEndpointReady')?.reason === 'WaitingForControlPlaneEndpoint',
    );
    expect(conditionOf(await find(name), 'APIEndpointReady')?.message).toContain('K0smotronControlPlane plane');
    const endpoint = { host: '192.0.2.12', port: 6443 };
    await world.client.patch(OpenStackClusters, key(name), 'merge', { spec: { controlPlaneEndpoint: endpoint } }, by);
    expect((await provisioned(name)).spec.controlPlaneEndpoint).toEqual(endpoint);
    expect(await collect(world.tenant.network.floatingIps.list())).toEqual([]);
    await remove(name);
  });

  it('conflicts between load balancer and hosted control plane, which is reported and can be resolved', async () => {
    const controlPlaneRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KamajiControlPlane', name: 'plane' };
    const balanced = { ...managed, apiServer: { managedLoadBalancer: { enabled: true } } };
    const name = await create(balanced, { cluster: { controlPlaneRef } });
    const change = (spec: JsonObject) => world.client.patch(OpenStackClusters, key(name), 'merge', { spec }, by);
    await world.until(async () => conditionOf(await find(name), 'APIEndpointReady')?.reason === 'EndpointConflict');
    expect(conditionOf(await find(name), 'APIEndpointReady')?.message).toMatch(
      /KamajiControlPlane plane .* enabled to false/,
    );
    const endpoint = { host: '192.0.2.13', port: 6443 };
    await change({ controlPlaneEndpoint: endpoint });
    await change({ apiServer: { managedLoadBalancer: { enabled: false } } });
    expect((await provisioned(name)).spec.controlPlaneEndpoint).toEqual(endpoint);
    expect(await collect(world.tenant.loadBalancer.loadBalancers.list())).toEqual([]);
    await remove(name);
  });

  it('is the one already set in the Cluster, and no floating IP is reserved', async () => {
    const name = await create(managed, { cluster: { controlPlaneEndpoint: { host: '192.0.2.11', port: 443 } } });
    expect((await provisioned(name)).spec.controlPlaneEndpoint).toEqual({ host: '192.0.2.11', port: 443 });
    expect(await collect(world.tenant.network.floatingIps.list())).toEqual([]);
    await remove(name);
  });

  it('is internal when the load balancer has no floating IP', async () => {
    const name = await create({
      ...managed,
      apiServer: {
        enableFloatingIP: false,
        fixedIP: '10.6.0.77',
        managedLoadBalancer: { enabled: true, provider: 'nope', flavor: 'small' },
      },
    });
    const { spec, status } = await provisioned(name);
    expect(spec.controlPlaneEndpoint).toEqual({ host: '10.6.0.77', port: 6443 });
    expect(status?.apiServerManagedLoadBalancer).toMatchObject({ internalIP: '10.6.0.77' });
    expect(status?.apiServerManagedLoadBalancer).not.toHaveProperty('ip');
    await remove(name);
  });
});

describe('failure domains', () => {
  it('follow the control plane zones, also after a change', async () => {
    const name = await create({ ...managed, controlPlaneAvailabilityZones: ['az2'] });
    const chosen = ({ status }: OpenStackCluster) =>
      status?.failureDomains?.filter(({ controlPlane }) => controlPlane).map((domain) => domain.name);
    expect(chosen(await provisioned(name))).toEqual(['az2']);
    const spec = { controlPlaneAvailabilityZones: ['az3', 'nova'] };
    await world.client.patch(OpenStackClusters, key(name), 'merge', { spec }, by);
    await world.until(async () => chosen(await world.get(OpenStackClusters, name))?.length === 2);
    await remove(name);
  });
});

describe('OpenStackCluster input that the cloud refuses', () => {
  const cases: Record<string, [spec: Partial<OpenStackClusterSpec>, type: string, message: RegExp]> = {
    'no such network': [
      { network: { filter: { name: 'nowhere' } } },
      'NetworkReady',
      /spec\.network: no network matches name "nowhere"; correct the filter, or create the network/,
    ],
    'no such network id': [
      { network: { id: '11111111-2222-3333-4444-555555555555' } },
      'NetworkReady',
      /spec\.network: there is no network 11111111-.* that this project may use; correct the id/,
    ],
    'two networks of a name': [
      { network: { filter: { name: 'twin' } } },
      'NetworkReady',
      /spec\.network: 2 networks match name "twin" \(.*\); name one by its id, or narrow the filter/,
    ],
    'no network at all': [{}, 'NetworkReady', /the cluster has no network: give spec\.managedSubnets/],
    'no such external network': [
      { ...managed, externalNetwork: { filter: { name: 'nowhere' } } },
      'NetworkReady',
      /spec\.externalNetwork: no external network matches name "nowhere"/,
    ],
    'no such router': [
      { ...managed, router: { filter: { name: 'nowhere' } } },
      'RouterReady',
      /spec\.router: no router matches name "nowhere"/,
    ],
    'a remote group that is not there': [
      {
        ...managed,
        managedSecurityGroups: {
          clusterNodesSecurityGroupRules: [{ name: 'r', direction: 'ingress', remoteManagedGroups: ['bastion'] }],
        },
      },
      'SecurityGroupsReady',
      /rule "r" names the remote group "bastion", which does not exist; enable the bastion/,
    ],
    'a protocol neutron does not know': [
      {
        ...managed,
        managedSecurityGroups: {
          workerNodesSecurityGroupRules: [{ name: 'r', direction: 'ingress', protocol: 'carrier-pigeon' }],
        },
      },
      'SecurityGroupsReady',
      /rules of security group .*-secgroup-worker could not be set: network: .*carrier-pigeon/,
    ],
    'an address that is not there to be had': [
      { ...managed, apiServer: { floatingIP: '203.0.113.9' } },
      'APIEndpointReady',
      /spec\.apiServer\.floatingIP: there is no floating IP 203\.0\.113\.9 .*; let an administrator create it/,
    ],
    'no such Secret': [
      { ...managed, identityRef: { name: 'nowhere', cloudName: 'openstack' } },
      'OpenStackAuthenticationSucceeded',
      /Secret world-\d+\/nowhere does not exist; create it with the key clouds\.yaml/,
    ],
    'no such cloud': [
      { ...managed, identityRef: { name: credentialsName, cloudName: 'nowhere' } },
      'OpenStackAuthenticationSucceeded',
      /Secret world-\d+\/cloud-config: cloud "nowhere" was not found; use one of: openstack, admin/,
    ],
    'no such identity': [
      { ...managed, identityRef: { type: 'ClusterIdentity', name: 'nowhere', cloudName: 'openstack' } },
      'OpenStackAuthenticationSucceeded',
      /there is no OpenStackClusterIdentity "nowhere"; create it/,
    ],
  };

  it.each(Object.entries(cases))(
    '%s: is reported with name, cause and cure, and the object can be deleted',
    async (_, [spec, type, message]) => {
      const name = await create(spec);
      const told = await refused(name);
      expect(told.type).toBe(type);
      expect(told.message).toMatch(message);
      await remove(name);
    },
  );

  it('is not reported again in every pass', async () => {
    const name = await create({ network: { filter: { name: 'nowhere' } } });
    await refused(name);
    const writes = world.writes();
    await world.pass(120_000);
    expect(world.writes()).toBe(writes);
    await remove(name);
  });

  it('is accepted once the cloud has what was missing', async () => {
    const name = await create({ network: { filter: { name: 'late' } }, controlPlaneEndpoint: { host: 'a', port: 1 } });
    await refused(name);
    const { networks, subnets } = world.tenant.network;
    const network = await networks.create({ name: 'late' });
    await subnets.create({ networkId: network.id, name: 'late', cidr: '10.30.0.0/24', ipVersion: 4 });
    await provisioned(name);
    await remove(name);
    await networks.delete(network.id);
  });
});
