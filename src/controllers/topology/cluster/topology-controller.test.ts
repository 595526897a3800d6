import { afterEach, describe, expect, it } from 'vitest';
import {
  type Cluster,
  ClusterAddons,
  ClusterClasses,
  Clusters,
  KubeadmConfigTemplates,
  MachineDeployments,
  MachineHealthChecks,
  MachineSets,
  Machines,
} from '../../../api/index.ts';
import type { JsonObject } from '../../../machinery/index.ts';
import type { FaultRule } from '../../../runtime/testkit/index.ts';
import { at, type BuiltInHookHandler, conditionOf, isTrue } from '../../shared/index.ts';
import {
  FakeClusters,
  FakeConfigTemplates,
  FakeControlPlanes,
  FakeMachineTemplates,
} from '../../testing/provider-kinds.ts';
import { by, type World } from '../../testing/world.ts';
import { createClass, createTopologyCluster, createTopologyWorld } from '../testing/class-world.ts';

let world: World;
afterEach(async () => {
  await world?.stop();
});

const cluster = async (name = 'c1'): Promise<Cluster> => (await world.find(Clusters, name))!;
const reconciled = async (name = 'c1') => conditionOf(await cluster(name), 'TopologyReconciled');
const ready = async (machines: number): Promise<boolean> => {
  const all = await world.list(Machines);
  return all.length === machines && all.every((machine) => isTrue(machine, 'Available'));
};
const patch = (spec: JsonObject, name = 'c1') =>
  world.client.patch(Clusters, { namespace: world.namespace, name }, 'merge', { spec }, by);
const names = async (resource: typeof FakeMachineTemplates): Promise<string[]> =>
  (await world.list(resource)).map(({ metadata }) => metadata.name ?? '').filter((name) => name.startsWith('c1-'));

/** all requests but the first, which is the dry run before templates are created */
const refusedAfterDryRun = (): FaultRule => ({
  verb: 'apply',
  resource: 'machinedeployments',
  nth: Array.from({ length: 100 }, (_, i) => i + 2),
  error: () => new Error('cut short'),
});

