import { afterEach, describe, expect, it } from 'vitest';
import { Images, type OpenStackServer, OpenStackServers, Secrets } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { ownerMarkAnnotation } from '../common/names.ts';
import {
  createServer,
  createUserData,
  deleteServer,
  instanceReady,
  leftBehind,
  serverIsReady,
  usualNetwork,
} from '../testing/servers.ts';
import {
  by,
  createInfrastructureWorld,
  credentialsName,
  type InfrastructureWorld,
  type WorldOptions,
} from '../testing/world.ts';
import { openStackServerController } from './server-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const openWorld = async (options: Partial<WorldOptions> = {}): Promise<InfrastructureWorld> => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackServerController(dependencies)],
    ...options,
  });
  return world;
};

const isReady = (name: string): Promise<boolean> => serverIsReady(world, name);
const status = async (name: string): Promise<OpenStackServer['status']> =>
  (await world.get(OpenStackServers, name)).status;

describe('an OpenStackServer', () => {
  it('creates a server with port and user data, and leaves nothing behind', async () => {
    const { tenant } = await openWorld();
    await createUserData(world, 'boot', '#cloud-config\nhostname: x');
    await createServer(world, 's1', { userDataRef: { name: 'boot' } });
    await world.until(() => isReady('s1'));
    const { instanceID = '', resources, addresses } = (await status('s1'))!;
    const server = await tenant.compute.servers.get(instanceID);
    expect(server).toMatchObject({ name: 's1', status: 'ACTIVE', keyName: 'demo', configDrive: false });
    const [port] = await collect(tenant.network.ports.list({ deviceId: instanceID }));
    expect(resources).toEqual({ ports: [{ id: port!.id }] });
    expect(port).toMatchObject({ name: 's1-0', fixedIps: [{ address: addresses![0]!.address }] });
    expect(port!.description).toMatch(/^Created by cluster-api-provider-openstack cluster c1 \[owner .+\]$/);
    expect(addresses!.map(({ type }) => type)).toEqual(['InternalIP', 'InternalDNS']);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('creates everything its spec names', async () => {
    const { tenant } = await openWorld();
    const group = await tenant.compute.serverGroups.create({ name: 'apart', policy: 'anti-affinity' });
    await createServer(world, 's1', {
      availabilityZone: 'az2',
      trunk: false,
      tags: ['blue'],
      serverMetadata: [{ key: 'team', value: 'core' }],
      configDrive: true,
      rootVolume: { sizeGiB: 12, type: 'ssd' },
      additionalBlockDevices: [
        { name: 'etcd', sizeGiB: 3, storage: { type: 'Volume', volume: { type: 'classic' } } },
        { name: 'scratch', sizeGiB: 2, storage: { type: 'Local' } },
      ],
      serverGroup: { filter: { name: 'apart' } },
      ports: [
        {
          network: { filter: { name: usualNetwork } },
          nameSuffix: 'main',
          description: 'mine',
          trunk: true,
          tags: ['red'],
          fixedIPs: [{ subnet: { filter: { name: usualNetwork } }, ipAddress: '10.6.0.77' }],
          macAddress: 'fa:16:3e:00:00:77',
          allowedAddressPairs: [{ ipAddress: '10.6.0.200' }],
          securityGroups: [{ filter: { name: 'default' } }],
        },
        { network: { filter: { name: usualNetwork } }, enablePortSecurity: false, adminStateUp: true },
      ],
    });
    await world.until(() => isReady('s1'));
    const { instanceID = '', resources } = (await status('s1'))!;
    const server = await tenant.compute.servers.get(instanceID);
    expect(server).toMatchObject({ tags: ['blue'], configDrive: true, availabilityZone: 'az2' });
    expect(server.metadata).toMatchObject({ team: 'core' });
    expect((await tenant.compute.serverGroups.get(group.id)).members).toEqual([instanceID]);
    const [first, second] = await Promise.all(resources!.ports!.map(({ id }) => tenant.network.ports.get(id)));
    expect(first).toMatchObject({
      name: 's1-main',
      macAddress: 'fa:16:3e:00:00:77',
      fixedIps: [{ address: '10.6.0.77' }],
      allowedAddressPairs: [{ address: '10.6.0.200' }],
      portSecurityEnabled: true,
    });
    expect(first!.description).toMatch(/^mine \[owner /);
    expect(first!.tags.toSorted()).toEqual(['blue', 'red']);
    expect(first!.securityGroupIds).toHaveLength(1);
    expect(second).toMatchObject({ name: 's1-1', portSecurityEnabled: false, securityGroupIds: [] });
    const [trunk] = await collect(tenant.network.trunks.list());
    expect(trunk).toMatchObject({ name: 's1-main', portId: first!.id });
    const volumes = await collect(tenant.volume.volumes.list());
    expect(volumes.map(({ name, size, volumeType }) => [name, size, volumeType]).toSorted()).toEqual([
      ['s1-etcd', 3, 'classic'],
      ['s1-root', 12, 'ssd'],
    ]);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual(['server group apart']);
  });

  it('causes no writes or requests of its own when nothing changes', async () => {
    await openWorld();
    for (const name of ['s1', 's2', 's3']) await createServer(world, name);
    await world.until(async () => (await isReady('s1')) && (await isReady('s2')) && (await isReady('s3')));
    await world.pass(120_000);
    const [writes, requests] = [world.writes(), world.requests.length];
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
    const since = world.requests.slice(requests);
    expect(since.filter(({ path }) => !/servers\/detail|auth\/tokens/.test(path))).toEqual([]);
    expect(since.length).toBeLessThanOrEqual(70);
  });

  it.each([1, 10])(
    'needs at most 12 requests each, tokens and discovery included, when %d are created',
    async (count) => {
      await openWorld();
      const names = Array.from({ length: count }, (_, index) => `s${index}`);
      await Promise.all(names.map((name) => createServer(world, name)));
      await world.until(async () => (await Promise.all(names.map(isReady))).every(Boolean));
      expect(world.requests.length / count).toBeLessThanOrEqual(12);
    },
  );
});

describe('an OpenStackServer whose status may wait', () => {
  const servers = async () => await collect(world.tenant.compute.servers.list());
  const isCreated = async (): Promise<boolean> => (await servers()).length === 1;
  const openPatient = async (buildMs?: number): Promise<void> => {
    const { cloud } = await openWorld({ statusDelayMs: 3_000 });
    if (buildMs === undefined) return;
    cloud.operator.faults.set({
      id: 'slow',
      when: { operation: 'server.build', name: 's1' },
      effect: { kind: 'slow', ms: buildMs },
    });
  };

  it('is written twice: before its server is created, and when that runs', async () => {
    await openPatient();
    await createServer(world, 's1');
    await world.until(isCreated);
    expect(await status('s1')).not.toHaveProperty('instanceID');
    await world.until(() => isReady('s1'));
    // also finalizer and owner mark, and its project
    expect(world.writes()).toBe(4);
    const id = (await servers())[0]?.id;
    const [port] = await collect(world.tenant.network.ports.list({ deviceId: id }));
    expect(await status('s1')).toMatchObject({ instanceID: id, resources: { ports: [{ id: port!.id }] } });
  });

  it('names a server that is built slowly after some seconds', async () => {
    await openPatient(60_000);
    await createServer(world, 's1');
    await world.until(isCreated);
    await world.pass(4_000);
    expect(await status('s1')).toMatchObject({ instanceID: expect.any(String), instanceState: 'BUILD' });
    await world.until(() => isReady('s1'));
    expect(await servers()).toHaveLength(1);
  });

  it.each([
    ['a crash', () => world.restart()],
    ['a deletion', () => deleteServer(world, 's1')],
    [
      'a crash and a deletion',
      async () => {
        await world.restart();
        await deleteServer(world, 's1');
      },
    ],
  ])('neither doubles nor leaks a server that it does not name yet: %s', async (what, happens) => {
    await openPatient(60_000);
    await createServer(world, 's1');
    await world.until(isCreated);
    expect(await status('s1')).not.toHaveProperty('instanceID');
    await happens();
    if (what === 'a crash') {
      await world.until(() => isReady('s1'));
      expect(await servers()).toHaveLength(1);
      await deleteServer(world, 's1');
    }
    expect(await leftBehind(world)).toEqual([]);
  });
});

describe('an OpenStackServer with a fault', () => {
  it.each([false, true])('is rebuilt with the same ports when nova fails to build it; crash: %s', async (crashes) => {
    const { cloud } = await openWorld();
    cloud.operator.faults.set({
      id: 'no-host',
      when: { operation: 'server.build', name: 's1' },
      count: 2,
      effect: { kind: 'error', message: 'No valid host was found.' },
    });
    await createServer(world, 's1', { rootVolume: { sizeGiB: 10 } });
    await world.until(async () => (await status('s1'))?.instanceState === 'ERROR');
    const first = (await status('s1'))!;
    if (crashes) await world.restart();
    await world.until(() => isReady('s1'));
    const now = (await status('s1'))!;
    expect(now.instanceID).not.toBe(first.instanceID);
    expect(now.resources?.ports).toEqual(first.resources?.ports);
    expect(await collect(world.tenant.compute.servers.list())).toHaveLength(1);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('reports the nova error, and can be deleted', async () => {
    const { cloud } = await openWorld();
    cloud.operator.faults.set({
      id: 'no-host',
      when: { operation: 'server.build', name: 's1' },
      effect: { kind: 'error', message: 'No valid host was found.' },
    });
    await createServer(world, 's1');
    await world.until(async () => (await status('s1'))?.instanceState === 'ERROR');
    expect(await instanceReady(world, 's1')).toMatch(
      /^False InstanceBuildFailed: .*No valid host was found; it is built again/,
    );
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('reports within about a minute that somebody deleted its server', async () => {
    const { cloud } = await openWorld();
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    const since = world.clock.now();
    cloud.operator.deleteServer((await status('s1'))!.instanceID!);
    await world.until(async () => !(await isReady('s1')));
    expect(world.clock.now() - since).toBeLessThanOrEqual(75_000);
    expect(await instanceReady(world, 's1')).toMatch(/^False InstanceNotFound: Server s1 .* deleted outside/);
    expect((await status('s1'))?.instanceState).toBe('DELETED');
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('reports a stopped server, and that it runs again', async () => {
    const { cloud } = await openWorld();
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    const id = (await status('s1'))!.instanceID!;
    cloud.operator.stopServer(id);
    await world.until(async () => !(await isReady('s1')));
    expect(await instanceReady(world, 's1')).toMatch(/^Unknown InstanceNotReady: .* SHUTOFF/);
    cloud.operator.startServer(id);
    await world.until(() => isReady('s1'));
  });

  it('is not ready when somebody deleted its port, and reports why', async () => {
    const { tenant } = await openWorld();
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    const { resources, addresses } = (await status('s1'))!;
    expect(addresses).toHaveLength(2);
    await tenant.network.ports.delete(resources!.ports![0]!.id);
    await world.until(async () => !(await isReady('s1')));
    expect(await instanceReady(world, 's1')).toMatch(/^False InstanceCutOff: Server s1 .* no address any more/);
    await world.pass(200_000);
    expect(await instanceReady(world, 's1')).toMatch(/^False InstanceCutOff/);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('gets another volume when cinder failed to create one', async () => {
    const { cloud, tenant } = await openWorld();
    cloud.operator.faults.set({
      id: 'broken-disk',
      when: { operation: 'volume.create' },
      count: 1,
      effect: { kind: 'error' },
    });
    await createServer(world, 's1', { rootVolume: { sizeGiB: 10 } });
    await world.until(async () => (await instanceReady(world, 's1')).includes('cinder put it in state error'));
    await world.until(() => isReady('s1'));
    expect(await collect(tenant.volume.volumes.list())).toHaveLength(1);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it.each<[string, Parameters<typeof createServer>[2], RegExp]>([
    [
      'an unknown flavor',
      { flavor: 'nope' },
      /DependencyFailed: spec\.flavor: there is no flavor named "nope".*correct/,
    ],
    [
      'an unknown image',
      { image: { filter: { name: 'nope' } } },
      /DependencyFailed: spec\.image: there is no image named "nope".*correct/,
    ],
    [
      'an ambiguous image',
      { image: { filter: { tags: ['cluster-api'] } } },
      /DependencyFailed: spec\.image: \d+ images are tagged cluster-api .*name one by its id/,
    ],
    [
      'an unknown network',
      { ports: [{ network: { filter: { name: 'nope' } } }] },
      /DependencyFailed: spec\.ports\.network: no network matches name "nope"; correct/,
    ],
    [
      'an unknown network id',
      { ports: [{ network: { id: '00000000-0000-4000-8000-000000000000' } }] },
      /PortCreateFailed: Port s-0 cannot be created: network: .*00000000-0000-4000-8000-000000000000/,
    ],
    [
      'an unknown security group',
      { ports: [{ network: { filter: { name: usualNetwork } }, securityGroups: [{ filter: { name: 'nope' } }] }] },
      /DependencyFailed: spec\.ports\.securityGroups: no security group matches name "nope"/,
    ],
    [
      'an unknown key',
      { sshKeyName: 'nope' },
      /InstanceCreateFailed: Server s cannot be created: compute: .*sshKeyName is "nope": import/,
    ],
    [
      'an unknown zone',
      { availabilityZone: 'nope' },
      /InstanceCreateFailed: Server s cannot be created: compute: .*availability zone is "nope": name one/,
    ],
    ['missing user data', { userDataRef: { name: 'nope' } }, /DependencyFailed: Secret .*\/nope with the user data/],
    [
      'an unknown server group',
      { serverGroup: { filter: { name: 'nope' } } },
      /DependencyFailed: spec\.serverGroup: no server group matches name "nope"/,
    ],
  ])('reports %s, and can be deleted', async (_, spec, expected) => {
    await openWorld();
    await createServer(world, 's', spec);
    await world.until(async () => expected.test(await instanceReady(world, 's')));
    await world.pass(300_000);
    expect(await instanceReady(world, 's')).toMatch(expected);
    await deleteServer(world, 's');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('waits for quota and continues when there is some', async () => {
    const { cloud, tenant } = await openWorld();
    const projectId = await tenant.projectId();
    cloud.operator.setQuota('compute', projectId, { instances: 0 });
    await createServer(world, 's1');
    await world.until(async () => (await instanceReady(world, 's1')).includes('Quota exceeded'));
    expect(await instanceReady(world, 's1')).toMatch(/InstanceCreateFailed: Server s1 .*Quota exceeded.*more quota/);
    await world.pass(600_000);
    expect(await leftBehind(world)).toEqual(['port s1-0']);
    cloud.operator.setQuota('compute', projectId, { instances: 10 });
    await world.until(() => isReady('s1'));
    expect(await leftBehind(world)).toEqual(['port s1-0', 'server s1']);
  });

  it('continues when what was missing exists', async () => {
    const { tenant } = await openWorld();
    await createServer(world, 's1', { serverGroup: { filter: { name: 'later' } }, userDataRef: { name: 'later' } });
    await world.until(async () => (await instanceReady(world, 's1')).includes('no server group'));
    await tenant.compute.serverGroups.create({ name: 'later', policy: 'anti-affinity' });
    await world.until(async () => (await instanceReady(world, 's1')).includes('Secret'));
    await createUserData(world, 'later');
    await world.until(() => isReady('s1'));
  });

  it('waits for an Image object until it is available', async () => {
    await openWorld();
    const { client, namespace, tenant } = world;
    const [image] = await collect(tenant.image.images.list({ name: 'ubuntu-capi-image' }));
    await createServer(world, 's1', { image: { imageRef: { name: 'node' } } });
    await world.until(async () => (await instanceReady(world, 's1')).includes('Waiting for Image node to be created'));
    const object = await client.create(
      Images,
      {
        apiVersion: 'openstack.k-orc.cloud/v1alpha1',
        kind: 'Image',
        metadata: { name: 'node', namespace },
        spec: {
          cloudCredentialsRef: { secretName: credentialsName, cloudName: 'openstack' },
          managementPolicy: 'unmanaged',
          import: { id: image!.id },
        },
      },
      by,
    );
    await world.until(async () => (await instanceReady(world, 's1')).includes('to be available'));
    const time = '2026-01-01T00:00:00Z';
    await client.update(
      Images,
      {
        ...object,
        status: {
          id: image!.id,
          conditions: [
            { type: 'Available', status: 'True', reason: 'Success', message: '', lastTransitionTime: time },
            { type: 'Progressing', status: 'False', reason: 'Success', message: '', lastTransitionTime: time },
          ],
        },
      },
      { ...by, subresource: 'status' },
    );
    await world.until(() => isReady('s1'));
    expect((await status('s1'))?.resolved?.imageID).toBe(image!.id);
  });
});

describe('an OpenStackServer and its surroundings', () => {
  it('uses rotated credentials, and reports when they do not work', async () => {
    await openWorld();
    const { client, namespace } = world;
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    const key = { namespace, name: credentialsName };
    const good = (await client.get(Secrets, key)).data!['clouds.yaml']!;
    const bad = Buffer.from(
      Buffer.from(good, 'base64')
        .toString()
        .replaceAll(/password: .*/g, 'password: wrong'),
    );
    await client.patch(Secrets, key, 'merge', { data: { 'clouds.yaml': bad.toString('base64') } }, by);
    const authenticated = async (): Promise<string | undefined> =>
      (await status('s1'))?.conditions?.find(({ type }) => type === 'OpenStackAuthenticationSucceeded')?.status;
    await world.until(async () => (await authenticated()) === 'False');
    await client.patch(Secrets, key, 'merge', { data: { 'clouds.yaml': good } }, by);
    await world.until(async () => (await authenticated()) === 'True');
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('is deleted at once when nothing was created, though its credentials are gone', async () => {
    await openWorld();
    await world.client.delete(Secrets, { namespace: world.namespace, name: credentialsName });
    await createServer(world, 's1');
    await world.until(async () => (await instanceReady(world, 's1')).includes(`/${credentialsName} does not exist`));
    await deleteServer(world, 's1');
  });

  it('is not deleted while its credentials are unusable, unless it is abandoned', async () => {
    await openWorld();
    const { client, namespace } = world;
    for (const name of ['s1', 's2']) await createServer(world, name);
    await world.until(async () => (await isReady('s1')) && (await isReady('s2')));
    const { data } = await client.get(Secrets, { namespace, name: credentialsName });
    const none = { data: { 'clouds.yaml': Buffer.from('clouds: {}').toString('base64') } };
    await client.patch(Secrets, { namespace, name: credentialsName }, 'merge', none, by);
    for (const name of ['s1', 's2']) await client.delete(OpenStackServers, { namespace, name });
    await world.pass(120_000);
    expect(await leftBehind(world)).toEqual(['port s1-0', 'port s2-0', 'server s1', 'server s2']);
    const abandon = { 'infrastructure.cluster.x-k8s.io/abandon-cloud-resources': 'true' };
    const patch = { metadata: { annotations: abandon } };
    await client.patch(OpenStackServers, { namespace, name: 's2' }, 'merge', patch, by);
    await world.until(async () => (await world.find(OpenStackServers, 's2')) === undefined);
    await client.patch(Secrets, { namespace, name: credentialsName }, 'merge', { data }, by);
    await world.until(async () => (await world.find(OpenStackServers, 's1')) === undefined);
    expect(await leftBehind(world)).toEqual(['port s2-0', 'server s2']);
  });

  it('is deleted although its credentials were deleted first', async () => {
    await openWorld();
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    await world.client.delete(Secrets, { namespace: world.namespace, name: credentialsName });
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('finds its resources again after a move to another management API', async () => {
    const { client, namespace } = await openWorld();
    await createServer(world, 's1', { rootVolume: { sizeGiB: 10 } });
    await world.until(() => isReady('s1'));
    const { metadata, status: before } = await world.get(OpenStackServers, 's1');
    await world.halt();
    await client.patch(OpenStackServers, { namespace, name: 's1' }, 'merge', { metadata: { finalizers: null } }, by);
    await client.delete(OpenStackServers, { namespace, name: 's1' });
    const moved = { finalizers: metadata.finalizers!, annotations: metadata.annotations! };
    expect(moved.annotations[ownerMarkAnnotation]).toBe(metadata.uid);
    await createServer(world, 's1', { rootVolume: { sizeGiB: 10 } }, moved);
    await world.restart();
    await world.until(() => isReady('s1'));
    expect((await status('s1'))?.instanceID).toBe(before?.instanceID);
    expect(await leftBehind(world)).toEqual(['port s1-0', 'server s1', 'volume s1-root']);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual([]);
  });

  it('adopts no resource that only has its name', async () => {
    const { tenant } = await openWorld();
    const network = await tenant.network.networks.find(usualNetwork);
    const port = await tenant.network.ports.create({ networkId: network!.id, name: 's1-0' });
    const flavor = await tenant.compute.flavors.find('m1.small');
    const image = await tenant.image.images.find('ubuntu-capi-image');
    const desired = { name: 's1', flavorId: flavor!.id, imageId: image!.id, networks: 'none' as const };
    const foreign = await tenant.compute.servers.create(desired);
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    const { instanceID, resources } = (await status('s1'))!;
    expect([instanceID, resources?.ports?.[0]?.id]).not.toContain(foreign.id);
    expect(resources?.ports?.[0]?.id).not.toBe(port.id);
    await deleteServer(world, 's1');
    expect(await leftBehind(world)).toEqual(['port s1-0', 'server s1']);
  });

  it('changes allowed address pairs on the existing port', async () => {
    const { client, namespace, tenant } = await openWorld();
    const network = { filter: { name: usualNetwork } };
    await createServer(world, 's1');
    await world.until(() => isReady('s1'));
    const ports = [{ network, allowedAddressPairs: [{ ipAddress: '10.6.0.9' }] }];
    await client.patch(OpenStackServers, { namespace, name: 's1' }, 'merge', { spec: { ports } }, by);
    const portId = (await status('s1'))!.resources!.ports![0]!.id;
    await world.until(async () => (await tenant.network.ports.get(portId)).allowedAddressPairs.length === 1);
    await world.until(async () => (await status('s1'))?.resolved?.ports?.[0]?.allowedAddressPairs?.length === 1);
  });

  it('does nothing while it is paused', async () => {
    await openWorld();
    await createServer(world, 's1', {}, { annotations: { 'cluster.x-k8s.io/paused': '' } });
    await world.pass(60_000);
    expect(await leftBehind(world)).toEqual([]);
    const { client, namespace } = world;
    const patch = { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } };
    await client.patch(OpenStackServers, { namespace, name: 's1' }, 'merge', patch, by);
    await world.until(() => isReady('s1'));
  });
});
