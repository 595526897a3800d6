import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ExtensionServer, startExtensionServer } from '../../../../test/support/extension-server.ts';
import {
  Events,
  ExtensionConfigs,
  type Machine,
  MachineDeployments,
  MachineSets,
  Machines,
} from '../../../api/index.ts';
import type { JsonObject } from '../../../machinery/index.ts';
import { memoryLogger } from '../../../runtime/index.ts';
import { isTrue } from '../../shared/index.ts';
import { FakeConfigs, FakeMachines, FakeMachineTemplates } from '../../testing/provider-kinds.ts';
import {
  by,
  createCluster,
  createTemplates,
  createWorld,
  machineTemplateSpec,
  type World,
} from '../../testing/world.ts';
// the topology controllers discover the extension server
import { setupRuntimeExtensions } from '../../topology/runtime/index.ts';

const configName = 'in-place-sets';
let world: World;
let server: ExtensionServer;
let close: () => Promise<void>;

afterEach(async () => {
  await world.client.delete(ExtensionConfigs, { name: configName });
  await world.stop();
  await close();
  await server.stop();
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const holds = async (): Promise<boolean> => {
    if (await condition()) return true;
    await world.pass(1000);
    return false;
  };
  await vi.waitUntil(holds, { timeout: 60_000, interval: 1 });
}

const merge = (patch: JsonObject): JsonObject => ({
  patchType: 'JSONMergePatch',
  patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
});

/** Starts a deployment with running machines, and an extension for in-place updates. */
async function start(limits: { maxSurge: number; maxUnavailable: number }): Promise<Set<string>> {
  server = await startExtensionServer({ hooks: ['CanUpdateMachineSet', 'UpdateMachine'] });
  const { logger } = memoryLogger();
  world = await createWorld({
    hookCaller: (manager, { client, clock }) => {
      const made = setupRuntimeExtensions(manager, { client, clock, log: logger });
      close = made.close;
      return made.hooks;
    },
  });
  await world.client.create(
    ExtensionConfigs,
    {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: { name: configName },
      spec: { clientConfig: { url: server.url, caBundle: server.caBundle } },
    },
    by,
  );
  await createCluster(world);
  await createTemplates(world);
  await world.client.create(
    MachineDeployments,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name: 'workers', namespace: world.namespace },
      spec: {
        clusterName: 'c1',
        replicas: 3,
        selector: { matchLabels: { pool: 'a' } },
        rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: limits } },
        template: { metadata: { labels: { pool: 'a' } }, spec: machineTemplateSpec() },
      },
    },
    by,
  );
  await until(async () => (await world.list(Machines)).filter((machine) => isTrue(machine, 'Available')).length === 3);
  await until(async () => isTrue(await world.client.get(ExtensionConfigs, { name: configName }), 'Discovered'));
  return new Set((await world.list(Machines)).map(({ metadata }) => metadata.uid ?? ''));
}

const edit = (spec: JsonObject): Promise<unknown> =>
  world.client.patch(
    MachineDeployments,
    { namespace: world.namespace, name: 'workers' },
    'merge',
    { spec: { template: { spec } } },
    by,
  );

/** Creates a template with another flavor. */
async function createLargeTemplate(): Promise<JsonObject> {
  await world.client.create(
    FakeMachineTemplates,
    {
      apiVersion: `${FakeMachineTemplates.group}/${FakeMachineTemplates.version}`,
      kind: FakeMachineTemplates.kind,
      metadata: { name: 'large', namespace: world.namespace },
      spec: { template: { spec: { flavor: 'large' } } },
    },
    by,
  );
  return { infrastructureRef: { name: 'large' } };
}

const isDone = async (version: string, flavor: string): Promise<boolean> => {
  const machines = await world.list(Machines);
  const parts = await Promise.all(machines.map(({ spec }) => world.find(FakeMachines, spec.infrastructureRef.name)));
  return (
    machines.length === 3 &&
    machines.every((machine) => machine.spec.version === version && isTrue(machine, 'Available')) &&
    parts.every((part) => (part?.['spec'] as JsonObject | undefined)?.['flavor'] === flavor) &&
    (await world.list(MachineSets)).length === 1
  );
};

/** Returns the maximum of unavailable and of existing machines, sampled until the condition holds. */
async function watched(condition: () => Promise<boolean>): Promise<{ unavailable: number; most: number }> {
  let [unavailable, most] = [0, 0];
  await until(async () => {
    const machines = await world.list(Machines);
    most = Math.max(most, machines.length);
    unavailable = Math.max(unavailable, 3 - machines.filter((machine: Machine) => isTrue(machine, 'Available')).length);
    return await condition();
  });
  return { unavailable, most };
}

const can = (...changes: [string, JsonObject][]): JsonObject => ({
  status: 'Success',
  ...Object.fromEntries(changes.map(([name, spec]) => [`${name}Patch`, merge({ spec: { template: { spec } } })])),
});

