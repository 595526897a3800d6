import { afterEach, describe, expect, it } from 'vitest';
import {
  Clusters,
  Machines,
  type OpenStackCluster,
  type OpenStackClusterSpec,
  OpenStackClusters,
  OpenStackServers,
} from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { openStackServerController } from '../server/server-controller.ts';
import { footprint } from '../testing/footprint.ts';
import {
  by,
  createInfrastructureWorld,
  createOpenStackCluster,
  type InfrastructureWorld,
  type WorldOptions,
} from '../testing/world.ts';
import { openStackClusterController } from './cluster-controller.ts';

let world: InfrastructureWorld;
afterEach(() => world.stop());

async function start(options: Partial<WorldOptions> = {}): Promise<void> {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackClusterController(dependencies), openStackServerController(dependencies)],
    ...options,
    cloud: { timeScale: 0.1, ...options.cloud },
  });
}

const managed: Partial<OpenStackClusterSpec> = {
  managedSubnets: [{ cidr: '10.6.0.0/24' }],
  managedSecurityGroups: {},
};
const external = '375af7fe-a2c1-4c26-a57d-6d33175a6650';
const key = (name = 'c1') => ({ namespace: world.namespace, name });
const find = (name = 'c1'): Promise<OpenStackCluster | undefined> => world.find(OpenStackClusters, name);
const get = (name = 'c1'): Promise<OpenStackCluster> => world.get(OpenStackClusters, name);
const until = (condition: (cluster: OpenStackCluster) => boolean, name = 'c1'): Promise<void> =>
  world.until(async () => {
    const cluster = await find(name);
    return cluster !== undefined && condition(cluster);
  });
const isProvisioned = ({ status }: OpenStackCluster): boolean => status?.initialization?.provisioned === true;
const patch = (body: object, name = 'c1') =>
  world.client.patch(OpenStackClusters, key(name), 'merge', body as never, by);

async function removed(name = 'c1'): Promise<void> {
  await world.client.delete(OpenStackClusters, key(name));
  await world.until(async () => (await find(name)) === undefined);
}

