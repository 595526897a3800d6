import { afterEach, describe, expect, it } from 'vitest';
import {
  Clusters,
  type Machine,
  MachineDrainRules,
  type MachineHealthCheck,
  MachineHealthChecks,
  Machines,
  Namespaces,
  type Node,
  Nodes,
  type Pod,
  Pods,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { type KubeObject, type Resource, statusError } from '../../../machinery/index.ts';
import { CoreEvents } from '../../../runtime/index.ts';
import type { FaultRule } from '../../../runtime/testkit/index.ts';
import { conditionOf, legacyConditionOf } from '../../shared/index.ts';
import { setNodeConditions } from '../../testing/fake-provider.ts';
import { FakeConfigs, FakeMachines } from '../../testing/provider-kinds.ts';
import { by, createCluster, createWorld, type World, type WorldOptions } from '../../testing/world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

const key = (w: World, name = 'm1') => ({ namespace: w.namespace, name });

async function createMachine(
  w: World,
  name = 'm1',
  more: Partial<Machine['spec']> = {},
  metadata: object = {},
): Promise<void> {
  const own = { name, namespace: w.namespace };
  const infrastructure = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
    kind: 'FakeMachine',
    metadata: own,
    spec: {},
  };
  await w.client.create(FakeMachines, infrastructure, by);
  await w.client.create(
    FakeConfigs,
    { apiVersion: 'bootstrap.cluster.x-k8s.io/v1', kind: 'FakeConfig', metadata: own, spec: {} },
    by,
  );
  await w.client.create(
    Machines,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { ...own, ...metadata },
      spec: {
        clusterName: 'c1',
        version: 'v1.33.0',
        bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'FakeConfig', name } },
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'FakeMachine', name },
        ...more,
      },
    },
    by,
  );
}

async function begin(
  options: WorldOptions = {},
  more: Partial<Machine['spec']> = {},
  metadata: object = {},
): Promise<World> {
  world = await createWorld(options);
  await createCluster(world);
  await createMachine(world, 'm1', more, metadata);
  return world;
}

const running =
  (w: World, name = 'm1') =>
  async (): Promise<boolean> =>
    conditionOf(await w.find(Machines, name), 'Available')?.status === 'True';
const deletion = async (w: World) => conditionOf(await w.find(Machines, 'm1'), 'Deleting');
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', controller: true };
const serverGone = {
  type: 'Ready',
  status: 'False',
  reason: 'InstanceGone',
  lastTransitionTime: '2026-01-02T00:00:00Z',
};
const gone = (w: World) => async (): Promise<boolean> => (await w.find(Machines, 'm1')) === undefined;