describe('in-place updates of a machine deployment', () => {
  test('update machines one after the other when an extension supports the change', async () => {
    const before = await start({ maxSurge: 0, maxUnavailable: 1 });
    server.answer(
      'CanUpdateMachineSet',
      can(['machineSet', { version: 'v1.33.1' }], ['infrastructureMachineTemplate', { flavor: 'large' }]),
    );
    let asked = 0;
    server.answer('UpdateMachine', () => ({ status: 'Success', retryAfterSeconds: asked++ % 2 === 0 ? 5 : 0 }));
    await edit({ version: 'v1.33.1', ...(await createLargeTemplate()) });
    const { unavailable, most } = await watched(() => isDone('v1.33.1', 'large'));
    const machines = await world.list(Machines);
    expect(new Set(machines.map(({ metadata }) => metadata.uid))).toEqual(before);
    expect({ unavailable, most }).toEqual({ unavailable: 1, most: 3 });
    const { request } = server.calls.find(({ hook }) => hook === 'CanUpdateMachineSet')!;
    expect(request).toMatchObject({
      kind: 'CanUpdateMachineSetRequest',
      current: {
        machineSet: { kind: 'MachineSet', spec: { template: { spec: { clusterName: 'c1' } } } },
        infrastructureMachineTemplate: { spec: { template: { spec: { flavor: 'small' } } } },
      },
      desired: {
        machineSet: { spec: { template: { spec: { version: 'v1.33.1' } } } },
        infrastructureMachineTemplate: { spec: { template: { spec: { flavor: 'large' } } } },
      },
    });
    expect(JSON.stringify(request)).not.toMatch(/"status"|managedFields/);
    expect(server.calls.filter(({ hook }) => hook === 'CanUpdateMachineSet')).toHaveLength(1);
    await until(async () => {
      const all = await Promise.all([world.list(Machines), world.list(FakeMachines), world.list(FakeConfigs)]);
      const marks = all.flat().map(({ metadata }) => metadata.annotations ?? {});
      return !/in-place|pending-hooks/.test(JSON.stringify(marks));
    });
    const [set] = await world.list(MachineSets);
    expect(set?.spec.replicas).toBe(3);
  });

  test('create a new machine first when none may be unavailable', async () => {
    const before = await start({ maxSurge: 1, maxUnavailable: 0 });
    server.answer('CanUpdateMachineSet', can(['machineSet', { version: 'v1.33.1' }]));
    await edit({ version: 'v1.33.1' });
    const { unavailable, most } = await watched(() => isDone('v1.33.1', 'small'));
    const kept = (await world.list(Machines)).filter(({ metadata }) => before.has(metadata.uid ?? ''));
    expect(kept).toHaveLength(2);
    expect({ unavailable, most }).toEqual({ unavailable: 0, most: 4 });
  });

  test('are replaced by a rollout when the extension cannot change everything, and an event says so', async () => {
    const before = await start({ maxSurge: 1, maxUnavailable: 0 });
    server.answer('CanUpdateMachineSet', can(['machineSet', { version: 'v1.33.1' }]));
    await edit({ version: 'v1.33.1', ...(await createLargeTemplate()) });
    await until(() => isDone('v1.33.1', 'large'));
    expect((await world.list(Machines)).some(({ metadata }) => before.has(metadata.uid ?? ''))).toBe(false);
    expect(server.calls.some(({ hook }) => hook === 'UpdateMachine')).toBe(false);
    const notes = (await world.list(Events)).map(({ note, reason }) => `${reason} ${note}`).join('\n');
    expect(notes).toMatch(/InPlaceUpdate .*cannot change all that differs in FakeMachineTemplate/);
  });

  test('wait while the control plane is older', async () => {
    await start({ maxSurge: 0, maxUnavailable: 1 });
    server.answer('CanUpdateMachineSet', can(['machineSet', { version: 'v1.34.0' }]));
    await edit({ version: 'v1.34.0' });
    await until(() => server.calls.some(({ hook }) => hook === 'CanUpdateMachineSet'));
    await world.pass(60_000);
    expect((await world.list(Machines)).map(({ spec }) => spec.version)).toEqual(['v1.33.0', 'v1.33.0', 'v1.33.0']);
    expect(server.calls.some(({ hook }) => hook === 'UpdateMachine')).toBe(false);
    const scaling = (await world.list(MachineSets)).flatMap(({ status }) => status?.conditions ?? []);
    expect(scaling.map(({ message }) => message).join('\n')).toMatch(/version skew policy/);
  });

  test('survive a crash at any moment', async () => {
    const before = await start({ maxSurge: 0, maxUnavailable: 1 });
    server.answer('CanUpdateMachineSet', can(['machineSet', { version: 'v1.33.1' }]));
    server.answer('UpdateMachine', { status: 'Success' });
    await edit({ version: 'v1.33.1' });
    for (let crash = 0; crash < 8; crash++) {
      await world.pass(300);
      await world.restart();
    }
    await until(() => isDone('v1.33.1', 'small'));
    expect(new Set((await world.list(Machines)).map(({ metadata }) => metadata.uid))).toEqual(before);
  });
});
