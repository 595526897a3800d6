import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type ExtensionServer,
  extensionHooks,
  startExtensionServer,
} from '../../../../test/support/extension-server.ts';
import {
  type Cluster,
  ClusterClasses,
  Clusters,
  ExtensionConfigs,
  MachineDeployments,
  Machines,
} from '../../../api/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/index.ts';
import { memoryLogger } from '../../../runtime/index.ts';
import { conditionOf, isTrue } from '../../shared/index.ts';
import { FakeMachineTemplates } from '../../testing/provider-kinds.ts';
import { by, createWorld, type World } from '../../testing/world.ts';
import { setupTopologyControllers } from '../setup.ts';
import { createClass, createTopologyCluster } from '../testing/class-world.ts';
import { setupRuntimeExtensions } from './setup.ts';

let world: World;
let server: ExtensionServer;
const closes: (() => Promise<void>)[] = [];
let extensions = 0;

afterEach(async () => {
  await world.client.delete(ExtensionConfigs, { name: `moments-${extensions}` });
  await world.stop();
  for (const close of closes.splice(0)) await close();
  await server.stop();
});

/** Starts topology controllers with an extension server over HTTPS. */
async function start(options: Parameters<typeof startExtensionServer>[0] = {}): Promise<void> {
  server = await startExtensionServer(options);
  const { logger } = memoryLogger();
  world = await createWorld({
    topologies: true,
    hookCaller: (manager, { client, clock }) => {
      const { hooks, close } = setupRuntimeExtensions(manager, { client, clock, log: logger });
      closes.push(close);
      return hooks;
    },
    extend: (manager, { client, clock, externals, hooks }) =>
      setupTopologyControllers(manager, { client, clock, externals, ...(hooks && { hooks }) }),
  });
  const name = `moments-${++extensions}`;
  await world.client.create(
    ExtensionConfigs,
    {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: { name },
      spec: {
        clientConfig: { url: server.url, caBundle: server.caBundle },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } },
      },
    },
    by,
  );
  await until(async () => isTrue(await world.client.get(ExtensionConfigs, { name }), 'Discovered'));
}

/** Advances simulated time for machines while real time passes for sockets. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const holds = async (): Promise<boolean> => {
    if (await condition()) return true;
    await world.pass(1000);
    return false;
  };
  try {
    await vi.waitUntil(holds, { timeout: 15_000, interval: 1 });
  } catch (cause) {
    throw new Error(`the condition never held; the topology says: ${await topologyMessage()}`, { cause });
  }
}

const cluster = async (): Promise<Cluster> => (await world.find(Clusters, 'c1'))!;
const topologyMessage = async (): Promise<string> => {
  const found = await world.find(Clusters, 'c1');
  return (found && conditionOf(found, 'TopologyReconciled')?.message) ?? '';
};
const isBuilt = async (version: string): Promise<boolean> => {
  const found = await cluster();
  const [deployment] = await world.list(MachineDeployments);
  return (
    isTrue(found, 'TopologyReconciled') &&
    isTrue(found, 'Available') &&
    deployment?.spec.template.spec.version === version &&
    deployment.status?.upToDateReplicas === 2
  );
};
const pending = async (): Promise<string | undefined> =>
  (await cluster()).metadata.annotations?.['runtime.cluster.x-k8s.io/pending-hooks'];
const upgrade = (version: string) =>
  world.client.patch(
    Clusters,
    { namespace: world.namespace, name: 'c1' },
    'merge',
    { spec: { topology: { version } } },
    by,
  );
/** called hooks without repetition, in order */
const called = (): string[] => [...new Set(server.calls.map(({ hook }) => hook))];
const requestOf = (hook: string): JsonObject => server.calls.find((call) => call.hook === hook)!.request;

const base64 = (value: JsonValue): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** value of the class variable in a request */
const diskIn = (request: JsonObject): JsonValue =>
  (request['variables'] as JsonObject[]).find(({ name }) => name === 'disk')?.['value'] ?? null;

