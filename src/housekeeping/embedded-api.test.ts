import { describe, expect, it } from 'vitest';
import {
  builtinDefinitions,
  builtinSchema,
  ConfigMaps,
  Namespaces,
  protobufRegistry,
  ServiceAccounts,
} from '../api/index.ts';
// Tests may import other rooms: this one runs the controllers against the embedded API server.
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import {
  type KubeObject,
  type Resource,
  systemClock,
  systemRandom,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { createManager, memoryLogger } from '../runtime/index.ts';
import { eventually } from '../runtime/testkit/index.ts';
import { memoryEngine } from '../store/index.ts';
import { housekeepingControllers } from './index.ts';
import { servedBy } from './testing/embedded-world.ts';

const by = { fieldManager: 'test' };
const crds: Resource<UnstructuredObject> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const widgets: Resource<UnstructuredObject> = {
  group: 'test.capstan.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

describe('housekeeping on the embedded API', () => {
  it('creates accounts, publishes the authority, deletes owned custom objects and ends namespaces', async () => {
    const store = await openObjectStore({ engine: memoryEngine() });
    const server = await createApiServer({
      store,
      definitions: builtinDefinitions,
      admissionPlugins: { disable: controllerBackedPlugins },
      metaSchema: builtinSchema,
      protobuf: protobufRegistry,
      access: { mode: 'AlwaysAllow' },
    } as Parameters<typeof createApiServer>[0]);
    const client: Client = server.localClient();
    const { logger, entries } = memoryLogger();
    const manager = createManager({ client, clock: systemClock, random: systemRandom, log: logger });
    for (const definition of housekeepingControllers({ served: servedBy(server), certificateAuthority: 'PEM' }))
      manager.add(definition);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.whenReady();
    const wait = { signal: AbortSignal.timeout(15_000) };

    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, by);
    await eventually(
      client,
      ServiceAccounts,
      { namespace: 'team', name: 'default' },
      (object) => object !== undefined,
      wait,
    );
    const published = await eventually(
      client,
      ConfigMaps,
      { namespace: 'team', name: 'kube-root-ca.crt' },
      (object) => object !== undefined,
      wait,
    );
    expect(published?.data).toEqual({ 'ca.crt': 'PEM' });

    await client.create(
      crds,
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.test.capstan.dev' },
        spec: {
          group: 'test.capstan.dev',
          names: { kind: 'Widget', plural: 'widgets' },
          scope: 'Namespaced',
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          ],
        },
      },
      by,
    );
    await eventually(
      client,
      crds,
      { name: 'widgets.test.capstan.dev' },
      (crd) =>
        ((crd?.status as { conditions?: { type: string; status: string }[] })?.conditions ?? []).some(
          ({ type, status }) => type === 'Established' && status === 'True',
        ),
      wait,
    );
    const widget = (name: string, more: Partial<KubeObject['metadata']> = {}): UnstructuredObject => ({
      apiVersion: 'test.capstan.dev/v1',
      kind: 'Widget',
      metadata: { name, namespace: 'team', ...more },
    });
    const owner = await client.create(widgets, widget('owner'), by);
    const reference = {
      apiVersion: 'test.capstan.dev/v1',
      kind: 'Widget',
      name: 'owner',
      uid: owner.metadata.uid!,
      blockOwnerDeletion: true,
    };
    await client.create(
      widgets,
      widget('child', { ownerReferences: [reference], finalizers: ['capstan.dev/hold'] }),
      by,
    );
    await client.create(
      ConfigMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'leaf', namespace: 'team', ownerReferences: [reference] },
      },
      by,
    );
    const held = await client.delete(
      widgets,
      { namespace: 'team', name: 'owner' },
      { propagationPolicy: 'Foreground' },
    );
    expect(held?.metadata.finalizers).toEqual(['foregroundDeletion']);
    await eventually(client, ConfigMaps, { namespace: 'team', name: 'leaf' }, (object) => object === undefined, wait);
    await eventually(
      client,
      widgets,
      { namespace: 'team', name: 'child' },
      (object) => object?.metadata.deletionTimestamp !== undefined,
      wait,
    );
    expect((await client.get(widgets, { namespace: 'team', name: 'owner' })).metadata.deletionTimestamp).toBeDefined();

    await client.delete(Namespaces, { name: 'team' });
    await eventually(
      client,
      Namespaces,
      { name: 'team' },
      (object) =>
        (object?.status?.conditions ?? []).some(
          ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
        ),
      wait,
    );
    await client.patch(widgets, { namespace: 'team', name: 'child' }, 'merge', { metadata: { finalizers: null } }, by);
    await eventually(client, Namespaces, { name: 'team' }, (object) => object === undefined, wait);
    expect((await client.list(widgets)).items).toEqual([]);
    expect(entries.filter(({ level }) => level === 'error')).toEqual([]);
    stop.abort();
    await running;
    await server.stop();
    await store.close();
  });
});
