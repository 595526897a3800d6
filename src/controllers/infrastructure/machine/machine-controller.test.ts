import { afterEach, describe, expect, it } from 'vitest';
import { Machines, OpenStackMachines, OpenStackServers, Secrets } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { openStackServerController } from '../server/server-controller.ts';
import {
  createMachine,
  deleteMachine,
  joinNodes,
  machineCondition,
  machineIsReady,
  setClusterStatus,
  usualClusterStatus,
  usualMachine,
} from '../testing/machines.ts';
import { leftBehind } from '../testing/servers.ts';
import {
  by,
  createInfrastructureWorld,
  createOpenStackCluster,
  credentialsName,
  type InfrastructureWorld,
  type WorldOptions,
} from '../testing/world.ts';
import { openStackMachineController } from './machine-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const openWorld = async (options: Partial<WorldOptions> = {}): Promise<InfrastructureWorld> => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackServerController(dependencies), openStackMachineController(dependencies)],
    ...options,
  });
  return world;
};
const isReady = (name: string): Promise<boolean> => machineIsReady(world, name);

describe('an OpenStackMachine with an invalid spec', () => {
  const openCluster = async (): Promise<void> => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
  };
  const complains = (text: string) => async (): Promise<boolean> =>
    (await machineCondition(world, 'w1', 'InstanceReady')).includes(text);

  it('is corrected, and becomes a server', async () => {
    await openCluster();
    await createMachine(world, 'w1', { spec: { image: { filter: { name: 'no-such-image' } } } });
    await world.until(complains('no-such-image'));
    const { uid } = (await world.get(OpenStackServers, 'w1')).metadata;
    const key = { namespace: world.namespace, name: 'w1' };
    await world.client.patch(OpenStackMachines, key, 'merge', { spec: { image: usualMachine.image } } as never, by);
    await world.until(() => isReady('w1'));
    expect((await world.get(OpenStackServers, 'w1')).metadata.uid).not.toBe(uid);
    const late = { spec: { image: { filter: { name: 'another' } } } };
    await expect(world.client.patch(OpenStackMachines, key, 'merge', late, by)).rejects.toThrow(
      'cannot be modified once the machine has a server',
    );
    await deleteMachine(world, 'w1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('with an invalid region is corrected too', async () => {
    await openCluster();
    const identityRef = { name: credentialsName, cloudName: 'openstack', region: 'Nowhere' };
    await createMachine(world, 'w1', { spec: { identityRef } });
    await world.until(complains('Nowhere'));
    const key = { namespace: world.namespace, name: 'w1' };
    await world.client.patch(OpenStackMachines, key, 'merge', { spec: { identityRef: { region: null } } }, by);
    await world.until(() => isReady('w1'));
  });

  it('is deleted without its cloud, even with a managed server group', async () => {
    await openCluster();
    const identityRef = { name: 'absent', cloudName: 'openstack' };
    const annotations = { 'infrastructure.cluster.x-k8s.io/managed-server-group': 'soft-anti-affinity' };
    await createMachine(world, 'w1', { spec: { identityRef }, annotations });
    const authentication = () => machineCondition(world, 'w1', 'OpenStackAuthenticationSucceeded');
    await world.until(async () => (await authentication()).startsWith('False'));
    await deleteMachine(world, 'w1');
    await createMachine(world, 'w2', { spec: { identityRef } });
    await world.until(async () => (await machineCondition(world, 'w2', 'InstanceReady')).includes('absent'));
    await deleteMachine(world, 'w2');
  });
});

