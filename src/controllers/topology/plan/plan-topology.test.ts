import { afterEach, describe, expect, test } from 'vitest';
import { type Cluster, ClusterClasses, Clusters, MachineDeployments } from '../../../api/index.ts';
import {
  asUnstructured,
  clone,
  type KubeObject,
  seededRandom,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { FakeMachineTemplates } from '../../testing/provider-kinds.ts';
import type { World } from '../../testing/world.ts';
import { createClass, createTopologyCluster, createTopologyWorld } from '../testing/class-world.ts';
import { concernedClusters } from './concerned.ts';
import { createOverlay } from './overlay.ts';
import { planTopology } from './plan-topology.ts';
import type { PlannedObject, TopologyPlan } from './types.ts';

const signal = new AbortController().signal;
let world: World;
afterEach(() => world.stop());

/** Creates a cluster of a class and waits until it is built. */
async function built(): Promise<Cluster> {
  world = await createTopologyWorld();
  await createClass(world);
  await createTopologyCluster(world, 'one');
  await world.until(async () => {
    const [deployment] = await world.list(MachineDeployments);
    return (deployment?.status?.readyReplicas ?? 0) > 0;
  });
  await world.pass(60_000);
  return await world.client.get(Clusters, { namespace: world.namespace, name: 'one' });
}

/** Returns the plans for all affected clusters, and checks that nothing was written. */
async function planOf(...edited: KubeObject[]): Promise<TopologyPlan[]> {
  const revision = async () => (await world.client.list(Clusters, {})).metadata.resourceVersion;
  const before = await revision();
  const objects = edited.map(asUnstructured);
  const { client } = createOverlay(world.client, objects);
  const io = { client, clock: world.clock, random: seededRandom(1), signal };
  const plans: TopologyPlan[] = [];
  for (const key of await concernedClusters(world.client, objects, signal)) plans.push(await planTopology(io, key));
  expect(await revision()).toBe(before);
  return plans;
}

const changesOf = ([plan]: readonly TopologyPlan[]): PlannedObject[] =>
  (plan?.objects ?? []).filter(({ action }) => action !== 'unchanged');

function edit<T extends KubeObject>(object: T, change: (draft: T) => void): T {
  const draft = clone(object);
  change(draft);
  return draft;
}

describe('the plan of an edit', () => {
  test('without changes is empty', async () => {
    const cluster = await built();
    expect(changesOf(await planOf(cluster))).toEqual([]);
  });

  test('of a variable replaces the template and rolls the workers', async () => {
    const cluster = await built();
    const plans = await planOf(
      edit(cluster, ({ spec }) => {
        spec.topology!.variables = [{ name: 'flavor', value: 'm1.huge' }];
      }),
    );
    const [template, deployment, ...others] = changesOf(plans);
    expect(others).toEqual([]);
    expect(template).toMatchObject({
      action: 'replace',
      kind: 'FakeMachineTemplate',
      fields: ['spec.template.spec.flavor'],
    });
    expect(template?.replacedBy).not.toBe(template?.name);
    expect(deployment).toMatchObject({
      action: 'change',
      kind: 'MachineDeployment',
      fields: ['spec.template.spec.infrastructureRef.name'],
      rolls: { because: ['spec.template.spec.infrastructureRef.name'] },
    });
  });

  test('of the version shows the target version and the steps', async () => {
    const cluster = await built();
    const plans = await planOf(
      edit(cluster, ({ spec }) => {
        spec.topology!.version = 'v1.34.0';
      }),
    );
    expect(plans[0]).toMatchObject({
      version: 'v1.34.0',
      steps: { controlPlane: ['v1.34.0'], workers: ['v1.34.0'] },
    });
    expect(changesOf(plans).map(({ kind, fields }) => [kind, fields])).toEqual([
      ['FakeControlPlane', ['spec.version']],
      ['MachineDeployment', ['spec.template.spec.version']],
    ]);
    const jump = edit(cluster, ({ spec }) => {
      spec.topology!.version = 'v1.36.0';
    });
    await expect(planOf(jump)).rejects.toThrow('one minor version at a time');
  });

  test('of workers shows what is created and deleted', async () => {
    const cluster = await built();
    const plans = await planOf(
      edit(cluster, ({ spec }) => {
        spec.topology!.workers = { machineDeployments: [{ class: 'worker', name: 'fresh', replicas: 2 }] };
      }),
    );
    const summary = changesOf(plans).map(({ action, kind }) => `${action} ${kind}`);
    expect(summary).toEqual([
      'create FakeConfigTemplate',
      'create FakeMachineTemplate',
      'create MachineDeployment',
      'delete MachineDeployment',
    ]);
  });

  test('of a class or its template covers all its clusters', async () => {
    await built();
    await createTopologyCluster(world, 'two');
    await world.until(async () => (await world.list(MachineDeployments)).length === 2);
    await world.pass(60_000);
    const key = { namespace: world.namespace, name: 'small' };
    const template: UnstructuredObject = clone(await world.client.get(FakeMachineTemplates, key));
    // the class patch sets the flavor; `disk` is the template's own field
    template['spec'] = { template: { spec: { flavor: 'unset', disk: 20 } } };
    const byTemplate = await planOf(template);
    expect(byTemplate.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(changesOf(byTemplate)[0]).toMatchObject({ action: 'replace', fields: ['spec.template.spec.disk'] });
    const clusterClass = edit(await world.client.get(ClusterClasses, key), ({ spec }) => {
      spec.variables = [
        { name: 'flavor', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'm1.small' } } },
        { name: 'zone', required: true, schema: { openAPIV3Schema: { type: 'string' } } },
      ];
    });
    await expect(planOf(clusterClass)).rejects.toThrow('zone');
  });
});
