import { afterEach, describe, expect, it } from 'vitest';
import { Clusters, type Machine, type MachineSet, MachineSets, Machines, Nodes } from '../../../api/index.ts';
import { statusError } from '../../../machinery/index.ts';
import type { FaultRule, FaultVerb } from '../../../runtime/testkit/index.ts';
import { conditionOf, controllerOf } from '../../shared/index.ts';
import {
  FakeConfigs,
  FakeConfigTemplates,
  FakeControlPlanes,
  FakeMachines,
  FakeMachineTemplates,
} from '../../testing/provider-kinds.ts';
import {
  by,
  createCluster,
  createTemplates,
  createWorld,
  machineTemplateSpec,
  type World,
  type WorldOptions,
} from '../../testing/world.ts';

import { mostPending } from './create-machines.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function begin(options: WorldOptions = {}): Promise<World> {
  world = await createWorld(options);
  await createCluster(world);
  await createTemplates(world);
  return world;
}

function machineSet(w: World, replicas: number): MachineSet {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata: { name: 'ms', namespace: w.namespace },
    spec: {
      clusterName: 'c1',
      replicas,
      selector: { matchLabels: { pool: 'a' } },
      template: { metadata: { labels: { pool: 'a' }, annotations: { note: 'x' } }, spec: machineTemplateSpec() },
    },
  };
}

const key = ({ namespace }: World, name = 'ms') => ({ namespace, name });
const available = (w: World, count: number) => async (): Promise<boolean> => {
  const status = (await w.find(MachineSets, 'ms'))?.status;
  return status?.availableReplicas === count && status.replicas === count;
};
const namesOf = async (w: World, resource: typeof FakeMachines | typeof Machines): Promise<(string | undefined)[]> =>
  (await w.list(resource as typeof Machines)).map(({ metadata }) => metadata.name).sort();