describe('an OpenStackMachine', () => {
  it('waits for its cluster and user data, becomes a server, and leaves nothing behind', async () => {
    const { client, namespace, tenant } = await openWorld();
    await createOpenStackCluster(world, 'c1', { tags: ['c1'], managedSecurityGroups: {} });
    const { machine } = await createMachine(world, 'w1', { failureDomain: 'az3', spec: { tags: ['w'] } });
    await client.patch(
      Machines,
      { namespace, name: 'w1' },
      'merge',
      { spec: { bootstrap: { dataSecretName: null, configRef: { apiGroup: 'x.y', kind: 'K', name: 'k' } } } },
      by,
    );
    await world.until(async () =>
      (await machineCondition(world, 'w1', 'Ready')).startsWith('False WaitingForClusterInfrastructure'),
    );
    const group = await tenant.network.securityGroups.create({ name: 'workers' });
    await setClusterStatus(world, 'c1', {
      ...(await usualClusterStatus(world)),
      workerSecurityGroup: { name: group.name, id: group.id },
    });
    await world.until(async () =>
      (await machineCondition(world, 'w1', 'InstanceReady')).startsWith('False WaitingForBootstrapData'),
    );
    expect(await leftBehind(world)).toEqual([]);
    const bootstrap = { dataSecretName: machine.spec.bootstrap.dataSecretName! };
    await client.patch(Machines, { namespace, name: 'w1' }, 'merge', { spec: { bootstrap } }, by);
    await world.until(() => isReady('w1'));
    const { spec, status } = await world.get(OpenStackMachines, 'w1');
    const server = await tenant.compute.servers.get(status!.instanceID!);
    expect(spec.providerID).toBe(`openstack:///${server.id}`);
    expect(status).toMatchObject({
      initialization: { provisioned: true },
      addresses: [{ type: 'InternalIP' }, { type: 'InternalDNS', address: 'w1' }],
    });
    expect(server).toMatchObject({ availabilityZone: 'az3', tags: ['w', 'c1'] });
    const [port] = await collect(tenant.network.ports.list({ deviceId: server.id }));
    expect(port!.securityGroupIds).toEqual([group.id]);
    const object = await world.get(OpenStackServers, 'w1');
    expect(object.metadata.ownerReferences).toMatchObject([{ kind: 'OpenStackMachine', name: 'w1' }]);
    expect(object.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'c1' });
    await deleteMachine(world, 'w1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('reports why its server cannot be created, and when it is gone', async () => {
    const { cloud } = await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await createMachine(world, 'w1', { spec: { flavor: { filter: { name: 'nope' } } } });
    await createMachine(world, 'w2');
    await world.until(() => isReady('w2'));
    await world.until(async () => (await machineCondition(world, 'w1', 'Ready')).startsWith('False DependencyFailed'));
    cloud.operator.deleteServer((await world.get(OpenStackMachines, 'w2')).status!.instanceID!);
    await world.until(async () => !(await isReady('w2')));
    expect(await machineCondition(world, 'w2', 'InstanceReady')).toMatch(/^False InstanceDeleted: .*deleted outside/);
    expect((await world.get(OpenStackMachines, 'w2')).status?.initialization?.provisioned).toBe(true);
    await deleteMachine(world, 'w1');
    await deleteMachine(world, 'w2');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('reports an OpenStackCluster that names no network', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', { initialization: { provisioned: true } });
    await createMachine(world, 'w1');
    await world.until(async () => (await machineCondition(world, 'w1', 'Ready')).includes('names no network'));
    expect(await machineCondition(world, 'w1', 'Ready')).toMatch(/^False InvalidMachineSpec: .*OpenStackCluster c1/);
  });

  it('is deleted although its Machine, Cluster and OpenStackCluster are gone', async () => {
    const { client, namespace } = await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await createMachine(world, 'w1', { controlPlane: true });
    await world.until(() => isReady('w1'));
    await client.delete(Machines, { namespace, name: 'w1' });
    for (const plural of ['clusters', 'openstackclusters']) {
      const group = plural === 'clusters' ? 'cluster.x-k8s.io' : 'infrastructure.cluster.x-k8s.io';
      const kind = plural === 'clusters' ? 'Cluster' : 'OpenStackCluster';
      await client.delete({ group, version: 'v1beta2', kind, plural, namespaced: true }, { namespace, name: 'c1' });
    }
    await deleteMachine(world, 'w1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('reports missing credentials while it cannot be deleted, and is deleted when they are back', async () => {
    const { client, namespace } = await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await createMachine(world, 'w1');
    await world.until(() => isReady('w1'));
    const { data = {} } = await world.get(Secrets, 'cloud-config');
    const key = { namespace, name: 'cloud-config' };
    await client.patch(Secrets, key, 'merge', { data: { 'clouds.yaml': null } }, by);
    await client.delete(OpenStackMachines, { namespace, name: 'w1' });
    await world.until(async () =>
      /^False InstanceDeleted: Secret \S+\/cloud-config has no key clouds.yaml/.test(
        await machineCondition(world, 'w1', 'Ready'),
      ),
    );
    await client.patch(Secrets, key, 'merge', { data }, by);
    await world.until(async () => (await leftBehind(world)).length === 0);
  });

  it('passes changed credentials and address pairs on to its server', async () => {
    const { client, namespace } = await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await createMachine(world, 'w1', { spec: { ports: [{ allowedAddressPairs: [{ ipAddress: '10.6.0.8' }] }] } });
    await world.until(() => isReady('w1'));
    const spec = {
      identityRef: { name: 'cloud-config', cloudName: 'admin' },
      ports: [{ allowedAddressPairs: [{ ipAddress: '10.6.0.9' }] }],
    };
    await client.patch(OpenStackMachines, { namespace, name: 'w1' }, 'merge', { spec }, by);
    await world.until(async () => {
      const server = (await world.get(OpenStackServers, 'w1')).spec;
      return (
        server.identityRef.cloudName === 'admin' && server.ports[0]?.allowedAddressPairs?.[0]?.ipAddress === '10.6.0.9'
      );
    });
  });

  it('shares a managed server group with its set, which is deleted with the last machine', async () => {
    const { tenant } = await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    const options = {
      annotations: { 'infrastructure.cluster.x-k8s.io/managed-server-group': 'soft-anti-affinity' },
      labels: { 'cluster.x-k8s.io/deployment-name': 'md' },
    };
    await Promise.all(['w1', 'w2'].map((name) => createMachine(world, name, options)));
    await world.until(async () => (await isReady('w1')) && (await isReady('w2')));
    const groups = await collect(tenant.compute.serverGroups.list());
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ policy: 'soft-anti-affinity' });
    expect(groups[0]!.name).toMatch(new RegExp(`^k8s-clusterapi-cluster-${world.namespace}-c1-md-`));
    expect(groups[0]!.members).toHaveLength(2);
    await deleteMachine(world, 'w1');
    expect(await collect(tenant.compute.serverGroups.list())).toHaveLength(1);
    await deleteMachine(world, 'w2');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('sets its providerID during deletion although its server was never seen ACTIVE', async () => {
    const { client, namespace } = await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await createMachine(world, 'w1');
    await world.until(async () => (await world.get(OpenStackMachines, 'w1')).status?.instanceID !== undefined);
    const { spec, status } = await world.get(OpenStackMachines, 'w1');
    expect(spec.providerID).toBeUndefined();
    await client.delete(OpenStackMachines, { namespace, name: 'w1' });
    let named: string | undefined;
    await world.until(async () => {
      const machine = await world.find(OpenStackMachines, 'w1');
      named = machine?.spec.providerID ?? named;
      return machine === undefined;
    });
    expect(named).toBe(`openstack:///${status!.instanceID}`);
  });

  it('causes no writes or requests when nothing changes', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    for (const name of ['w1', 'w2']) await createMachine(world, name);
    await world.until(async () => (await isReady('w1')) && (await isReady('w2')));
    await joinNodes(world, ['w1', 'w2']);
    await world.pass(120_000);
    const [writes, requests] = [world.writes(), world.requests.length];
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
    expect(world.requests.slice(requests).filter(({ path }) => !path.includes('servers/detail'))).toEqual([]);
  });
});
