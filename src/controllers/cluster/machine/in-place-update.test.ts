import { afterEach, expect, test, vi } from 'vitest';
import { type ExtensionServer, startExtensionServer } from '../../../../test/support/extension-server.ts';
import { ExtensionConfigs, type Machine, MachineSets, Machines } from '../../../api/index.ts';
import { memoryLogger } from '../../../runtime/index.ts';
import { conditionOf, isTrue } from '../../shared/index.ts';
import { FakeConfigs, FakeMachines } from '../../testing/provider-kinds.ts';
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

const inProgress = 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress';
const pendingHooks = 'runtime.cluster.x-k8s.io/pending-hooks';
const configName = 'in-place';
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

const machine = async (): Promise<Machine> => (await world.list(Machines))[0]!;

/** Starts one running machine, and an extension that can update it. */
async function start(): Promise<void> {
  server = await startExtensionServer({ hooks: ['UpdateMachine'] });
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
  const labels = { set: 'one', 'cluster.x-k8s.io/cluster-name': 'c1' };
  await world.client.create(
    MachineSets,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineSet',
      metadata: { name: 'one', namespace: world.namespace },
      spec: {
        clusterName: 'c1',
        replicas: 1,
        selector: { matchLabels: { set: 'one' } },
        template: { metadata: { labels }, spec: machineTemplateSpec() },
      },
    },
    by,
  );
  await until(async () => isTrue(await machine(), 'Available'));
  await until(async () => isTrue(await world.client.get(ExtensionConfigs, { name: configName }), 'Discovered'));
}

/** Starts an in-place update, as the owner of a machine does. */
async function begin(): Promise<void> {
  const { metadata, spec } = await machine();
  const annotations = { [inProgress]: '' };
  const patch = { metadata: { annotations } };
  const at = (name: string) => ({ namespace: world.namespace, name });
  await world.client.patch(Machines, at(metadata.name!), 'merge', patch, by);
  await world.client.patch(FakeMachines, at(spec.infrastructureRef.name), 'merge', patch, by);
  await world.client.patch(FakeConfigs, at(spec.bootstrap.configRef!.name), 'merge', patch, by);
  const pending = { metadata: { annotations: { [pendingHooks]: 'UpdateMachine' } } };
  await world.client.patch(Machines, at(metadata.name!), 'merge', pending, by);
}

const marks = async (): Promise<(string | undefined)[]> => {
  const { metadata, spec } = await machine();
  const infrastructure = await world.find(FakeMachines, spec.infrastructureRef.name);
  const config = await world.find(FakeConfigs, spec.bootstrap.configRef!.name);
  return [metadata, infrastructure!.metadata, config!.metadata]
    .map(({ annotations }) => annotations?.[inProgress])
    .concat(metadata.annotations?.[pendingHooks]);
};

test('a machine is updated in place by the extension, which is called until it is done', async () => {
  await start();
  server.answer('UpdateMachine', { status: 'Success', retryAfterSeconds: 10, message: 'step 1 of 2' });
  await begin();
  await until(async () => conditionOf(await machine(), 'Updating')?.message.includes('step 1 of 2') === true);
  expect(conditionOf(await machine(), 'Updating')).toMatchObject({ status: 'True', reason: 'InPlaceUpdating' });
  expect((await machine()).status?.phase).toBe('Updating');
  expect(isTrue(await machine(), 'Ready')).toBe(false);
  const { request } = server.calls[0]!;
  expect(request).toMatchObject({
    kind: 'UpdateMachineRequest',
    desired: {
      machine: { kind: 'Machine', metadata: { namespace: world.namespace }, spec: { clusterName: 'c1' } },
      infrastructureMachine: { kind: 'FakeMachine', spec: { flavor: 'small' } },
      bootstrapConfig: { kind: 'FakeConfig' },
    },
  });
  expect(JSON.stringify(request)).not.toContain('"status"');
  server.answer('UpdateMachine', { status: 'Success' });
  await until(async () => conditionOf(await machine(), 'Updating')?.status === 'False');
  await until(async () => (await marks()).every((mark) => mark === undefined));
  await until(async () => isTrue(await machine(), 'Ready'));
});

test('a failed in-place update is shown on the Machine and retried', async () => {
  await start();
  server.answer('UpdateMachine', { status: 'Failure', message: 'no disk' });
  await begin();
  await until(async () => conditionOf(await machine(), 'Updating')?.reason === 'InPlaceUpdateFailed');
  expect(conditionOf(await machine(), 'Updating')?.message).toContain('update-machine.in-place');
  expect(conditionOf(await machine(), 'Updating')?.message).toContain('no disk');
  server.answer('UpdateMachine', { status: 'Success' });
  await until(async () => (await marks()).every((mark) => mark === undefined));
});
