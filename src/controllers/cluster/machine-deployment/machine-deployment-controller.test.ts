import { afterEach, describe, expect, it } from 'vitest';
import { type MachineDeployment, MachineDeployments, MachineSets, Machines, Nodes } from '../../../api/index.ts';
import { formatTime, statusError } from '../../../machinery/index.ts';
import type { FaultRule } from '../../../runtime/testkit/index.ts';
import { conditionOf, legacyConditionOf } from '../../shared/index.ts';
import { setNodeConditions } from '../../testing/fake-provider.ts';
import { FakeControlPlanes, FakeMachines } from '../../testing/provider-kinds.ts';
import {
  by,
  createCluster,
  createTemplates,
  createWorld,
  machineTemplateSpec,
  type World,
  type WorldOptions,
} from '../../testing/world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

function deployment(w: World, replicas: number, more: Partial<MachineDeployment['spec']> = {}): MachineDeployment {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: 'md', namespace: w.namespace, annotations: { team: 'blue' } },
    spec: {
      clusterName: 'c1',
      replicas,
      selector: {},
      template: { spec: machineTemplateSpec() },
      ...more,
    },
  };
}

async function begin(
  replicas: number,
  more: Partial<MachineDeployment['spec']> = {},
  options: WorldOptions = {},
): Promise<World> {
  world = await createWorld(options);
  await createCluster(world);
  await createTemplates(world);
  await world.client.create(MachineDeployments, deployment(world, replicas, more), by);
  return world;
}

const change = (w: World, spec: object) =>
  w.client.patch(MachineDeployments, { namespace: w.namespace, name: 'md' }, 'merge', { spec } as never, by);
const rolledOut = (w: World, count: number) => async (): Promise<boolean> => {
  const { status, metadata } = (await w.find(MachineDeployments, 'md'))!;
  return (
    status?.upToDateReplicas === count &&
    status.availableReplicas === count &&
    status.replicas === count &&
    status.observedGeneration === metadata.generation
  );
};