describe('the bastion of an OpenStackCluster', () => {
  const bastion = {
    enabled: true,
    spec: {
      flavor: { filter: { name: 'm1.small' } },
      image: { filter: { name: 'Ubuntu 22.04' } },
      sshKeyName: 'demo',
    },
  };

  it('gets a floating IP and a security group, and is deleted when it is disabled', async () => {
    await start();
    const before = await footprint(world.tenant);
    await createOpenStackCluster(world, 'c1', { ...managed, bastion });
    await until(({ status }) => status?.bastion?.floatingIP !== undefined);
    const { status, metadata } = await get();
    const server = await world.get(OpenStackServers, 'c1-bastion');
    expect(server.metadata.ownerReferences?.[0]?.uid).toBe(metadata.uid);
    const [running] = await collect(world.tenant.compute.servers.list());
    expect(status?.bastion).toMatchObject({ name: 'c1-bastion', id: running?.id, state: 'ACTIVE', sshKeyName: 'demo' });
    const portId = server.status?.resources?.ports?.[0]?.id ?? '';
    const [address] = await collect(world.tenant.network.floatingIps.list({ portId }));
    expect(address?.address).toBe(status?.bastion?.floatingIP);
    expect((await world.tenant.network.ports.get(portId)).securityGroupIds).toEqual([status?.bastionSecurityGroup?.id]);
    await patch({ spec: { bastion: { enabled: false } } });
    await until(({ status: now }) => now?.bastion === undefined && now?.bastionSecurityGroup === undefined);
    expect(await collect(world.tenant.compute.servers.list())).toEqual([]);
    await removed();
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('is created again when its server is permanently gone', async () => {
    await start();
    await createOpenStackCluster(world, 'c1', { ...managed, bastion });
    await until(({ status }) => status?.bastion?.floatingIP !== undefined);
    const { status } = await world.get(OpenStackServers, 'c1-bastion');
    const address = (await get()).status?.bastion?.floatingIP;
    world.cloud.operator.deleteServer(status?.instanceID ?? '');
    await until(
      ({ status: now }) =>
        now?.bastion?.id !== undefined &&
        now.bastion.id !== status?.instanceID &&
        now.bastion.state === 'ACTIVE' &&
        now.bastion.floatingIP === address,
    );
  });

  it('is replaced only when its spec changes', async () => {
    await start();
    await createOpenStackCluster(world, 'c1', { ...managed, bastion });
    await until(({ status }) => status?.bastion?.floatingIP !== undefined);
    const first = await world.get(OpenStackServers, 'c1-bastion');
    await world.restart();
    await world.pass(30_000);
    expect((await world.get(OpenStackServers, 'c1-bastion')).metadata.uid).toBe(first.metadata.uid);
    const address = (await get()).status?.bastion?.floatingIP;
    await patch({ spec: { bastion: { spec: { flavor: { filter: { name: 'm1.medium' } } } } } });
    await world.until(async () => {
      const now = await world.find(OpenStackServers, 'c1-bastion');
      return now !== undefined && now.metadata.uid !== first.metadata.uid && now.status?.ready === true;
    });
    await until(
      ({ status }) => status?.bastion?.id !== first.status?.instanceID && status?.bastion?.floatingIP === address,
    );
  });

  it('is deleted with the cluster', async () => {
    await start();
    const before = await footprint(world.tenant);
    await createOpenStackCluster(world, 'c1', { ...managed, bastion });
    await until(({ status }) => status?.bastion?.floatingIP !== undefined);
    await removed();
    expect(await footprint(world.tenant)).toEqual(before);
  });
});

describe('resources left by the workload', () => {
  async function leave(networkId: string): Promise<void> {
    const { loadBalancer, network, volume } = world.tenant;
    const balancer = await loadBalancer.loadBalancers.create({
      name: 'kube_service_c1_default_web',
      vipNetworkId: networkId,
    });
    await world.until(async () => (await loadBalancer.loadBalancers.get(balancer.id)).provisioningStatus === 'ACTIVE');
    await network.floatingIps.create({
      networkId: external,
      portId: balancer.vipPortId ?? '',
      description: 'Floating IP for Kubernetes external service default/web from cluster c1',
    });
    const metadata = { 'cinder.csi.openstack.org/cluster': 'c1' };
    await volume.volumes.create({ name: 'pvc-1', size: 1, metadata });
    await volume.volumes.create({ name: 'somebody-elses', size: 1 });
  }

  it('block the deletion with their names, and are deleted when an annotation requests it', async () => {
    await start();
    const before = await footprint(world.tenant);
    await createOpenStackCluster(world, 'c1', managed);
    await until(isProvisioned);
    await leave((await get()).status?.network?.id ?? '');
    await world.client.delete(OpenStackClusters, key());
    await until((cluster) => conditionOf(cluster, 'Ready')?.reason === 'DeletionBlocked');
    expect(conditionOf(await get(), 'Ready')?.message).toMatch(
      /^router .* floating IPs; delete what is left of the workload, or set the annotation infrastructure\.cluster\.x-k8s\.io\/delete-leftovers: all$/,
    );
    await patch({ metadata: { annotations: { 'infrastructure.cluster.x-k8s.io/delete-leftovers': 'all' } } });
    await world.until(async () => (await find()) === undefined);
    expect(await footprint(world.tenant)).toEqual([...before, 'volume somebody-elses'].sort());
  });
});

describe('a cloud with limits', () => {
  it('is reported when it has no Octavia', async () => {
    await start({ cloud: { without: ['load-balancer'] } });
    await createOpenStackCluster(world, 'c1', { ...managed, apiServer: { managedLoadBalancer: { enabled: true } } });
    await until((cluster) => conditionOf(cluster, 'APIEndpointReady')?.status === 'False');
    expect(conditionOf(await get(), 'APIEndpointReady')?.message).toMatch(
      /this cloud has no load balancers \(Octavia\).*leave managedLoadBalancer out/,
    );
    await removed();
  });

  it('is reported with its quota message, and used again when the quota grows', async () => {
    await start();
    const projectId = await world.tenant.projectId();
    world.cloud.operator.setQuota('network', projectId, { router: 1 });
    await createOpenStackCluster(world, 'c1', managed);
    await until((cluster) => conditionOf(cluster, 'RouterReady')?.status === 'False');
    expect(conditionOf(await get(), 'RouterReady')?.message).toMatch(
      /router k8s-clusterapi-cluster-.* could not be created: network: Quota exceeded for resources.*router.*ask the operator of the cloud for more quota/,
    );
    world.cloud.operator.setQuota('network', projectId, { router: 5 });
    await until(isProvisioned);
  });

  it('is asked again only after its Retry-After time', async () => {
    await start();
    world.cloud.operator.faults.set({
      id: 'limit',
      count: 2,
      when: { service: 'network', method: 'POST', path: '/v2.0/networks*' },
      effect: { kind: 'status', status: 429, message: 'slow down', retryAfter: 45 },
    });
    await createOpenStackCluster(world, 'c1', managed);
    await until((cluster) => conditionOf(cluster, 'NetworkReady')?.status === 'False');
    const since = world.requests.length;
    await world.pass(44_000);
    expect(world.requests.length).toBe(since);
    await until(isProvisioned);
  });

  it('delays no other cluster', async () => {
    await start();
    world.cloud.operator.faults.set({
      id: 'stuck',
      when: { service: 'load-balancer', method: 'DELETE' },
      effect: { kind: 'status', status: 409, message: 'Invalid state PENDING_UPDATE of loadbalancer resource x' },
    });
    await createOpenStackCluster(world, 'c1', { ...managed, apiServer: { managedLoadBalancer: { enabled: true } } });
    await until(isProvisioned);
    await world.client.delete(OpenStackClusters, key());
    await until((cluster) => conditionOf(cluster, 'Ready')?.reason === 'WaitingForLoadBalancer');
    expect(conditionOf(await get(), 'Ready')?.message).toMatch(
      /load balancer .* is busy with a change and will be deleted/,
    );
    const from = world.clock.now();
    await createOpenStackCluster(world, 'c2', { ...managed });
    await until(isProvisioned, 'c2');
    expect(world.clock.now() - from).toBeLessThan(5_000);
    world.cloud.operator.faults.clear();
    await world.until(async () => (await find()) === undefined);
  });
});

describe('an OpenStackCluster that must not be touched', () => {
  it.each<[string, object, Parameters<typeof createOpenStackCluster>[3]]>([
    ['is paused by its annotation', {}, { annotations: { 'cluster.x-k8s.io/paused': '' } }],
    ['is paused by its Cluster', {}, { cluster: { paused: true } }],
    ['is managed by somebody else', {}, { annotations: { 'cluster.x-k8s.io/managed-by': 'terraform' } }],
    ['is not for this instance', { watchFilter: 'mine' }, {}],
  ])('stays unchanged because it %s', async (_, worldOptions, options) => {
    await start(worldOptions);
    await createOpenStackCluster(world, 'c1', managed, options);
    await world.pass(30_000);
    expect((await get()).metadata.finalizers).toBeUndefined();
    expect(world.requests).toEqual([]);
  });

  it('passes its watch-filter label on to its bastion', async () => {
    await start({ watchFilter: 'mine' });
    const label = { 'cluster.x-k8s.io/watch-filter': 'mine' };
    const spec = { flavor: { filter: { name: 'm1.small' } }, image: { filter: { name: 'ubuntu-capi-image' } } };
    await createOpenStackCluster(world, 'c1', { ...managed, bastion: { enabled: true, spec } });
    await world.client.patch(OpenStackClusters, key(), 'merge', { metadata: { labels: label } }, by);
    await world.until(async () => (await world.find(OpenStackServers, 'c1-bastion')) !== undefined);
    expect((await world.get(OpenStackServers, 'c1-bastion')).metadata.labels).toMatchObject(label);
  });

  it('continues when the pause ends', async () => {
    await start();
    await createOpenStackCluster(world, 'c1', managed, { cluster: { paused: true } });
    await world.pass(5_000);
    await world.client.patch(Clusters, key(), 'merge', { spec: { paused: false } }, by);
    await until(isProvisioned);
  });

  it('waits for an owner, and continues when it has one', async () => {
    await start();
    await createOpenStackCluster(world, 'c1', managed, { annotations: { 'cluster.x-k8s.io/paused': '' } });
    const { ownerReferences } = (await get()).metadata;
    await patch({ metadata: { ownerReferences: null, annotations: null } });
    await world.pass(5_000);
    expect(world.requests).toEqual([]);
    await patch({ metadata: { ownerReferences } });
    await until(isProvisioned);
  });
});

describe('deletion of an OpenStackCluster', () => {
  it('waits for the machines of the cluster', async () => {
    await start();
    await createOpenStackCluster(world, 'c1', managed);
    await until(isProvisioned);
    await world.client.create(
      Machines,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { name: 'm1', namespace: world.namespace },
        spec: {
          clusterName: 'c1',
          bootstrap: { dataSecretName: 'x' },
          infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name: 'm1' },
        },
      },
      by,
    );
    await world.pass(1_000);
    await world.client.delete(OpenStackClusters, key());
    await until((cluster) => conditionOf(cluster, 'Ready')?.reason === 'WaitingForMachines');
    expect(conditionOf(await get(), 'Ready')?.message).toContain('m1');
    await world.client.delete(Machines, key('m1'));
    await world.until(async () => (await find()) === undefined);
  });
});