describe('a machine', () => {
  it.each(['v1beta2', 'v1beta1'] as const)('becomes a Node with providers of contract %s', async (contract) => {
    const w = await begin({ contract }, {}, { labels: { 'node.cluster.x-k8s.io/tier': 'gold', other: 'x' } });
    await w.until(running(w));
    const machine = await w.find(Machines, 'm1');
    expect(machine?.spec.providerID).toMatch(/^fake:/);
    expect(machine?.spec.bootstrap.dataSecretName).toBe('m1');
    expect(machine?.status).toMatchObject({
      phase: 'Running',
      nodeRef: { name: 'm1' },
      initialization: { bootstrapDataSecretCreated: true, infrastructureProvisioned: true },
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      failureDomain: 'az1',
      nodeInfo: { osImage: 'Debian' },
    });
    expect(machine?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'Available=True Available',
      'Ready=True Ready',
      'UpToDate=True UpToDate',
      'BootstrapConfigReady=True Ready',
      'InfrastructureReady=True Ready',
      'NodeHealthy=True NodeHealthy',
      'NodeReady=True NodeReady',
      'Updating=False NotUpdating',
      'Paused=False NotPaused',
      'Deleting=False NotDeleting',
    ]);
    expect(legacyConditionOf(machine, 'Ready')?.status).toBe('True');
    expect(legacyConditionOf(machine, 'NodeHealthy')?.status).toBe('True');
    expect(machine?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', name: 'c1' });
    const node = await w.workload.get(Nodes, { name: 'm1' });
    expect(node.metadata.labels).toMatchObject({ 'node.cluster.x-k8s.io/tier': 'gold' });
    expect(node.metadata.labels).not.toHaveProperty('other');
    expect(node.metadata.annotations).toMatchObject({
      'cluster.x-k8s.io/cluster-name': 'c1',
      'cluster.x-k8s.io/machine': 'm1',
      'cluster.x-k8s.io/labels-from-machine': 'node.cluster.x-k8s.io/tier',
    });
    expect(node.spec?.taints ?? []).toEqual([]);
  });

  it('reports who must set the missing providerID of its Node', async () => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
    let server = '';
    const w = await begin({
      boot: async (_, providerId) => {
        server = providerId;
        const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm1' }, status: { conditions } } as Node;
        await world?.workload.create(Nodes, node, by);
      },
    });
    const why = async () => conditionOf(await w.find(Machines, 'm1'), 'NodeReady')?.message ?? '';
    await w.until(async () => /Node m1 .* cloud controller manager .* installed/.test(await why()));
    expect(await why()).toContain(`a Node with spec.providerID ${server} to exist`);
    await w.workload.patch(Nodes, { name: 'm1' }, 'merge', { spec: { providerID: server } }, by);
    await w.until(async () => (await w.find(Machines, 'm1'))?.status?.nodeRef?.name === 'm1');
  });

  it('reports a Node left by an earlier server of the same name, and deletes it on deletion', async () => {
    const w = await begin({
      boot: async () => {
        const spec = { providerID: 'fake:///earlier' };
        const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm1' }, spec } as Node;
        await world?.workload.create(Nodes, node, by);
      },
    });
    const why = async () => conditionOf(await w.find(Machines, 'm1'), 'NodeReady')?.message ?? '';
    await w.until(async () => /Node m1 .* fake:\/\/\/earlier.* delete the Machine/.test(await why()));
    await w.client.delete(Machines, key(w));
    await w.until(gone(w));
    expect((await w.workload.list(Nodes)).items).toEqual([]);
  });

  it('ignores a Node of its name that belongs to another machine', async () => {
    const w = await begin({
      boot: async ({ metadata }, providerID) => {
        if (metadata.name !== 'm2') return;
        const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm1' }, spec: { providerID } } as Node;
        await world?.workload.create(Nodes, node, by);
      },
    });
    await createMachine(w, 'm2');
    await w.until(async () => (await w.find(Machines, 'm2'))?.status?.nodeRef?.name === 'm1');
    await w.client.delete(Machines, key(w));
    await w.until(gone(w));
    expect((await w.workload.list(Nodes)).items.map(({ metadata }) => metadata.name)).toEqual(['m1']);
  });

  it('reports what it waits for while it is created', async () => {
    const w = await begin({ bootMs: 30_000 });
    await w.until(async () => (await w.find(Machines, 'm1'))?.status?.phase === 'Provisioning');
    const machine = await w.find(Machines, 'm1');
    expect(conditionOf(machine, 'InfrastructureReady')).toMatchObject({
      status: 'False',
      reason: 'NotReady',
      message: 'FakeMachine status.initialization.provisioned is false',
    });
    expect(conditionOf(machine, 'Ready')?.message).toContain('* NodeHealthy: ');
    expect(legacyConditionOf(machine, 'Ready')).toMatchObject({ status: 'False', message: '1 of 2 completed' });
    await w.until(running(w));
  });

  it('waits for minReadySeconds before it becomes available', async () => {
    const w = await begin({}, { minReadySeconds: 30 });
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'Ready')?.status === 'True');
    expect(conditionOf(await w.find(Machines, 'm1'), 'Available')?.reason).toBe('WaitingForMinReadySeconds');
    await w.until(running(w));
  });

  it('reports an unhealthy and a deleted Node', async () => {
    const w = await begin();
    await w.until(running(w));
    const now = '2026-01-02T00:00:00Z';
    const sick = { type: 'Ready', status: 'False', message: 'container runtime is down', lastTransitionTime: now };
    await setNodeConditions(w.workload, 'm1', [sick]);
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'NodeHealthy')?.status === 'False');
    expect(conditionOf(await w.find(Machines, 'm1'), 'Ready')?.message).toContain(
      'Node.Ready: container runtime is down',
    );
    const legacy = async () => legacyConditionOf(await w.find(Machines, 'm1'), 'Ready');
    expect(await legacy()).toMatchObject({ status: 'False', reason: 'NodeConditionsFailed' });
    await w.workload.delete(Nodes, { name: 'm1' });
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'NodeHealthy')?.reason === 'NodeDeleted');
    expect(await legacy()).toMatchObject({ status: 'False', reason: 'NodeNotFound' });
  });

  it('reports in both forms of conditions that its server does not run', async () => {
    const w = await begin();
    await w.until(running(w));
    const stopped = {
      type: 'Ready',
      status: 'Unknown',
      reason: 'InstanceNotReady',
      message: 'Server m1 is in state SHUTOFF',
    };
    const conditions = [{ ...stopped, lastTransitionTime: '2026-01-02T00:00:00Z' }];
    await w.client.patch(FakeMachines, key(w), 'merge', { status: { conditions } }, { ...by, subresource: 'status' });
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'Ready')?.status === 'Unknown');
    expect(legacyConditionOf(await w.find(Machines, 'm1'), 'Ready')).toMatchObject(stopped);
  });

  it('leaves the request for remediation to a health check that selects it', async () => {
    const w = await begin({}, {}, { ownerReferences: [owner] });
    await w.until(running(w));
    const check: MachineHealthCheck = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineHealthCheck',
      metadata: { name: 'mhc', namespace: w.namespace },
      spec: { clusterName: 'c1', selector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'c1' } } },
    };
    await w.client.create(MachineHealthChecks, check, by);
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'HealthCheckSucceeded')?.status === 'True');
    const conditions = [{ ...serverGone, message: 'Server m1 (i) does not exist any more' }];
    const status = { status: { conditions } } as never;
    await w.client.patch(FakeMachines, key(w), 'merge', status, { ...by, subresource: 'status' });
    await w.until(
      async () => conditionOf(await w.find(Machines, 'm1'), 'OwnerRemediated')?.reason === 'WaitingForRemediation',
    );
    await w.pass(60_000);
    const writes = w.writes();
    await w.pass(600_000);
    expect(w.writes()).toBe(writes);
    expect(conditionOf(await w.find(Machines, 'm1'), 'HealthCheckSucceeded')?.reason).toBe('InstanceGone');
  });

  it('requests remediation when its server is gone, unless an annotation skips it', async () => {
    const w = await begin(
      {},
      {},
      { ownerReferences: [owner], annotations: { 'cluster.x-k8s.io/skip-remediation': '' } },
    );
    await w.until(running(w));
    const message = 'Server m1 (i) does not exist any more';
    const gone = { ...serverGone, message };
    const say = (conditions: object[]) =>
      w.client.patch(FakeMachines, key(w), 'merge', { status: { conditions } } as never, {
        ...by,
        subresource: 'status',
      });
    await say([gone]);
    const find = (type: string) => async () => conditionOf(await w.find(Machines, 'm1'), type);
    await w.until(async () => (await find('InfrastructureReady')())?.reason === 'InstanceGone');
    expect(await find('OwnerRemediated')()).toBeUndefined();
    const annotations = { 'cluster.x-k8s.io/skip-remediation': null };
    await w.client.patch(Machines, key(w), 'merge', { metadata: { annotations } }, by);
    await w.until(async () => (await find('OwnerRemediated')())?.reason === 'WaitingForRemediation');
    expect(await find('HealthCheckSucceeded')()).toMatchObject({ status: 'False', reason: 'InstanceGone', message });
    // the server is found again
    await say([{ ...gone, status: 'True', reason: 'Ready', message: '' }]);
    await w.until(async () => (await find('OwnerRemediated')()) === undefined);
    expect(await find('HealthCheckSucceeded')()).toBeUndefined();
  });

  it('keeps the last known state through a short connection loss, and reports a long one', async () => {
    const w = await begin();
    await w.until(running(w));
    w.setWorkloadDown(true);
    await w.until(async () => conditionOf(await w.find(Clusters, 'c1'), 'RemoteConnectionProbe')?.status === 'False');
    expect(conditionOf(await w.find(Machines, 'm1'), 'NodeHealthy')?.status).toBe('True');
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'NodeHealthy')?.reason === 'ConnectionDown');
    expect(conditionOf(await w.find(Machines, 'm1'), 'NodeHealthy')?.message).toContain('ECONNREFUSED');
    w.setWorkloadDown(false);
    await w.until(running(w));
  });

  it('reports an unresolvable reference, and continues when it is corrected', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w);
    const own = { name: 'm1', namespace: w.namespace };
    const machine: Machine = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: own,
      spec: {
        clusterName: 'c1',
        bootstrap: { dataSecretName: 'given' },
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'NoSuchMachine', name: 'm1' },
      },
    };
    await w.client.create(Machines, machine, by);
    await w.until(async () => conditionOf(await w.find(Machines, 'm1'), 'InfrastructureReady') !== undefined);
    expect(conditionOf(await w.find(Machines, 'm1'), 'InfrastructureReady')).toMatchObject({
      status: 'Unknown',
      reason: 'InternalError',
      message: expect.stringContaining('nosuchmachines.infrastructure.cluster.x-k8s.io'),
    });
    await w.client.delete(Machines, own);
    await w.until(gone(w));
  });
});

