import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ExtensionServer, startExtensionServer } from '../../../../test/support/extension-server.ts';
import { ExtensionConfigs, KubeadmConfigs, type Machine } from '../../../api/index.ts';
import type { JsonObject } from '../../../machinery/index.ts';
import { memoryLogger } from '../../../runtime/index.ts';
import { conditionOf, isTrue } from '../../shared/index.ts';
import { by } from '../../testing/world.ts';
// the topology controllers discover the extension server
import { setupRuntimeExtensions } from '../../topology/runtime/index.ts';
import { createKubeadmCluster, createKubeadmWorld, type KubeadmWorld } from './testing/kubeadm-world.ts';

const configName = 'in-place-control-plane';
let world: KubeadmWorld;
let server: ExtensionServer;
let close: () => Promise<void>;

afterEach(async () => {
  await world.client.delete(ExtensionConfigs, { name: configName });
  await world.stop();
  await close();
  await server.stop();
  expect(world.etcd.violations).toEqual([]);
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const holds = async (): Promise<boolean> => {
    if (await condition()) return true;
    await world.pass(1000);
    return false;
  };
  await vi.waitUntil(holds, { timeout: 60_000, interval: 1 });
}

/** Starts a control plane of three machines with maxSurge 0, and an extension for in-place updates. */
async function start(): Promise<Set<string>> {
  server = await startExtensionServer({ hooks: ['CanUpdateMachine', 'UpdateMachine'] });
  const { logger } = memoryLogger();
  world = await createKubeadmWorld({
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
  await createKubeadmCluster(world, {
    replicas: 3,
    rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } } },
  });
  await until(world.settled(3));
  await until(async () => isTrue(await world.client.get(ExtensionConfigs, { name: configName }), 'Discovered'));
  return new Set((await world.machines()).map(({ metadata }) => metadata.uid ?? ''));
}

const patchOf = (patch: JsonObject): JsonObject => ({
  patchType: 'JSONMergePatch',
  patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
});
const files = [{ path: '/etc/motd', content: 'hello' }];
const hasFiles = async ({ metadata }: Machine): Promise<boolean> =>
  (await world.find(KubeadmConfigs, metadata.name ?? ''))?.spec.files?.[0]?.path === '/etc/motd';
const everyMachine = async (check: (machine: Machine) => boolean | Promise<boolean>): Promise<boolean> =>
  (await Promise.all((await world.machines()).map(check))).every(Boolean);

describe('in-place updates of control plane machines', () => {
  test('update one machine at a time when an extension supports the change', async () => {
    const before = await start();
    server.answer('CanUpdateMachine', { status: 'Success', bootstrapConfigPatch: patchOf({ spec: { files } }) });
    let most = 0;
    let asked = 0;
    server.answer('UpdateMachine', () => ({ status: 'Success', retryAfterSeconds: asked++ % 2 === 0 ? 5 : 0 }));
    await world.patchControlPlane({ spec: { kubeadmConfigSpec: { files } } });
    await until(async () => {
      const updating = (await world.machines()).filter((machine) => isTrue(machine, 'Updating'));
      most = Math.max(most, updating.length);
      return await everyMachine(hasFiles);
    });
    await until(world.settled(3));
    expect(most).toBe(1);
    expect(new Set((await world.machines()).map(({ metadata }) => metadata.uid))).toEqual(before);
    const questions = server.calls.filter(({ hook }) => hook === 'CanUpdateMachine');
    expect(questions).toHaveLength(3);
    expect(questions[0]?.request).toMatchObject({
      kind: 'CanUpdateMachineRequest',
      current: { machine: { kind: 'Machine' }, infrastructureMachine: { kind: 'FakeMachine' } },
      desired: { bootstrapConfig: { kind: 'KubeadmConfig', spec: { files } } },
    });
    await until(() => everyMachine(({ metadata }) => !JSON.stringify(metadata.annotations).match(/in-place|pending/)));
  });

  test('are replaced by a rollout when the extension cannot change everything', async () => {
    const before = await start();
    await world.patchControlPlane({ spec: { kubeadmConfigSpec: { files } } });
    await until(() => everyMachine(hasFiles));
    await until(world.settled(3));
    expect((await world.machines()).some(({ metadata }) => before.has(metadata.uid ?? ''))).toBe(false);
    expect(server.calls.some(({ hook }) => hook === 'UpdateMachine')).toBe(false);
  });

  test('wait while the extension answers invalid patches', async () => {
    const before = await start();
    server.answer('CanUpdateMachine', { status: 'Success', bootstrapConfigPatch: { patchType: 'x', patch: 'e30=' } });
    await world.patchControlPlane({ spec: { kubeadmConfigSpec: { files } } });
    await until(() => server.calls.length > 1);
    expect(new Set((await world.machines()).map(({ metadata }) => metadata.uid))).toEqual(before);
    expect(await everyMachine((machine) => conditionOf(machine, 'Updating')?.status === 'False')).toBe(true);
    server.answer('CanUpdateMachine', { status: 'Success', bootstrapConfigPatch: patchOf({ spec: { files } }) });
    await until(() => everyMachine(hasFiles));
    await until(world.settled(3));
  });
});