describe('the OpenStackCluster controller with the Cluster controller', () => {
  it('give a Cluster its infrastructure, endpoint and failure domains, and delete all of it', async () => {
    await start({ core: true });
    const before = await footprint(world.tenant);
    await createOpenStackCluster(world, 'c1', managed, { annotations: { 'cluster.x-k8s.io/paused': '' } });
    await patch({ metadata: { ownerReferences: null, labels: null, annotations: null } });
    await world.until(
      async () =>
        (await world.get(Clusters, 'c1')).status?.initialization?.infrastructureProvisioned === true &&
        (await world.get(Clusters, 'c1')).spec.controlPlaneEndpoint?.host !== undefined,
    );
    const cluster = await world.get(Clusters, 'c1');
    expect(cluster.spec.controlPlaneEndpoint).toEqual((await get()).spec.controlPlaneEndpoint);
    expect(cluster.status?.failureDomains?.map(({ name }) => name)).toEqual(['az2', 'az3', 'nova']);
    expect(conditionOf(cluster, 'InfrastructureReady')?.status).toBe('True');
    await world.client.delete(Clusters, key());
    await world.until(async () => (await world.find(Clusters, 'c1')) === undefined);
    expect(await find()).toBeUndefined();
    expect(await footprint(world.tenant)).toEqual(before);
  });
});
