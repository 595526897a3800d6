import { afterEach, describe, expect, it } from 'vitest';
import { Clusters, clusterNameLabel, MachineDeployments, Machines, Secrets } from '../../../api/index.ts';
import { parseKubeconfig } from '../../../client/index.ts';
import { createAuthority } from '../../../pki/index.ts';
import { conditionOf, kubeconfigNeedsRotation, legacyConditionOf, type WorkloadClusters } from '../../shared/index.ts';
import { FakeClusters, FakeControlPlanes } from '../../testing/provider-kinds.ts';
import {
  by,
  createCluster,
  createTemplates,
  createWorld,
  machineTemplateSpec,
  type World,
} from '../../testing/world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

const key = (w: World) => ({ namespace: w.namespace, name: 'c1' });
const available = (w: World) => async (): Promise<boolean> =>
  conditionOf(await w.find(Clusters, 'c1'), 'Available')?.status === 'True';

async function createDeployment(w: World): Promise<void> {
  await createTemplates(w);
  await w.client.create(
    MachineDeployments,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name: 'md', namespace: w.namespace },
      spec: { clusterName: 'c1', replicas: 2, selector: {}, template: { spec: machineTemplateSpec() } },
    },
    by,
  );
}

describe('a cluster', () => {
  it.each(['v1beta2', 'v1beta1'] as const)('reports the state of its providers, contract %s', async (contract) => {
    world = await createWorld({ contract });
    const w = world;
    await createCluster(w);
    await createDeployment(w);
    await w.until(
      async () => (await available(w)()) && (await w.find(Clusters, 'c1'))?.status?.workers?.availableReplicas === 2,
    );
    const cluster = await w.find(Clusters, 'c1');
    expect(cluster?.spec.controlPlaneEndpoint).toEqual({ host: '127.0.0.1', port: 6443 });
    expect(cluster?.metadata.finalizers).toEqual(['cluster.cluster.x-k8s.io']);
    expect(cluster?.status).toMatchObject({
      phase: 'Provisioned',
      initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
      workers: { desiredReplicas: 2, replicas: 2, readyReplicas: 2, availableReplicas: 2, upToDateReplicas: 2 },
    });
    expect(cluster?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Available=True',
      'RemoteConnectionProbe=True',
      'InfrastructureReady=True',
      'ControlPlaneInitialized=True',
      'ControlPlaneAvailable=True',
      'WorkersAvailable=True',
      'RollingOut=False',
      'Remediating=False',
      'ScalingDown=False',
      'ScalingUp=False',
      'ControlPlaneMachinesReady=True',
      'WorkerMachinesReady=True',
      'ControlPlaneMachinesUpToDate=True',
      'WorkerMachinesUpToDate=True',
      'Paused=False',
      'Deleting=False',
    ]);
    expect(legacyConditionOf(cluster, 'InfrastructureReady')?.status).toBe('True');
    expect(legacyConditionOf(cluster, 'ControlPlaneInitialized')?.status).toBe('True');
    for (const resource of [FakeClusters, FakeControlPlanes]) {
      const owned = await w.find(resource, 'c1');
      expect(owned?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', name: 'c1' });
      expect(owned?.metadata.ownerReferences?.[0]).not.toHaveProperty('controller');
      expect(owned?.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'c1' });
    }
  });

  it('is not connected to before a control plane machine has a server', async () => {
    world = await createWorld();
    const w = world;
    const machine = { namespace: w.namespace, name: 'cp-1' };
    await w.client.create(
      Machines,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { ...machine, labels: { [clusterNameLabel]: 'c1', 'cluster.x-k8s.io/control-plane': '' } },
        spec: machineTemplateSpec(),
      },
      by,
    );
    await createCluster(w);
    await w.until(async () => (await w.find(Clusters, 'c1'))?.status?.phase === 'Provisioned');
    await w.pass(30_000);
    expect(w.connections()).toBe(0);
    const status = { initialization: { infrastructureProvisioned: true } };
    await w.client.patch(Machines, machine, 'merge', { status }, { ...by, subresource: 'status' });
    await w.until(() => w.connections() === 1);
  });

  it('is deleted in order, reports what is left, and leaves nothing', async () => {
    world = await createWorld({ stuck: () => stuck });
    let stuck = true;
    const w = world;
    await createCluster(w);
    await createDeployment(w);
    await w.until(async () => (await w.find(Clusters, 'c1'))?.status?.workers?.availableReplicas === 2);
    await w.client.delete(Clusters, key(w));
    const text = async () => conditionOf(await w.find(Clusters, 'c1'), 'Deleting');
    await w.until(async () => (await text())?.reason === 'WaitingForWorkersDeletion');
    expect((await text())?.message).toMatch(/^\* MachineDeployments: md\n\* MachineSets: md-\w+\n\* Worker Machines: /);
    await w.pass(60_000);
    expect(await w.find(FakeControlPlanes, 'c1')).toBeDefined();
    stuck = false;
    for (const machine of await w.list(Machines)) {
      const annotations = { poke: String(w.clock.now()) };
      await w.client.patch(
        Machines,
        { namespace: w.namespace, name: machine.metadata.name ?? '' },
        'merge',
        { metadata: { annotations } },
        by,
      );
    }
    await w.until(async () => (await w.find(Clusters, 'c1')) === undefined);
    for (const resource of [FakeClusters, FakeControlPlanes]) expect(await w.list(resource)).toEqual([]);
    expect(await w.list(MachineDeployments)).toEqual([]);
  });

  it('creates and renews its own kubeconfig without a control plane provider', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w, 'c1', { controlPlane: false });
    await w.client.delete(Secrets, { namespace: w.namespace, name: 'c1-kubeconfig' });
    await w.until(async () => (await w.find(Clusters, 'c1'))?.status?.phase === 'Provisioned');
    const authority = await createAuthority({ commonName: 'kubernetes', clock: w.clock });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    await w.client.create(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'c1-ca', namespace: w.namespace, labels: { [clusterNameLabel]: 'c1' } },
        type: 'cluster.x-k8s.io/secret',
        data: { 'tls.crt': base64(authority.certificate), 'tls.key': base64(authority.privateKey) },
      },
      by,
    );
    const kubeconfig = async () => {
      const data = (await w.find(Secrets, 'c1-kubeconfig'))?.data?.['value'];
      return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
    };
    const patience = Date.now() + 20_000;
    const soon = async (condition: () => Promise<boolean>): Promise<void> => {
      // keys are generated on worker threads, which the simulated clock does not control
      while (!(await condition())) {
        if (Date.now() > patience) throw new Error('the kubeconfig never came');
        await w.pass(31_000);
      }
    };
    await soon(async () => (await kubeconfig()) !== undefined);
    const first = await kubeconfig();
    const parsed = parseKubeconfig(first ?? '', 'test');
    expect(parsed['current-context']).toBe('c1-admin@c1');
    expect(parsed.clusters?.[0]).toMatchObject({ name: 'c1', cluster: { server: 'https://127.0.0.1:6443' } });
    expect(parsed.users?.[0]?.name).toBe('c1-admin');
    expect(kubeconfigNeedsRotation(first ?? '', w.clock.now())).toBe(false);
    expect(kubeconfigNeedsRotation(first ?? '', w.clock.now() + 190 * 24 * 3_600_000)).toBe(true);
    expect(kubeconfigNeedsRotation('not a kubeconfig: [', w.clock.now())).toBe(true);
  });

  it('reports a provider object that was deleted', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w);
    await w.until(available(w));
    await w.client.patch(FakeClusters, key(w), 'merge', { metadata: { finalizers: null } }, by);
    await w.client.delete(FakeClusters, key(w));
    await w.until(
      async () => conditionOf(await w.find(Clusters, 'c1'), 'InfrastructureReady')?.reason === 'ObjectDeleted',
    );
    expect(conditionOf(await w.find(Clusters, 'c1'), 'Available')?.message).toBe(
      '* InfrastructureReady: FakeCluster has been deleted while the cluster still exists',
    );
  });

  it('reports in both forms of conditions a missing control plane and a pause', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w);
    await w.until(available(w));
    const ready = async () => legacyConditionOf(await w.find(Clusters, 'c1'), 'Ready');
    expect((await ready())?.status).toBe('True');
    await w.client.patch(FakeControlPlanes, key(w), 'merge', { metadata: { finalizers: null } }, by);
    await w.client.delete(FakeControlPlanes, key(w));
    await w.until(async () => (await ready())?.status === 'False');
    expect(await ready()).toMatchObject({ severity: 'Error', reason: 'ObjectDeleted' });
    await w.client.patch(Clusters, key(w), 'merge', { spec: { paused: true } }, by);
    await w.until(async () => (await ready())?.reason === 'Paused');
    expect(await ready()).toMatchObject({ status: 'Unknown' });
    await w.client.delete(Clusters, key(w));
    await w.until(async () => conditionOf(await w.find(Clusters, 'c1'), 'Deleting')?.reason === 'Paused');
    await w.client.patch(Clusters, key(w), 'merge', { spec: { paused: null } }, by);
    await w.until(async () => (await w.find(Clusters, 'c1')) === undefined);
  });

  it('reports that no controller acts on its topology', async () => {
    world = await createWorld();
    const w = world;
    const topology = { classRef: { name: 'quick' }, version: 'v1.33.0' };
    const { namespace } = w;
    const apiVersion = 'cluster.x-k8s.io/v1beta2';
    await w.client.create(
      Clusters,
      { apiVersion, kind: 'Cluster', metadata: { name: 'c1', namespace }, spec: { topology } } as never,
      by,
    );
    await w.until(async () => conditionOf(await w.find(Clusters, 'c1'), 'TopologyReconciled') !== undefined);
    const cluster = await w.find(Clusters, 'c1');
    expect(conditionOf(cluster, 'TopologyReconciled')).toMatchObject({
      status: 'False',
      reason: 'TopologyNotSupported',
    });
    expect(conditionOf(cluster, 'Available')?.message).toContain('spec.topology is not acted on');
    expect(legacyConditionOf(cluster, 'Ready')).toMatchObject({ status: 'False', reason: 'TopologyNotSupported' });
  });

  it('stays available while its API is silent for a moment', async () => {
    let workloads: WorkloadClusters | undefined;
    world = await createWorld({
      extend: (_manager, shared) => {
        workloads = shared.workloads;
      },
    });
    const w = world;
    await createCluster(w);
    await w.until(available(w));
    // a working connection is probed once a minute, so its last success is older than the probe grace period
    await w.until(() => w.clock.now() - workloads!.state(key(w)).lastSuccess > 55_000);
    w.setWorkloadDown(true);
    await w.until(() => workloads!.state(key(w)).failures === 1);
    await w.client.patch(Clusters, key(w), 'merge', { metadata: { annotations: { touched: '' } } }, by);
    await w.pass(1_000);
    expect(conditionOf(await w.find(Clusters, 'c1'), 'RemoteConnectionProbe')?.status).toBe('True');
  });

  it('is notified when its API answers again after a short silence', async () => {
    let workloads: WorkloadClusters | undefined;
    const told: string[] = [];
    const stop = new AbortController();
    world = await createWorld({
      extend: (_manager, shared) => {
        workloads = shared.workloads;
        const source = workloads.connectionSource(({ name }) => {
          told.push(name);
          return [];
        });
        void source.start({ enqueue: () => {}, enqueuePatiently: () => {}, signal: stop.signal } as Parameters<
          typeof source.start
        >[0]);
      },
    });
    const w = world;
    await createCluster(w);
    await w.until(available(w));
    w.setWorkloadDown(true);
    await w.until(() => workloads!.state(key(w)).failures === 2);
    told.length = 0;
    w.setWorkloadDown(false);
    await w.until(() => workloads!.state(key(w)).failures === 0);
    expect(told).toEqual(['c1']);
    stop.abort();
  });

  it('reconnects at once with a new kubeconfig', async () => {
    world = await createWorld();
    const w = world;
    await createCluster(w);
    await w.until(available(w));
    const before = w.connections();
    const data = { value: Buffer.from('renewed').toString('base64') };
    await w.client.patch(Secrets, { namespace: w.namespace, name: 'c1-kubeconfig' }, 'merge', { data }, by);
    await w.pass(0);
    expect(w.connections()).toBe(before + 1);
  });
});