describe('a machine set', () => {
  it('creates machines with bootstrap config and infrastructure, and counts them', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 3), by);
    await w.until(available(w, 3));
    const made = await w.list(Machines);
    expect(made).toHaveLength(3);
    expect(await w.list(FakeMachines)).toHaveLength(3);
    expect(await w.list(FakeConfigs)).toHaveLength(3);
    for (const machine of made) {
      const { name = '' } = machine.metadata;
      expect(name).toMatch(/^ms-[a-z0-9]{5}$/);
      expect(machine.spec.infrastructureRef).toEqual({
        apiGroup: 'infrastructure.cluster.x-k8s.io',
        kind: 'FakeMachine',
        name,
      });
      expect(machine.spec.bootstrap.configRef?.name).toBe(name);
      expect(machine.metadata.labels).toMatchObject({
        'cluster.x-k8s.io/cluster-name': 'c1',
        'cluster.x-k8s.io/set-name': 'ms',
        pool: 'a',
      });
      expect(machine.metadata.annotations).toMatchObject({ note: 'x' });
      expect(controllerOf(machine)?.name).toBe('ms');
      expect(machine.metadata.finalizers).toContain('machine.cluster.x-k8s.io');
      const clone = await w.find(FakeMachines, name);
      expect(clone?.spec).toMatchObject({ flavor: 'small' });
      expect(clone?.metadata.annotations).toMatchObject({
        note: 'x',
        'cluster.x-k8s.io/cloned-from-name': 'workers',
        'cluster.x-k8s.io/cloned-from-groupkind': 'FakeMachineTemplate.infrastructure.cluster.x-k8s.io',
      });
      expect(clone?.metadata.ownerReferences?.map(({ kind, name: owner }) => `${kind}/${owner}`)).toEqual([
        `Machine/${name}`,
      ]);
    }
    const set = await w.find(MachineSets, 'ms');
    expect(set?.metadata.finalizers).toEqual(['cluster.x-k8s.io/machineset']);
    expect(set?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', name: 'c1' });
    expect(set?.status).toMatchObject({
      selector: expect.stringContaining('pool=a'),
      readyReplicas: 3,
      versions: [{ version: 'v1.33.0', replicas: 3 }],
      deprecated: { v1beta1: { readyReplicas: 3, availableReplicas: 3, fullyLabeledReplicas: 3 } },
    });
    expect(set?.status?.conditions?.map(({ type }) => type)).toEqual([
      'Remediating',
      'ScalingDown',
      'ScalingUp',
      'MachinesReady',
      'MachinesUpToDate',
      'Paused',
      'Deleting',
    ]);
    expect(conditionOf(set, 'MachinesReady')?.status).toBe('True');
    const template = await w.find(FakeMachineTemplates, 'workers');
    expect(template?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', name: 'c1' });
  });

  it('writes nothing once nothing changes', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 2), by);
    await w.until(available(w, 2));
    await w.pass(60_000);
    const before = w.writes();
    await w.pass(600_000);
    expect(w.writes()).toBe(before);
  });

  it('adds and removes labels and timeouts of existing machines without replacing them', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 1), by);
    await w.until(available(w, 1));
    const [before] = await w.list(Machines);
    const name = before?.metadata.name ?? '';
    const template = {
      metadata: { labels: { pool: 'a', tier: 'gold' } },
      spec: { minReadySeconds: 5, deletion: { nodeDrainTimeoutSeconds: 60 } },
    };
    await w.client.patch(MachineSets, key(w), 'merge', { spec: { template } }, by);
    await w.until(async () => (await w.find(FakeMachines, name))?.metadata.labels?.['tier'] === 'gold');
    const during = await w.find(Machines, name);
    expect(during?.metadata.uid).toBe(before?.metadata.uid);
    expect(during?.spec).toMatchObject({ minReadySeconds: 5, deletion: { nodeDrainTimeoutSeconds: 60 } });
    const without = { spec: { template: { metadata: { labels: { tier: null } } } } };
    await w.client.patch(MachineSets, key(w), 'merge', without, by);
    await w.until(async () => (await w.find(FakeMachines, name))?.metadata.labels?.['tier'] === undefined);
    expect((await w.find(Machines, name))?.metadata.labels).not.toHaveProperty('tier');
    const kept = (await w.find(FakeMachines, name))?.metadata;
    expect(Object.keys(kept?.annotations ?? {})).toContain('cluster.x-k8s.io/cloned-from-name');
  });

  it('deletes machines with the delete-machine annotation first when it scales down', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 3), by);
    await w.until(available(w, 3));
    const names = await namesOf(w, Machines);
    const annotations = { 'cluster.x-k8s.io/delete-machine': 'yes' };
    await w.client.patch(Machines, key(w, names[2]), 'merge', { metadata: { annotations } }, by);
    await w.client.patch(MachineSets, key(w), 'merge', { spec: { replicas: 2 } }, by);
    await w.until(available(w, 2));
    expect(await namesOf(w, Machines)).toEqual(names.slice(0, 2));
    expect(await w.list(FakeMachines)).toHaveLength(2);
    expect((await w.workload.list(Nodes)).items).toHaveLength(2);
  });

  it('replaces a machine that somebody deleted', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 1), by);
    await w.until(available(w, 1));
    const [machine] = await w.list(Machines);
    await w.client.delete(Machines, key(w, machine?.metadata.name));
    await w.until(async () => {
      const now = await w.list(Machines);
      return now.length === 1 && now[0]?.metadata.uid !== machine?.metadata.uid && (await available(w, 1)());
    });
  });

  it('adopts machines that match and belong to nobody', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 1), by);
    await w.until(available(w, 1));
    const orphan: Machine = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { name: 'stray', namespace: w.namespace, labels: { pool: 'a', 'cluster.x-k8s.io/set-name': 'ms' } },
      spec: {
        clusterName: 'c1',
        bootstrap: { dataSecretName: 'given' },
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'FakeMachine', name: 'stray' },
      },
    };
    await w.client.create(Machines, orphan, by);
    await w.until(async () => {
      const machine = await w.find(Machines, 'stray');
      return machine === undefined || controllerOf(machine)?.name === 'ms';
    });
    // the surplus machine is deleted
    await w.until(async () => (await w.list(Machines)).length === 1);
  });

  it('waits for missing templates and reports them', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w);
    await w.client.create(MachineSets, machineSet(w, 1), by);
    const scalingUp = async () => conditionOf(await w.find(MachineSets, 'ms'), 'ScalingUp')?.message;
    await w.until(async () => (await scalingUp())?.includes('do not exist') === true);
    expect(await scalingUp()).toBe(
      'Scaling up from 0 to 1 replicas is blocked because:\n* FakeConfigTemplate and FakeMachineTemplate do not exist',
    );
    await createTemplates(w);
    await w.until(available(w, 1));
  });

  it('creates no machines while the control plane is unstable, and continues afterwards', async () => {
    const w = await begin();
    await w.until(async () => conditionOf(await w.find(Clusters, 'c1'), 'ControlPlaneInitialized')?.status === 'True');
    const plane = { namespace: w.namespace, name: 'c1' };
    await w.client.patch(FakeControlPlanes, plane, 'merge', { spec: { hold: true } }, by);
    const behind = { status: { version: 'v1.32.0' } };
    await w.client.patch(FakeControlPlanes, plane, 'merge', behind, { ...by, subresource: 'status' });
    await w.client.create(MachineSets, machineSet(w, 1), by);
    const text = async () => conditionOf(await w.find(MachineSets, 'ms'), 'ScalingUp')?.message ?? '';
    await w.until(async () => (await text()).includes('is upgrading ("ControlPlaneIsStable" preflight check failed)'));
    expect(await w.list(Machines)).toHaveLength(0);
    const asked = w.clock.now();
    await w.client.patch(FakeControlPlanes, plane, 'merge', { spec: { hold: false } }, by);
    await w.until(async () => (await w.list(Machines)).length === 1);
    expect(w.clock.now()).toBe(asked);
  });

  it('with 2147483647 replicas creates a limited number of machines and stays responsive', async () => {
    const w = await begin();
    // prevents the server from being created
    const template = { spec: { template: { spec: { hold: true } } } };
    await w.client.patch(FakeConfigTemplates, key(w, 'workers'), 'merge', template, by);
    await w.client.create(MachineSets, machineSet(w, 2_147_483_647), by);
    const scalingUp = async () => conditionOf(await w.find(MachineSets, 'ms'), 'ScalingUp')?.message ?? '';
    await w.until(async () => (await scalingUp()).includes('Machines have no server yet'));
    await w.pass(120_000);
    expect(await w.list(Machines)).toHaveLength(mostPending);
    await w.client.patch(MachineSets, key(w), 'merge', { spec: { replicas: 2 } }, by);
    await w.until(async () => (await w.list(Machines)).length === 2);
  });

  it('deletes its machines when it is deleted', async () => {
    const w = await begin();
    await w.client.create(MachineSets, machineSet(w, 2), by);
    await w.until(available(w, 2));
    await w.client.delete(MachineSets, key(w));
    await w.until(async () => (await w.find(MachineSets, 'ms')) === undefined);
    expect(await w.list(Machines)).toEqual([]);
    expect(await w.list(FakeMachines)).toEqual([]);
    expect(await w.list(FakeConfigs)).toEqual([]);
  });

  it('does nothing while paused, and keeps reporting the pause', async () => {
    const w = await begin();
    await w.until(async () => conditionOf(await w.find(Clusters, 'c1'), 'Paused') !== undefined);
    const cluster = { namespace: w.namespace, name: 'c1' };
    await w.client.patch(Clusters, cluster, 'merge', { spec: { paused: true } }, by);
    await w.client.create(MachineSets, machineSet(w, 2), by);
    await w.until(async () => conditionOf(await w.find(MachineSets, 'ms'), 'Paused')?.status === 'True');
    await w.pass(60_000);
    expect(await w.list(Machines)).toEqual([]);
    await w.client.patch(Clusters, cluster, 'merge', { spec: { paused: null } }, by);
    await w.until(available(w, 2));
    expect(conditionOf(await w.find(MachineSets, 'ms'), 'Paused')?.status).toBe('False');
  });

  it('reports a machine whose infrastructure is refused, creates no more, and can remove it', async () => {
    const faults: FaultRule[] = [
      { verb: 'create', resource: 'FakeMachine', error: () => statusError.internal('quota exceeded') },
    ];
    const w = await begin({ faults });
    await w.client.create(MachineSets, machineSet(w, 3), by);
    await w.until(async () => (await w.list(Machines)).length === 1);
    await w.pass(60_000);
    expect(await w.list(Machines)).toHaveLength(1);
    expect(conditionOf(await w.find(MachineSets, 'ms'), 'ScalingUp')?.message).toContain('quota exceeded');
    await w.client.patch(MachineSets, key(w), 'merge', { spec: { replicas: 0 } }, by);
    await w.until(async () => (await w.list(Machines)).length === 0);
    expect(await w.list(FakeConfigs)).toEqual([]);
  });

  const steps: [FaultVerb, string][] = [
    ['create', 'FakeConfig'],
    ['create', 'FakeMachine'],
    ['apply', 'Machine'],
    ['patch', 'FakeMachine'],
    ['patch', 'Machine'],
    ['patch', 'MachineSet'],
    ['apply', 'FakeMachine'],
  ];
  it.each(['before', 'after'] as const)(
    'creates no leaks or duplicates when steps fail %s the write and controllers restart',
    async (when) => {
      const error = () => statusError.internal('the connection broke');
      const faults = steps.map(([verb, resource]): FaultRule => ({ verb, resource, when, nth: [1, 3], error }));
      const w = await begin({ faults });
      await w.client.create(MachineSets, machineSet(w, 2), by);
      for (let crash = 0; crash < 4; crash++) {
        await w.pass(5);
        await w.restart();
      }
      await w.until(available(w, 2));
      const names = await namesOf(w, Machines);
      expect(names).toHaveLength(2);
      await w.pass(30_000);
      expect(await namesOf(w, FakeMachines)).toEqual(names);
      expect(await namesOf(w, FakeConfigs)).toEqual(names);
    },
  );
});