describe('the hooks of a cluster', () => {
  test('are called at their moments from creation to deletion', async () => {
    await start();
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await until(() => isBuilt('v1.33.0'));
    await until(async () => (await pending()) === undefined);
    expect(called()).toEqual(['BeforeClusterCreate', 'AfterControlPlaneInitialized']);
    await upgrade('v1.34.0');
    await until(() => isBuilt('v1.34.0'));
    await until(async () => (await pending()) === undefined);
    expect(called().slice(2)).toEqual([
      'BeforeClusterUpgrade',
      'BeforeControlPlaneUpgrade',
      'AfterControlPlaneUpgrade',
      'BeforeWorkersUpgrade',
      // it cannot update anything in place
      'CanUpdateMachineSet',
      'AfterWorkersUpgrade',
      'AfterClusterUpgrade',
    ]);
    expect(requestOf('BeforeClusterUpgrade')).toMatchObject({
      kind: 'BeforeClusterUpgradeRequest',
      fromKubernetesVersion: 'v1.33.0',
      toKubernetesVersion: 'v1.34.0',
      cluster: { apiVersion: 'cluster.x-k8s.io/v1beta2', metadata: { name: 'c1' } },
      controlPlaneUpgrades: [{ version: 'v1.34.0' }],
    });
    expect(requestOf('AfterControlPlaneUpgrade')).toMatchObject({ kubernetesVersion: 'v1.34.0' });
    expect(requestOf('AfterClusterUpgrade')).toMatchObject({ kubernetesVersion: 'v1.34.0' });
    expect(isJsonObject(requestOf('BeforeClusterUpgrade')['cluster'])).toBe(true);
    await world.client.delete(Clusters, { namespace: world.namespace, name: 'c1' });
    await until(async () => (await world.find(Clusters, 'c1')) === undefined);
    expect(called().at(-1)).toBe('BeforeClusterDelete');
  });

  test.each<[string, (() => Promise<void>) | undefined]>([
    ['BeforeClusterCreate', undefined],
    ['BeforeClusterUpgrade', () => upgrade('v1.34.0').then(() => {})],
    ['AfterControlPlaneUpgrade', () => upgrade('v1.34.0').then(() => {})],
    [
      'BeforeClusterDelete',
      () => world.client.delete(Clusters, { namespace: world.namespace, name: 'c1' }).then(() => {}),
    ],
  ])('%s blocks later steps, and is shown on the Cluster', async (hook, act) => {
    await start({ hooks: [hook] });
    server.answer(hook, { status: 'Success', retryAfterSeconds: 5, message: 'the auditor sleeps' });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    if (act) {
      await until(() => isBuilt('v1.33.0'));
      await act();
    }
    await until(async () => (await topologyMessage()).includes('the auditor sleeps'));
    expect(await topologyMessage()).toContain(hook);
    await world.pass(60_000);
    const [deployment] = await world.list(MachineDeployments);
    // the upgrade is blocked: no worker was created, or none has the new version
    expect(deployment?.spec.template.spec.version ?? 'none').toBe(act ? 'v1.33.0' : 'none');
    expect(await cluster()).toBeDefined();
    server.answer(hook, { status: 'Success' });
    if (hook === 'BeforeClusterDelete') await until(async () => (await world.find(Clusters, 'c1')) === undefined);
    else await until(() => isBuilt(act ? 'v1.34.0' : 'v1.33.0'));
  });

  test.each(['BeforeClusterCreate', 'BeforeClusterDelete'])(
    '%s that fails is said once, tried on, and asked soon after it works again',
    async (hook) => {
      await start({ hooks: [hook] });
      const key = { namespace: world.namespace, name: 'c1' };
      const isDeletion = hook === 'BeforeClusterDelete';
      server.answer(hook, { status: 'Failure', message: 'the auditor is ill' });
      await createClass(world);
      await createTopologyCluster(world, 'c1');
      if (isDeletion) {
        await until(() => isBuilt('v1.33.0'));
        await world.client.delete(Clusters, key);
      }
      await until(async () => (await topologyMessage()).includes('the auditor is ill'));
      const asked = server.calls.length;
      const said = await cluster();
      await until(() => server.calls.length > asked + 5);
      expect((await cluster()).metadata.resourceVersion).toBe(said.metadata.resourceVersion);
      expect(conditionOf(said, 'TopologyReconciled')).toMatchObject({
        reason: 'ReconcileFailed',
        message: expect.stringMatching(new RegExp(`^hook ${hook}: handler .* failed: the auditor is ill$`)),
      });
      // an hour of failures does not make the pauses longer than a minute
      await world.pass(3_600_000);
      server.answer(hook, { status: 'Success' });
      const before = server.calls.length;
      await world.pass(61_000);
      await vi.waitUntil(() => server.calls.length > before);
      if (isDeletion) await until(async () => (await world.find(Clusters, 'c1')) === undefined);
      else await until(() => isBuilt('v1.33.0'));
    },
  );

  test('an extension that missed that the control plane answers is called later', async () => {
    const hook = 'AfterControlPlaneInitialized';
    await start({ hooks: [hook] });
    server.answer(hook, { status: 'Failure', message: 'not now' });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await until(() => isBuilt('v1.33.0'));
    await until(() => called().includes(hook));
    await world.pass(120_000);
    expect(await pending()).toBe(hook);
    server.answer(hook, { status: 'Success' });
    await until(async () => (await pending()) === undefined);
  });

  test('AfterWorkersUpgrade is called when the last in-place update has finished', async () => {
    await start({ hooks: ['CanUpdateMachineSet', 'UpdateMachine', 'AfterWorkersUpgrade'] });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await until(() => isBuilt('v1.33.0'));
    const machines = async (): Promise<string[]> =>
      (await world.list(Machines)).map(({ metadata, spec }) => `${metadata.name} ${spec.version}`).sort();
    server.answer('CanUpdateMachineSet', {
      status: 'Success',
      machineSetPatch: {
        patchType: 'JSONMergePatch',
        patch: base64({ spec: { template: { spec: { version: 'v1.34.0' } } } }),
      },
    });
    const rollout = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } };
    const path = '/spec/topology/workers/machineDeployments/0/rollout';
    const key = { namespace: world.namespace, name: 'c1' };
    await world.client.patch(Clusters, key, 'json', [{ op: 'add', path, value: rollout }], by);
    const asked = new Set<string>();
    server.answer('UpdateMachine', ({ request }) => {
      asked.add(JSON.stringify(request['desired']));
      return { status: 'Success', ...(asked.size > 1 && { retryAfterSeconds: 5 }) };
    });
    await upgrade('v1.34.0');
    await until(async () => (await machines()).every((machine) => machine.endsWith(' v1.34.0')));
    await until(() => asked.size === 2);
    await world.pass(120_000);
    expect(called()).not.toContain('AfterWorkersUpgrade');
    expect(await topologyMessage()).toContain('upgrading to version v1.34.0');
    server.answer('UpdateMachine', { status: 'Success' });
    await until(() => called().includes('AfterWorkersUpgrade'));
    expect(await machines()).toHaveLength(2);
    for (const machine of await machines()) expect(machine).toMatch(/ v1\.34\.0$/);
  });

  test('patches, variables and upgrade plans of extensions are used for the cluster', async () => {
    const hooks = ['DiscoverVariables', 'GeneratePatches', 'ValidateTopology', 'GenerateUpgradePlan'];
    await start({ hooks });
    const handler = (hook: string): string => `${extensionHooks[hook]}.moments-${extensions}`;
    server.answer('DiscoverVariables', {
      status: 'Success',
      variables: [{ name: 'disk', required: true, schema: { openAPIV3Schema: { type: 'integer' } } }],
    });
    server.answer('GeneratePatches', ({ request }) => ({
      status: 'Success',
      items: (request['items'] as JsonObject[])
        .filter(({ object }) => isJsonObject(object) && object['kind'] === 'FakeMachineTemplate')
        .map(({ uid }) => ({
          uid: uid!,
          patchType: 'JSONPatch',
          patch: base64([{ op: 'add', path: '/spec/template/spec/disk', value: diskIn(request) }]),
        })),
    }));
    await createClass(world, 'small', {
      patches: [
        {
          name: 'extension',
          external: {
            generatePatchesExtension: handler('GeneratePatches'),
            validateTopologyExtension: handler('ValidateTopology'),
            discoverVariablesExtension: handler('DiscoverVariables'),
            settings: { of: 'class' },
          },
        },
      ],
      upgrade: { external: { generateUpgradePlanExtension: handler('GenerateUpgradePlan') } },
    });
    await createTopologyCluster(world, 'c1', { variables: [{ name: 'disk', value: 40 }] });
    await until(() => isBuilt('v1.33.0'));
    const [deployment] = await world.list(MachineDeployments);
    const { name } = deployment!.spec.template.spec.infrastructureRef;
    expect((await world.find(FakeMachineTemplates, name))?.['spec']).toMatchObject({
      template: { spec: { disk: 40 } },
    });
    expect(requestOf('GeneratePatches')).toMatchObject({ settings: { of: 'class' } });
    const items = requestOf('ValidateTopology')['items'] as JsonObject[];
    expect(items.map(({ holderReference }) => (holderReference as JsonObject)['fieldPath'])).toContain(
      'spec.template.spec.infrastructureRef',
    );
    const plan = ['v1.33.5', 'v1.34.0'];
    server.answer('GenerateUpgradePlan', { status: 'Success', controlPlaneUpgrades: [{ version: 'v1.33.0' }] });
    await upgrade('v1.34.0');
    await until(async () => (await topologyMessage()).includes('which is not newer'));
    server.answer('GenerateUpgradePlan', ({ request }) => ({
      status: 'Success',
      controlPlaneUpgrades: plan
        .filter((version) => version > String(request['fromControlPlaneKubernetesVersion']))
        .map((version) => ({ version })),
    }));
    await until(() => isBuilt('v1.34.0'));
    expect(requestOf('GenerateUpgradePlan')).toMatchObject({
      fromControlPlaneKubernetesVersion: 'v1.33.0',
      toKubernetesVersion: 'v1.34.0',
    });
    server.answer('ValidateTopology', { status: 'Failure', message: 'disks of 80 are too large' });
    await world.client.patch(
      Clusters,
      { namespace: world.namespace, name: 'c1' },
      'merge',
      { spec: { topology: { variables: [{ name: 'disk', value: 80 }] } } },
      by,
    );
    await until(async () => (await topologyMessage()).includes('disks of 80 are too large'));
    // nothing is applied partially; the last valid state stays
    expect((await world.list(MachineDeployments))[0]?.spec.template.spec.infrastructureRef.name).toBe(name);
  });

  test('variables of an extension are discovered as soon as it can be asked, and again when it changes', async () => {
    const hooks = ['DiscoverVariables', 'GeneratePatches'];
    await start({ hooks });
    const handler = (hook: string): string => `${extensionHooks[hook]}.moments-${extensions}`;
    const disk = { name: 'disk', required: false, schema: { openAPIV3Schema: { type: 'integer' } } };
    const classMessage = async (): Promise<string> => {
      const found = (await world.find(ClusterClasses, 'small'))!;
      return conditionOf(found, 'VariablesReady')?.message ?? '';
    };
    await server.stop();
    await createClass(world, 'small', {
      patches: [
        {
          name: 'extension',
          external: {
            generatePatchesExtension: handler('GeneratePatches'),
            discoverVariablesExtension: handler('DiscoverVariables'),
          },
        },
      ],
    });
    await until(async () => (await classMessage()).includes('ECONNREFUSED'));
    server.answer('DiscoverVariables', { status: 'Success', variables: [{ name: 'disk', required: true }] });
    await server.start();
    await until(async () => (await classMessage()).includes('variables[0].schema must be an object'));
    server.answer('DiscoverVariables', { status: 'Success', variables: [disk, disk] });
    await until(async () => (await classMessage()).includes('defined more than once'));
    server.answer('DiscoverVariables', { status: 'Success', variables: [disk] });
    const discovered = async (): Promise<string[]> =>
      ((await world.find(ClusterClasses, 'small'))?.status?.variables ?? []).map(({ name }) => name);
    await until(async () => (await discovered()).includes('disk'));
    server.answer('DiscoverVariables', { status: 'Success', variables: [disk, { ...disk, name: 'pool' }] });
    await until(async () => (await discovered()).includes('pool'));
  });

  test('a server that is down or answers nonsense blocks later steps, and is reported', async () => {
    await start({ hooks: ['BeforeClusterUpgrade'] });
    await createClass(world);
    await createTopologyCluster(world, 'c1');
    await until(() => isBuilt('v1.33.0'));
    server.answer('BeforeClusterUpgrade', { status: 200, text: '<html>' });
    await upgrade('v1.34.0');
    await until(async () => (await topologyMessage()).includes('the answer is not JSON'));
    await server.stop();
    await until(async () => (await topologyMessage()).includes('ECONNREFUSED'));
    expect(await isBuilt('v1.34.0')).toBe(false);
    server.answer('BeforeClusterUpgrade', { status: 'Success' });
    await server.start();
    await until(() => isBuilt('v1.34.0'));
  });
});
