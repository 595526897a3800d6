import { afterEach, describe, expect, it } from 'vitest';
import {
  type Cluster,
  Clusters,
  type OpenStackMachineSpec,
  type OpenStackMachineTemplate,
  OpenStackMachineTemplates,
  Secrets,
} from '../../../api/index.ts';
import { conditionOf, ownerReference } from '../../shared/index.ts';
import { usualMachine } from '../testing/machines.ts';
import {
  by,
  createInfrastructureWorld,
  createOpenStackCluster,
  credentialsName,
  type InfrastructureWorld,
} from '../testing/world.ts';
import { offerOf } from './capacity.ts';
import { openStackMachineTemplateController } from './template-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

async function openWorld(): Promise<void> {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackMachineTemplateController(dependencies)],
  });
}

async function createTemplate(
  name: string,
  options: { owner?: string; spec?: Partial<OpenStackMachineSpec> } = {},
): Promise<void> {
  const { client, namespace } = world;
  const owner = options.owner === undefined ? undefined : ((await world.get(Clusters, options.owner)) as Cluster);
  const template: OpenStackMachineTemplate = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
    kind: 'OpenStackMachineTemplate',
    metadata: { name, namespace, ...(owner && { ownerReferences: [ownerReference(owner, Clusters)] }) },
    spec: { template: { spec: { ...usualMachine, ...options.spec } } },
  };
  await client.create(OpenStackMachineTemplates, template, by);
}

const pause = (cluster: string, paused: boolean): Promise<unknown> =>
  world.client.patch(Clusters, { namespace: world.namespace, name: cluster }, 'merge', { spec: { paused } }, by);
const statusOf = async (name: string) => (await world.get(OpenStackMachineTemplates, name)).status;
const hasCondition = async (name: string, status: string): Promise<boolean> =>
  conditionOf(await world.get(OpenStackMachineTemplates, name), 'Ready')?.status === status;

describe('an OpenStackMachineTemplate', () => {
  it('reports the capacity of its machines, and then writes nothing', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    await createTemplate('workers', { owner: 'c1' });
    await world.until(() => hasCondition('workers', 'True'));
    expect(await statusOf('workers')).toMatchObject({
      capacity: { cpu: '1', memory: '2Gi', 'ephemeral-storage': '0', storage: '20Gi' },
      nodeInfo: { operatingSystem: 'linux' },
    });
    const before = { requests: world.requests.length, writes: world.writes() };
    await world.pass(10 * 60_000);
    expect({ requests: world.requests.length, writes: world.writes() }).toEqual(before);
  });

  it('reports the root volume size instead of the flavor disk', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    await createTemplate('workers', { owner: 'c1', spec: { rootVolume: { sizeGiB: 77 } } });
    await world.until(() => hasCondition('workers', 'True'));
    expect((await statusOf('workers'))?.capacity?.['storage']).toBe('77Gi');
  });

  it('reports a flavor that it does not find', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    await createTemplate('workers', { owner: 'c1', spec: { flavor: { filter: { name: 'm9.huge' } } } });
    await world.until(() => hasCondition('workers', 'False'));
    const condition = conditionOf(await world.get(OpenStackMachineTemplates, 'workers'), 'Ready');
    expect(condition?.message).toContain('m9.huge');
    expect((await statusOf('workers'))?.capacity).toBeUndefined();
  });

  it('continues when its Cluster is no longer paused', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    await pause('c1', true);
    await createTemplate('workers', { owner: 'c1' });
    await world.pass(60_000);
    expect(await statusOf('workers')).toBeUndefined();
    await pause('c1', false);
    await world.until(() => hasCondition('workers', 'True'));
  });

  it.each([
    ['its cluster', {}],
    ['its own', { identityRef: { name: credentialsName, cloudName: 'openstack' } }],
  ])('looks again when %s credentials change', async (_, spec) => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    const secret = { namespace: world.namespace, name: credentialsName };
    const right = (await world.client.get(Secrets, secret)).data ?? {};
    const write = (cloudsYaml: string): Promise<unknown> =>
      world.client.patch(Secrets, secret, 'merge', { data: { 'clouds.yaml': cloudsYaml } }, by);
    await write(Buffer.from('clouds: {}').toString('base64'));
    await createTemplate('workers', { owner: 'c1', spec });
    await world.until(() => hasCondition('workers', 'False'));
    const begin = world.clock.now();
    await write(right['clouds.yaml'] ?? '');
    await world.until(() => hasCondition('workers', 'True'));
    expect(world.clock.now()).toBe(begin);
  });

  it('is ignored when it belongs to no cluster', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {});
    await createTemplate('of-a-class');
    await world.pass(60_000);
    expect(await statusOf('of-a-class')).toBeUndefined();
    expect(world.writes()).toBe(0);
  });
});

describe('the capacity of a machine template', () => {
  const flavor = { vcpus: 4, ram: 2048, disk: 40, ephemeral: 0 };

  it.each([
    { ram: 2048, memory: '2Gi' },
    { ram: 1536, memory: '1536Mi' },
    { ram: 512, memory: '512Mi' },
  ])('with $ram MiB of memory is $memory', ({ ram, memory }) => {
    expect(offerOf({}, { ...flavor, ram }, { properties: {} }).capacity).toMatchObject({ memory });
  });

  it('has no operating system when the image names none', () => {
    expect(offerOf({}, flavor, { properties: {} })).not.toHaveProperty('nodeInfo');
  });
});