describe('a topology', () => {
  it('becomes a cluster, and then nothing is written', async () => {
    world = await createTopologyWorld();
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    await world.until(async () => isTrue(await cluster(), 'Available'));
    const { spec, metadata } = await cluster();
    expect(await reconciled()).toMatchObject({ status: 'True', reason: 'ReconcileSucceeded' });
    expect(metadata.labels).toMatchObject({ 'topology.cluster.x-k8s.io/owned': '' });
    const plane = await world.find(FakeControlPlanes, spec.controlPlaneRef!.name);
    expect(plane).toMatchObject({ spec: { etcd: 'local', version: 'v1.33.0' } });
    expect(at((await world.find(FakeClusters, spec.infrastructureRef!.name))!, 'spec', 'region')).toBe('one');
    const [deployment] = await world.list(MachineDeployments);
    const template = await world.find(FakeMachineTemplates, deployment!.spec.template.spec.infrastructureRef.name);
    expect(at(template!, 'spec', 'template', 'spec', 'flavor')).toBe('m1.small');
    const writes = world.writes();
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
  });

  it('rotates a template when a variable changes, rolls machines and deletes the old template', async () => {
    world = await createTopologyWorld();
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    const before = await names(FakeMachineTemplates);
    expect(before).toHaveLength(1);
    await patch({ topology: { variables: [{ name: 'flavor', value: 'm1.large' }] } });
    await world.until(async () => {
      const after = await names(FakeMachineTemplates);
      return (
        after.length === 1 && after[0] !== before[0] && (await ready(2)) && (await world.list(MachineSets)).length === 1
      );
    });
    expect(
      at(
        (await world.find(FakeMachineTemplates, (await names(FakeMachineTemplates))[0]!))!,
        'spec',
        'template',
        'spec',
        'flavor',
      ),
    ).toBe('m1.large');
    expect(await names(FakeConfigTemplates)).toHaveLength(1);
  });

  it('leaks nothing when it is interrupted between a new template and the switch to it', async () => {
    const faults: FaultRule[] = [];
    world = await createTopologyWorld({ faults });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    faults.push(refusedAfterDryRun());
    await patch({ topology: { variables: [{ name: 'flavor', value: 'm1.large' }] } });
    await world.until(async () => (await names(FakeMachineTemplates)).length === 2);
    await world.restart(async () => {
      faults.length = 0;
      await patch({ topology: { variables: [{ name: 'flavor', value: 'm1.huge' }] } });
    });
    await world.until(async () => (await names(FakeMachineTemplates)).length === 1 && (await ready(2)));
    expect(
      at(
        (await world.find(FakeMachineTemplates, (await names(FakeMachineTemplates))[0]!))!,
        'spec',
        'template',
        'spec',
        'flavor',
      ),
    ).toBe('m1.huge');
  });

  it('deletes the template of a change that failed and was taken back', async () => {
    const faults: FaultRule[] = [];
    world = await createTopologyWorld({ faults });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    const before = await names(FakeMachineTemplates);
    faults.push(refusedAfterDryRun());
    await patch({ topology: { variables: [{ name: 'flavor', value: 'm1.large' }] } });
    await world.until(async () => (await names(FakeMachineTemplates)).length === 2);
    faults.length = 0;
    await patch({ topology: { variables: [{ name: 'flavor', value: 'm1.small' }] } });
    await world.until(async () => isTrue((await world.find(Clusters, 'c1'))!, 'TopologyReconciled'));
    await world.pass(60_000);
    expect(await names(FakeMachineTemplates)).toEqual(before);
  });

  it('deletes the templates of a kind that its class uses no more', async () => {
    world = await createTopologyWorld();
    await createClass(world);
    const worker = { class: 'worker', name: 'md-0', replicas: 0 };
    await createTopologyCluster(world, 'c1', { workers: { machineDeployments: [worker] } });
    await world.until(async () => (await names(FakeConfigTemplates)).length === 1);
    const { client, namespace } = world;
    await client.create(
      KubeadmConfigTemplates,
      {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
        kind: 'KubeadmConfigTemplate',
        metadata: { name: 'other', namespace },
        spec: { template: { spec: { format: 'cloud-config' } } },
      } as never,
      by,
    );
    const path = '/spec/workers/machineDeployments/0/bootstrap/templateRef';
    const value = { apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2', kind: 'KubeadmConfigTemplate', name: 'other' };
    await client.patch(ClusterClasses, { namespace, name: 'small' }, 'json', [{ op: 'replace', path, value }], by);
    await world.until(async () => (await names(KubeadmConfigTemplates as never)).length === 1);
    await world.until(async () => (await names(FakeConfigTemplates)).length === 0);
    const [deployment] = await world.list(MachineDeployments);
    expect(deployment?.spec.template.spec.bootstrap.configRef?.kind).toBe('KubeadmConfigTemplate');
  });

  it('takes the replicas of the control plane from the field, if nobody set the variable that the class names', async () => {
    world = await createTopologyWorld();
    await createClass(world, 'small', {
      variables: [
        { name: 'flavor', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'm1.small' } } },
        { name: 'count', required: false, schema: { openAPIV3Schema: { type: 'integer', default: 3 } } },
      ],
    });
    const annotations = { 'topology.capstan.dev/control-plane-replicas-variable': 'count' };
    const key = { namespace: world.namespace, name: 'small' };
    await world.client.patch(ClusterClasses, key, 'merge', { metadata: { annotations } }, by);
    await createTopologyCluster(world, 'c1', { controlPlane: { replicas: 1 } });
    await world.until(() => ready(2));
    const [plane] = await world.list(FakeControlPlanes);
    expect(at(plane!, 'spec', 'replicas')).toBe(1);
    expect((await reconciled())?.message ?? '').toBe('');
  });

  it('upgrades the control plane first, then workers one after the other', async () => {
    world = await createTopologyWorld();
    await createClass(world);
    const worker = (name: string): JsonObject => ({ class: 'worker', name, replicas: 1 });
    await createTopologyCluster(world, 'c1', {
      workers: { machineDeployments: ['a', 'b', 'c'].map((name) => ({ class: 'worker', name, replicas: 1 })) },
    });
    await world.until(() => ready(3));
    const deferred = { ...worker('c'), metadata: { annotations: { 'topology.cluster.x-k8s.io/defer-upgrade': '' } } };
    await patch({
      topology: { version: 'v1.34.1', workers: { machineDeployments: [worker('a'), worker('b'), deferred] } },
    });
    const seen = new Set<string>();
    await world.until(async () => {
      const versions = (await world.list(MachineDeployments))
        .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
        .map(({ spec }) => spec.template.spec.version);
      const { controlPlaneRef } = (await cluster()).spec;
      const plane = at((await world.find(FakeControlPlanes, controlPlaneRef!.name))!, 'spec', 'version');
      seen.add([plane, ...versions].join(' '));
      return versions[1] === 'v1.34.1' && (await ready(3));
    });
    expect([...seen].filter((line) => line.startsWith('v1.33.0 ') && line.includes('v1.34.1'))).toEqual([]);
    await world.until(async () => (await reconciled())?.reason === 'MachineDeploymentsUpgradeDeferred');
    const [last] = (await world.list(MachineDeployments)).filter(({ metadata }) => metadata.name!.startsWith('c1-c-'));
    expect(last!.spec.template.spec.version).toBe('v1.33.0');
    await patch({ topology: { workers: { machineDeployments: ['a', 'b', 'c'].map(worker) } } });
    await world.until(async () => (await reconciled())?.status === 'True');
    expect((await world.list(Machines)).map(({ spec }) => spec.version)).toEqual(['v1.34.1', 'v1.34.1', 'v1.34.1']);
  });

  it('upgrades through the intermediate versions of its class, calling all hooks', async () => {
    const called: string[] = [];
    const note = <H extends BuiltInHookHandler['hook']>(hook: H): BuiltInHookHandler =>
      ({
        hook,
        name: 'notes',
        call: async (request: { toKubernetesVersion?: string; kubernetesVersion?: string }) => {
          called.push(`${hook} ${request.toKubernetesVersion ?? request.kubernetesVersion ?? ''}`.trim());
          return { status: 'go-on' };
        },
      }) as BuiltInHookHandler;
    world = await createTopologyWorld({
      hooks: [
        note('BeforeClusterCreate'),
        note('AfterControlPlaneInitialized'),
        note('BeforeClusterUpgrade'),
        note('BeforeControlPlaneUpgrade'),
        note('AfterControlPlaneUpgrade'),
        note('BeforeWorkersUpgrade'),
        note('AfterWorkersUpgrade'),
        note('AfterClusterUpgrade'),
      ],
    });
    await createClass(world, 'small', { kubernetesVersions: ['v1.31.0', 'v1.31.4', 'v1.32.1', 'v1.33.2', 'v1.34.0'] });
    await createTopologyCluster(world, 'c1', { version: 'v1.31.0' });
    await world.until(() => ready(2));
    await world.until(() => called.length === 2);
    expect(called.splice(0)).toEqual(['BeforeClusterCreate', 'AfterControlPlaneInitialized']);
    await patch({ topology: { version: 'v1.34.0' } });
    await world.until(async () => called.at(-1)?.startsWith('AfterClusterUpgrade') === true);
    await world.until(async () => (await reconciled())?.status === 'True' && (await ready(2)));
    expect(called).toEqual([
      'BeforeClusterUpgrade v1.34.0',
      'BeforeControlPlaneUpgrade v1.32.1',
      'AfterControlPlaneUpgrade v1.32.1',
      'BeforeControlPlaneUpgrade v1.33.2',
      'AfterControlPlaneUpgrade v1.33.2',
      'BeforeControlPlaneUpgrade v1.34.0',
      'AfterControlPlaneUpgrade v1.34.0',
      'BeforeWorkersUpgrade v1.34.0',
      'AfterWorkersUpgrade v1.34.0',
      'AfterClusterUpgrade v1.34.0',
    ]);
    const { status, metadata } = await cluster();
    expect(status?.controlPlane?.upgradePlan).toBeUndefined();
    expect(Object.keys(metadata.annotations ?? {})).toEqual([]);
    expect((await world.list(Machines)).map(({ spec }) => spec.version)).toEqual(['v1.34.0', 'v1.34.0']);
  });

  it('keeps the last good state when a patch does not apply, and names the patch', async () => {
    world = await createTopologyWorld();
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    const definition = {
      selector: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
        kind: 'FakeMachineTemplate',
        matchResources: { machineDeploymentClass: { names: ['*'] } },
      },
      jsonPatches: [{ op: 'replace', path: '/spec/template/spec/nowhere/x', value: 1 }],
    };
    await world.client.patch(
      ClusterClasses,
      { namespace: world.namespace, name: 'small' },
      'merge',
      { spec: { patches: [{ name: 'broken', definitions: [definition] }] } },
      by,
    );
    await world.until(async () => (await reconciled())?.reason === 'ReconcileFailed');
    expect((await reconciled())?.message).toMatch(
      /patch "broken" cannot be applied to FakeMachineTemplate small: .*nowhere.*\. Nothing was changed: correct .* of ClusterClass .*\/small/,
    );
    expect(await ready(2)).toBe(true);
    expect(await names(FakeMachineTemplates)).toHaveLength(1);
  });

  it('deletes removed workers with their health check and templates', async () => {
    world = await createTopologyWorld();
    await createClass(world);
    const healthCheck = { checks: { nodeStartupTimeoutSeconds: 900 } };
    await createTopologyCluster(world, 'c1', {
      workers: {
        machineDeployments: [
          { class: 'worker', name: 'a', replicas: 1 },
          { class: 'worker', name: 'b', replicas: 1, healthCheck },
        ],
      },
    });
    await world.until(() => ready(2));
    expect(await world.list(MachineHealthChecks)).toHaveLength(1);
    // as Cluster API leaves them
    for (const { metadata } of await world.list(MachineDeployments)) {
      const finalizers = [...(metadata.finalizers ?? []), 'machinedeployment.topology.cluster.x-k8s.io'];
      const key = { namespace: world.namespace, name: metadata.name ?? '' };
      await world.client.patch(MachineDeployments, key, 'merge', { metadata: { finalizers } }, by);
    }
    await patch({ topology: { workers: { machineDeployments: [{ class: 'worker', name: 'a', replicas: 1 }] } } });
    await world.until(async () => (await ready(1)) && (await names(FakeMachineTemplates)).length === 1);
    expect(await world.list(MachineDeployments)).toHaveLength(1);
    expect(await world.list(MachineHealthChecks)).toEqual([]);
    expect(await names(FakeConfigTemplates)).toHaveLength(1);
  });

  it('calls a hook before deletion, and deletes everything', async () => {
    let agreed = false;
    world = await createTopologyWorld({
      hooks: [
        {
          hook: 'BeforeClusterDelete',
          name: 'backup',
          call: async () =>
            agreed ? { status: 'go-on' } : { status: 'wait', retryAfterSeconds: 5, message: 'the backup runs' },
        },
      ],
    });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    await world.client.delete(Clusters, { namespace: world.namespace, name: 'c1' });
    await world.until(async () => (await reconciled())?.reason === 'Deleting');
    await world.pass(60_000);
    expect((await reconciled())?.message).toContain('backup: the backup runs');
    expect(conditionOf(await cluster(), 'Deleting')?.reason).toBe('WaitingForBeforeDeleteHook');
    expect(await world.list(Machines)).toHaveLength(2);
    agreed = true;
    await world.until(async () => (await world.find(Clusters, 'c1')) === undefined);
    expect(await world.list(Machines)).toEqual([]);
    expect(await world.list(FakeControlPlanes)).toEqual([]);
  });

  it('goes on as soon as the add-ons of its stack are done, not when the hook is due again', async () => {
    let applied = false;
    const message = 'add-ons are being applied';
    world = await createTopologyWorld({
      hooks: [
        {
          hook: 'BeforeClusterUpgrade',
          name: 'add-ons',
          call: async () => (applied ? { status: 'go-on' } : { status: 'wait', retryAfterSeconds: 1_000_000, message }),
        },
      ],
    });
    const { client, namespace } = world;
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await world.until(() => ready(2));
    const clusterRef = { apiVersion: 'cluster.x-k8s.io/v1beta1', kind: 'Cluster', name: 'c1', namespace };
    await client.create(
      ClusterAddons,
      {
        apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
        kind: 'ClusterAddon',
        metadata: { name: 'cluster-addon-c1', namespace },
        spec: { clusterRef, hook: 'BeforeClusterUpgrade' },
      },
      by,
    );
    await patch({ topology: { version: 'v1.34.0' } });
    await world.until(async () => (await reconciled())?.message?.includes(message) === true);
    applied = true;
    const done = { spec: { hook: '', clusterStack: 'openstack-next-1-34-v1' } };
    await client.patch(ClusterAddons, { namespace, name: 'cluster-addon-c1' }, 'merge', done, by);
    await world.until(async () => (await reconciled())?.status === 'True' && (await ready(2)));
  });

  it('waits for missing objects and reports them', async () => {
    world = await createTopologyWorld();
    await createTopologyCluster(world, 'c1');
    await world.until(async () => (await reconciled())?.reason === 'ReconcileFailed');
    expect((await reconciled())?.message).toContain('ClusterClass');
    await createClass(world);
    await world.until(() => ready(2));
  });
});