async function put<T extends KubeObject>(client: Client, resource: Resource<T>, object: T): Promise<void> {
  await client.create(resource, object, by);
}

const pod = (name: string, metadata: object = {}, spec: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'apps', ...metadata },
    spec: { nodeName: 'm1', containers: [{ name: 'c', image: 'i' }], ...spec },
  }) as Pod;

describe('the deletion of a machine', () => {
  it('waits for hooks, drains the Node, and deletes its parts in order', async () => {
    const w = await begin(
      {},
      {},
      {
        annotations: {
          'pre-drain.delete.hook.machine.cluster.x-k8s.io/x': '',
          'pre-terminate.delete.hook.machine.cluster.x-k8s.io/y': '',
        },
      },
    );
    await w.until(running(w));
    await put(w.workload, Pods, pod('app'));
    await w.client.delete(Machines, key(w));
    await w.until(async () => (await deletion(w))?.reason === 'WaitingForPreDrainHook');
    expect((await deletion(w))?.message).toContain('pre-drain.delete.hook.machine.cluster.x-k8s.io/x');
    const clear = (name: string) =>
      w.client.patch(Machines, key(w), 'merge', { metadata: { annotations: { [name]: null } } }, by);
    await clear('pre-drain.delete.hook.machine.cluster.x-k8s.io/x');
    await w.until(
      async () =>
        (await deletion(w))?.reason === 'DrainingNode' && ((await deletion(w))?.message.includes('apps/app') ?? false),
    );
    expect((await w.workload.get(Nodes, { name: 'm1' })).spec?.unschedulable).toBe(true);
    expect((await w.find(Machines, 'm1'))?.status?.deletion?.nodeDrainStartTime).toBeDefined();
    await w.workload.delete(Pods, { namespace: 'apps', name: 'app' });
    await w.until(async () => (await deletion(w))?.reason === 'WaitingForPreTerminateHook');
    expect(await w.find(FakeMachines, 'm1')).toBeDefined();
    await clear('pre-terminate.delete.hook.machine.cluster.x-k8s.io/y');
    await w.until(gone(w));
    expect(await w.find(FakeMachines, 'm1')).toBeUndefined();
    expect(await w.find(FakeConfigs, 'm1')).toBeUndefined();
    expect((await w.workload.list(Nodes)).items).toEqual([]);
  });

  it('evicts in the order of the drain rules, waits for jobs, and skips pods as configured', async () => {
    const w = await begin();
    await w.until(running(w));
    await put(w.workload, Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps' } });
    await put(w.workload, Pods, pod('late', { labels: { tier: 'db' } }));
    await put(w.workload, Pods, pod('job', { labels: { 'cluster.x-k8s.io/drain': 'wait-completed' } }));
    await put(w.workload, Pods, pod('stay', { labels: { 'cluster.x-k8s.io/drain': 'skip' } }));
    await put(w.client, MachineDrainRules, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDrainRule',
      metadata: { name: 'db-last', namespace: w.namespace },
      spec: { drain: { behavior: 'Drain', order: 10 }, pods: [{ selector: { matchLabels: { tier: 'db' } } }] },
    });
    await w.client.delete(Machines, key(w));
    await w.until(async () => (await deletion(w))?.message.includes('waiting for completion') ?? false);
    expect((await deletion(w))?.message.split('\n').slice(1)).toEqual([
      '* Pod apps/job: waiting for completion',
      'After above Pods have been removed from the Node, the following Pods will be evicted: apps/late',
    ]);
    await w.workload.delete(Pods, { namespace: 'apps', name: 'job' });
    await w.until(async () => (await deletion(w))?.message.includes('Pod apps/late') ?? false);
    await w.workload.delete(Pods, { namespace: 'apps', name: 'late' });
    await w.until(gone(w));
    expect(await w.workload.get(Pods, { namespace: 'apps', name: 'stay' })).toBeDefined();
  });

  it('names the blocking disruption budget, and continues after the drain timeout', async () => {
    const w = await begin({ realWorkload: true }, { deletion: { nodeDrainTimeoutSeconds: 300 } });
    await w.until(running(w));
    await put(w.workload, Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps' } });
    await put(w.workload, Pods, pod('app', { labels: { app: 'a' } }));
    const running_ = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await w.workload.patch(Pods, { namespace: 'apps', name: 'app' }, 'merge', running_ as never, {
      ...by,
      subresource: 'status',
    });
    const budgets: Resource<KubeObject> = {
      group: 'policy',
      version: 'v1',
      kind: 'PodDisruptionBudget',
      plural: 'poddisruptionbudgets',
      namespaced: true,
    };
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'strict', namespace: 'apps' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    };
    await put(w.workload, budgets, budget);
    await w.client.delete(Machines, key(w));
    await w.until(async () => (await deletion(w))?.message.includes('disruption budget') ?? false);
    expect((await deletion(w))?.message).toContain(
      "* Pod apps/app: cannot evict pod as it would violate the pod's disruption budget.",
    );
    await w.until(gone(w));
    expect(await w.workload.get(Pods, { namespace: 'apps', name: 'app' })).toBeDefined();
  });

  it('completes after a while when the workload API does not answer', async () => {
    const w = await begin();
    await w.until(running(w));
    w.setWorkloadDown(true);
    await w.client.delete(Machines, key(w));
    await w.until(async () => (await deletion(w))?.reason === 'DrainingNode');
    await w.until(gone(w));
    expect(await w.find(FakeMachines, 'm1')).toBeUndefined();
  });

  describe('whose Node could not be deleted', () => {
    async function leaveNode(): Promise<World> {
      const w = await begin();
      await w.until(running(w));
      w.setWorkloadDown(true);
      await w.client.delete(Machines, key(w));
      await w.until(gone(w));
      expect((await w.workload.list(Nodes)).items.map(({ metadata }) => metadata.name)).toEqual(['m1']);
      return w;
    }
    const remembered = async (w: World): Promise<string[]> =>
      Object.keys((await w.find(Clusters, 'c1'))?.metadata.annotations ?? {});

    it('deletes the Node once the workload API answers again', async () => {
      const w = await leaveNode();
      w.setWorkloadDown(false);
      await w.until(async () => (await w.workload.list(Nodes)).items.length === 0);
      await w.until(async () => (await remembered(w)).length === 0);
    });

    it('deletes the Node even after a restart of the controllers', async () => {
      const w = await leaveNode();
      await w.restart(async () => w.setWorkloadDown(false));
      await w.until(async () => (await w.workload.list(Nodes)).items.length === 0);
      await w.until(async () => (await remembered(w)).length === 0);
    });

    it('keeps a Node of the same name that runs on another server', async () => {
      const w = await leaveNode();
      await w.workload.delete(Nodes, { name: 'm1' });
      const another = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm1' }, spec: { providerID: 'fake:///new' } };
      await w.workload.create(Nodes, another as Node, by);
      w.setWorkloadDown(false);
      await w.until(async () => (await remembered(w)).length === 0);
      expect((await w.workload.list(Nodes)).items).toHaveLength(1);
    });

    it('reports on the Cluster why the Node cannot be deleted, and retries', async () => {
      const w = await leaveNode();
      const refused = () => statusError.forbidden({ group: '', resource: 'nodes' }, 'not yours');
      w.setWorkloadFaults([{ verb: 'delete', resource: 'Node', error: refused }]);
      await w.until(async () =>
        (await w.list(CoreEvents)).some(
          ({ involvedObject, message }) =>
            involvedObject.kind === 'Cluster' && /Node m1.*not yours/.test(message ?? ''),
        ),
      );
      expect(conditionOf(await w.find(Clusters, 'c1'), 'RemoteConnectionProbe')?.status).toBe('True');
      w.setWorkloadFaults([]);
      await w.until(async () => (await w.workload.list(Nodes)).items.length === 0);
    });
  });

  it('does not wait for a Node that never existed', async () => {
    const w = await begin({ broken: () => true });
    await w.until(async () => (await w.find(Machines, 'm1'))?.status?.phase === 'Provisioning');
    await w.client.delete(Machines, key(w));
    const asked = w.clock.now();
    await w.until(gone(w));
    expect(w.clock.now() - asked).toBeLessThan(10_000);
  });

  it('deletes a Node that joined while the workload API did not answer', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w);
    await w.until(async () => conditionOf(await w.find(Clusters, 'c1'), 'RemoteConnectionProbe')?.status === 'True');
    w.setWorkloadDown(true);
    await createMachine(w, 'm1', { deletion: { nodeDeletionTimeoutSeconds: 600 } });
    await w.until(async () => (await w.workload.list(Nodes)).items.length === 1);
    expect((await w.find(Machines, 'm1'))?.status?.nodeRef).toBeUndefined();
    await w.client.delete(Machines, key(w));
    await w.until(async () => (await deletion(w))?.reason === 'DeletingNode');
    expect(await w.find(FakeMachines, 'm1')).toBeUndefined();
    w.setWorkloadDown(false);
    await w.until(gone(w));
    expect((await w.workload.list(Nodes)).items).toEqual([]);
  });

  it('reports infrastructure that is not deleted, and delays no other machine', async () => {
    const w = await begin({ stuck: (name) => name === 'm1' });
    await createMachine(w, 'm2');
    await w.until(async () => (await running(w)()) && (await running(w, 'm2')()));
    await w.client.delete(Machines, key(w));
    await w.client.delete(Machines, key(w, 'm2'));
    await w.until(async () => (await w.find(Machines, 'm2')) === undefined);
    await w.until(async () => (await deletion(w))?.reason === 'WaitingForInfrastructureDeletion');
    expect((await deletion(w))?.message).toBe('Waiting for FakeMachine to be deleted');
  });

  it('does not assume an object is gone when it could not be read', async () => {
    const faults: FaultRule[] = [];
    const w = await begin({ faults });
    await w.until(running(w));
    await w.pass(61_000);
    const error = () => statusError.internal('etcd is slow');
    faults.push({ verb: 'get', resource: 'CustomResourceDefinition', error });
    await w.client.delete(Machines, key(w));
    await w.pass(60_000);
    expect(await w.find(Machines, 'm1')).toBeDefined();
    expect(await w.find(FakeMachines, 'm1')).toBeDefined();
    expect((await deletion(w))?.message).toContain('etcd is slow');
    faults.length = 0;
    await w.until(gone(w));
    expect(await w.find(FakeMachines, 'm1')).toBeUndefined();
  });

  it.each(['before', 'after'] as const)(
    'completes when every step fails %s the write and controllers restart',
    async (when) => {
      const error = () => statusError.internal('the connection broke');
      const faults: FaultRule[] = [];
      const w = await begin({ faults });
      await w.until(running(w));
      for (const resource of ['Machine', 'FakeMachine', 'FakeConfig']) {
        faults.push({ verb: ['delete', 'patch'], resource, when, nth: [1, 3], error });
      }
      await w.client.delete(Machines, key(w));
      for (let crash = 0; crash < 3; crash++) {
        await w.pass(5);
        await w.restart();
      }
      await w.until(gone(w));
      expect(await w.find(FakeMachines, 'm1')).toBeUndefined();
      expect(await w.find(FakeConfigs, 'm1')).toBeUndefined();
      expect((await w.workload.list(Nodes)).items).toEqual([]);
    },
  );
});