describe('a machine deployment', () => {
  it('creates a machine set and machines, and reports their state', async () => {
    const w = await begin(2);
    await w.until(rolledOut(w, 2));
    const [set] = await w.list(MachineSets);
    expect(set?.metadata.name).toMatch(/^md-[a-z0-9]{5}$/);
    expect(set?.metadata.annotations).toMatchObject({
      team: 'blue',
      'machinedeployment.clusters.x-k8s.io/revision': '1',
      'machinedeployment.clusters.x-k8s.io/desired-replicas': '2',
      'machinedeployment.clusters.x-k8s.io/max-replicas': '3',
      'cluster.x-k8s.io/disable-machine-create': 'false',
    });
    const hash = set?.metadata.labels?.['machine-template-hash'];
    expect(set?.spec.selector.matchLabels).toMatchObject({ 'machine-template-hash': hash });
    for (const machine of await w.list(Machines)) {
      expect(machine.metadata.labels).toMatchObject({
        'machine-template-hash': hash,
        'cluster.x-k8s.io/deployment-name': 'md',
        'cluster.x-k8s.io/set-name': set?.metadata.name,
      });
      expect(conditionOf(machine, 'UpToDate')?.status).toBe('True');
    }
    const stored = await w.find(MachineDeployments, 'md');
    expect(stored?.status?.phase).toBe('Running');
    expect(stored?.metadata.annotations).toMatchObject({ 'machinedeployment.clusters.x-k8s.io/revision': '1' });
    expect(stored?.metadata.finalizers).toEqual(['cluster.x-k8s.io/machinedeployment']);
    expect(stored?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Available=True',
      'RollingOut=False',
      'Remediating=False',
      'ScalingDown=False',
      'ScalingUp=False',
      'MachinesReady=True',
      'MachinesUpToDate=True',
      'Paused=False',
      'Deleting=False',
    ]);
    expect(stored?.status?.deprecated?.v1beta1).toMatchObject({
      readyReplicas: 2,
      availableReplicas: 2,
      updatedReplicas: 2,
      unavailableReplicas: 0,
    });
  });

  it('replaces machines within the availability limits and deletes the old set', async () => {
    const w = await begin(3, {}, { bootMs: 20_000 });
    await w.until(rolledOut(w, 3));
    const old = (await w.list(Machines)).map(({ metadata }) => metadata.uid);
    await change(w, { template: { spec: { version: 'v1.33.1' } } });
    let outdatedNodes = 0;
    let fewest = 3;
    let most = 0;
    await w.until(async () => {
      const all = await w.list(Machines);
      const ready = all.filter((machine) => conditionOf(machine, 'Available')?.status === 'True').length;
      fewest = Math.min(fewest, ready);
      most = Math.max(most, all.length);
      const nodes = (await w.workload.list(Nodes)).items;
      outdatedNodes = Math.max(
        outdatedNodes,
        nodes.filter(({ spec }) => spec?.taints?.some(({ key }) => key.endsWith('outdated-revision'))).length,
      );
      return await rolledOut(w, 3)();
    });
    expect(fewest).toBe(3);
    expect(most).toBe(4);
    expect(outdatedNodes).toBe(3);
    const now = await w.list(Machines);
    expect(now.every(({ spec, metadata }) => spec.version === 'v1.33.1' && !old.includes(metadata.uid))).toBe(true);
    await w.until(async () => (await w.list(MachineSets)).length === 1);
    expect((await w.list(MachineSets))[0]?.metadata.annotations).toMatchObject({
      'machinedeployment.clusters.x-k8s.io/revision': '2',
    });
    expect((await w.workload.list(Nodes)).items).toHaveLength(3);
  });

  it('reports what it rolls out and why', async () => {
    const w = await begin(1, {}, { bootMs: 60_000 });
    await w.until(rolledOut(w, 1));
    await change(w, { template: { spec: { version: 'v1.33.1' } } });
    const text = async () => conditionOf(await w.find(MachineDeployments, 'md'), 'RollingOut')?.message;
    await w.until(async () => (await text()) !== '' && (await text()) !== undefined);
    expect(await text()).toBe('Rolling out 1 not up-to-date replicas\n* Version v1.33.0, v1.33.1 required');
  });

  it('reports a Node with another version without starting a rollout', async () => {
    const w = await begin(1);
    await w.until(rolledOut(w, 1));
    const [machine] = await w.list(Machines);
    const { name = '' } = machine!.metadata;
    const node = await w.workload.get(Nodes, { name });
    await setNodeConditions(w.workload, name, node.status?.conditions, 'v1.32.8');
    const find = async () => (await w.find(MachineDeployments, 'md'))!;
    await w.until(async () => (await find()).status?.upToDateReplicas === 0);
    expect(conditionOf(await find(), 'MachinesUpToDate')?.message).toContain(
      'kubeletVersion v1.32.8, v1.33.0 required',
    );
    expect(conditionOf(await find(), 'RollingOut')?.status).toBe('False');
    // a distribution suffix does not make the version different
    await setNodeConditions(w.workload, name, node.status?.conditions, 'v1.33.0+k0s');
    await w.until(rolledOut(w, 1));
  });

  it('reports why it waits', async () => {
    const w = await begin(1);
    await w.until(rolledOut(w, 1));
    const plane = { namespace: w.namespace, name: 'c1' };
    await w.client.patch(FakeControlPlanes, plane, 'merge', { spec: { hold: true } }, by);
    const behind = { status: { version: 'v1.32.0' } };
    await w.client.patch(FakeControlPlanes, plane, 'merge', behind, { ...by, subresource: 'status' });
    await change(w, { replicas: 2 });
    const find = async () => (await w.find(MachineDeployments, 'md'))!;
    const text = async () => conditionOf(await find(), 'ScalingUp')?.message ?? '';
    await w.until(async () => (await text()).includes('is upgrading ("ControlPlaneIsStable" preflight check failed)'));
    expect(await text()).toContain('Scaling up from 1 to 2 replicas is blocked because:');
    await w.until(async () => legacyConditionOf(await find(), 'Ready')?.status === 'False');
  });

  it('changes labels and timeouts in place', async () => {
    const w = await begin(1);
    await w.until(rolledOut(w, 1));
    const [before] = await w.list(Machines);
    const template = {
      metadata: { labels: { 'node.cluster.x-k8s.io/tier': 'gold' } },
      spec: { taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule', propagation: 'Always' }] },
    };
    await change(w, { template });
    const name = before?.metadata.name ?? '';
    await w.until(async () => {
      const node = await w.workload.get(Nodes, { name });
      return node.metadata.labels?.['node.cluster.x-k8s.io/tier'] === 'gold';
    });
    expect((await w.workload.get(Nodes, { name })).spec?.taints).toEqual([
      { key: 'dedicated', value: 'x', effect: 'NoSchedule' },
    ]);
    expect((await w.find(Machines, name))?.metadata.uid).toBe(before?.metadata.uid);
    expect(await w.list(MachineSets)).toHaveLength(1);
  });

  it('rolls out again after spec.rollout.after', async () => {
    const w = await begin(1);
    await w.until(rolledOut(w, 1));
    const [before] = await w.list(Machines);
    await change(w, { rollout: { after: formatTime(w.clock.now() + 600_000) } });
    await w.pass(300_000);
    expect((await w.list(Machines))[0]?.metadata.uid).toBe(before?.metadata.uid);
    await w.until(async () => {
      const all = await w.list(Machines);
      return all.length === 1 && all[0]?.metadata.uid !== before?.metadata.uid && (await rolledOut(w, 1)());
    });
  });

  it('reuses the set of an earlier template while that exists', async () => {
    const w = await begin(2, {}, { bootMs: 30_000 });
    await w.until(rolledOut(w, 2));
    const [first] = await w.list(MachineSets);
    await change(w, { template: { spec: { version: 'v1.33.1' } } });
    await w.until(async () => (await w.list(MachineSets)).length === 2);
    await change(w, { template: { spec: { version: 'v1.33.0' } } });
    await w.until(async () => (await rolledOut(w, 2)()) && (await w.list(MachineSets)).length === 1);
    const [now] = await w.list(MachineSets);
    expect(now?.metadata.uid).toBe(first?.metadata.uid);
    expect(now?.metadata.annotations?.['machinedeployment.clusters.x-k8s.io/revision']).toBe('3');
  });

  it('replaces with OnDelete only machines that the user deletes', async () => {
    const w = await begin(2, { rollout: { strategy: { type: 'OnDelete' } } });
    await w.until(rolledOut(w, 2));
    await change(w, { template: { spec: { version: 'v1.33.1' } } });
    await w.until(async () => (await w.list(MachineSets)).length === 2);
    await w.pass(60_000);
    const old = await w.list(Machines);
    expect(old.map(({ spec }) => spec.version)).toEqual(['v1.33.0', 'v1.33.0']);
    await w.client.delete(Machines, { namespace: w.namespace, name: old[0]?.metadata.name ?? '' });
    await w.until(async () => {
      const versions = (await w.list(Machines)).map(({ spec }) => spec.version).sort();
      return versions.join() === 'v1.33.0,v1.33.1';
    });
  });

  it('does not roll out while its rollout is paused', async () => {
    const w = await begin(1);
    await w.until(rolledOut(w, 1));
    await change(w, { paused: true, replicas: 2, template: { spec: { version: 'v1.33.1' } } });
    await w.until(async () => (await w.list(Machines)).length === 2);
    await w.pass(60_000);
    expect((await w.list(Machines)).map(({ spec }) => spec.version)).toEqual(['v1.33.0', 'v1.33.0']);
    await change(w, { paused: null });
    await w.until(rolledOut(w, 2));
  });

  it('deletes its sets and machines when it is deleted', async () => {
    const w = await begin(2);
    await w.until(rolledOut(w, 2));
    await w.client.delete(MachineDeployments, { namespace: w.namespace, name: 'md' });
    await w.until(async () => (await w.find(MachineDeployments, 'md')) === undefined);
    expect(await w.list(MachineSets)).toEqual([]);
    expect(await w.list(FakeMachines)).toEqual([]);
  });

  it('creates one set when the creation response is lost and controllers restart', async () => {
    const error = () => statusError.internal('the connection broke');
    const faults: FaultRule[] = [{ verb: 'apply', resource: 'MachineSet', when: 'after', nth: [1, 2], error }];
    const w = await begin(1, {}, { faults });
    await w.pass(0);
    await w.restart();
    await w.until(rolledOut(w, 1));
    expect(await w.list(MachineSets)).toHaveLength(1);
    expect(await w.list(Machines)).toHaveLength(1);
  });

  it('writes nothing once nothing changes', async () => {
    const w = await begin(1);
    await w.until(rolledOut(w, 1));
    await w.pass(60_000);
    const before = w.writes();
    await w.pass(600_000);
    expect(w.writes()).toBe(before);
  });
});
