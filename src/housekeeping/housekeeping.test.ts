import { afterEach, describe, expect, it } from 'vitest';
import { type ConfigMap, ConfigMaps, type Namespace, Namespaces, Pods, ServiceAccounts } from '../api/index.ts';
import {
  isNotFound,
  type KubeObject,
  ManualClock,
  type OwnerReference,
  type Resource,
  seededRandom,
  statusError,
} from '../machinery/index.ts';
import { type ControllerDefinition, CoreEvents, createManager, memoryLogger } from '../runtime/index.ts';
import { type FaultRule, faultyClient, memoryClient, runUntil, settle } from '../runtime/testkit/index.ts';
import {
  garbageCollector,
  housekeepingControllers,
  namespaceController,
  rootCaPublisher,
  type ServedResources,
  serviceAccountController,
} from './index.ts';

const by = { fieldManager: 'test' };
const widgets: Resource<KubeObject> = {
  group: 'test.capstan.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const zones: Resource<KubeObject> = {
  group: 'test.capstan.dev',
  version: 'v1',
  kind: 'Zone',
  plural: 'zones',
  namespaced: false,
};
const secrets: Resource<KubeObject> = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const everything: Resource<KubeObject>[] = [Namespaces, ConfigMaps, ServiceAccounts, secrets, widgets, zones, Pods];

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface World extends Awaited<ReturnType<typeof world>> {}

async function world(
  controllers: (served: ServedResources) => ControllerDefinition[],
  options: { resources?: Resource<KubeObject>[]; rules?: FaultRule[]; failures?: string[] } = {},
) {
  const clock = new ManualClock();
  const server = memoryClient({ clock, namespaceLifecycle: true });
  const rules = options.rules ?? [];
  const resources = [...(options.resources ?? everything)];
  const callbacks = new Set<() => void>();
  const failures = options.failures ?? [];
  const served: ServedResources = {
    listResources: () => resources,
    onChange(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    failures: () => failures,
  };
  await server.create(Namespaces, namespace('default'), by);
  const { logger, entries } = memoryLogger();
  const manager = createManager({ client: faultyClient(server, rules), clock, random: seededRandom(9), log: logger });
  for (const definition of controllers(served)) manager.add(definition);
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  stops.push(async () => {
    stop.abort();
    await running;
  });
  return {
    clock,
    server,
    rules,
    resources,
    failures,
    manager,
    entries,
    changed: () => {
      for (const callback of callbacks) callback();
    },
    async start() {
      running = manager.run(stop.signal);
      await manager.whenReady();
      await settle(20);
    },
    async exists(resource: Resource<KubeObject>, name: string, inNamespace = 'default'): Promise<boolean> {
      try {
        await server.get(resource, resource.namespaced ? { namespace: inNamespace, name } : { name });
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    },
  };
}

const namespace = (name: string): Namespace => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

function object(
  resource: Resource<KubeObject>,
  name: string,
  owners: OwnerReference[] = [],
  finalizers: string[] = [],
): KubeObject {
  return {
    apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: {
      name,
      ...(resource.namespaced && { namespace: 'default' }),
      ...(owners.length > 0 && { ownerReferences: owners }),
      ...(finalizers.length > 0 && { finalizers }),
    },
  };
}

const ownedBy = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name!,
  uid: owner.metadata.uid!,
  ...more,
});

describe('the garbage collector', () => {
  const setUp = (options: Parameters<typeof world>[1] = {}): Promise<World> =>
    world((served) => [garbageCollector({ served })], options);
  const create = (
    w: World,
    resource: Resource<KubeObject>,
    name: string,
    owners: OwnerReference[] = [],
    finalizers: string[] = [],
  ): Promise<KubeObject> => w.server.create(resource, object(resource, name, owners, finalizers), by);
  const at = (name: string) => ({ namespace: 'default', name });

  it('deletes the dependents of a deleted owner, generation by generation', async () => {
    const w = await setUp();
    await w.start();
    const a = await create(w, widgets, 'a');
    const b = await create(w, ConfigMaps, 'b', [ownedBy(a)]);
    await create(w, secrets, 'c', [ownedBy(b)]);
    await create(w, secrets, 'bystander');
    await settle();
    await w.server.delete(widgets, at('a'), { propagationPolicy: 'Background' });
    await runUntil(w.clock, async () => !(await w.exists(secrets, 'c')));
    expect(await w.exists(ConfigMaps, 'b')).toBe(false);
    expect(await w.exists(secrets, 'bystander')).toBe(true);
  });

  it('finds orphans from before it started by looking up owners it has never seen', async () => {
    const w = await setUp();
    await create(w, secrets, 'orphaned', [
      { apiVersion: 'test.capstan.dev/v1', kind: 'Widget', name: 'gone', uid: 'no-such-uid' },
    ]);
    await create(w, secrets, 'second', [
      { apiVersion: 'test.capstan.dev/v1', kind: 'Widget', name: 'gone', uid: 'no-such-uid' },
    ]);
    const lives = await create(w, widgets, 'lives');
    await create(w, secrets, 'owned', [ownedBy(lives)]);
    w.server.requests.length = 0;
    await w.start();
    await runUntil(w.clock, async () => !(await w.exists(secrets, 'orphaned')) && !(await w.exists(secrets, 'second')));
    expect(await w.exists(secrets, 'owned')).toBe(true);
  });

  it('keeps an object while one of its owners lives, and drops references to dead owners', async () => {
    const w = await setUp();
    await w.start();
    const [a, b] = [await create(w, widgets, 'a'), await create(w, widgets, 'b')];
    await create(w, secrets, 'shared', [ownedBy(a), ownedBy(b)]);
    await settle();
    await w.server.delete(widgets, at('a'));
    await runUntil(
      w.clock,
      async () => (await w.server.get(secrets, at('shared'))).metadata.ownerReferences?.length === 1,
    );
    await w.server.delete(widgets, at('b'));
    await runUntil(w.clock, async () => !(await w.exists(secrets, 'shared')));
  });

  it('tells an owner from one made again under the same name', async () => {
    const w = await setUp();
    const a = await create(w, widgets, 'a');
    await create(w, secrets, 's', [ownedBy(a)]);
    await w.server.delete(widgets, at('a'));
    await create(w, widgets, 'a');
    await w.start();
    await runUntil(w.clock, async () => !(await w.exists(secrets, 's')));
    expect(await w.exists(widgets, 'a')).toBe(true);
  });

  it('lets an owner deleted in the foreground go only after the dependents that block it', async () => {
    const w = await setUp();
    await w.start();
    const a = await create(w, widgets, 'a');
    await create(w, secrets, 'blocking', [ownedBy(a, { blockOwnerDeletion: true })], ['test/hold']);
    await create(w, secrets, 'loose', [ownedBy(a)]);
    await settle();
    await w.server.delete(widgets, at('a'), { propagationPolicy: 'Foreground' });
    await runUntil(w.clock, async () => !(await w.exists(secrets, 'loose')));
    await settle();
    expect((await w.server.get(secrets, at('blocking'))).metadata.deletionTimestamp).toBeDefined();
    expect(await w.exists(widgets, 'a')).toBe(true);
    await w.server.patch(secrets, at('blocking'), 'merge', { metadata: { finalizers: null } }, by);
    await runUntil(w.clock, async () => !(await w.exists(widgets, 'a')));
  });

  it('carries a foreground deletion down the tree', async () => {
    const w = await setUp();
    await w.start();
    const a = await create(w, widgets, 'a');
    const b = await create(w, widgets, 'b', [ownedBy(a, { blockOwnerDeletion: true })]);
    await create(w, secrets, 'c', [ownedBy(b, { blockOwnerDeletion: true })], ['test/hold']);
    await settle();
    await w.server.delete(widgets, at('a'), { propagationPolicy: 'Foreground' });
    await settle(50);
    expect((await w.server.get(widgets, at('b'))).metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(await w.exists(widgets, 'a')).toBe(true);
    await w.server.patch(secrets, at('c'), 'merge', { metadata: { finalizers: null } }, by);
    await runUntil(w.clock, async () => !(await w.exists(widgets, 'a')));
    expect(await w.exists(widgets, 'b')).toBe(false);
  });

  it('does not wait for a dependent that has another living owner', async () => {
    const w = await setUp();
    await w.start();
    const [a, b] = [await create(w, widgets, 'a'), await create(w, widgets, 'b')];
    await create(w, secrets, 'shared', [ownedBy(a, { blockOwnerDeletion: true }), ownedBy(b)]);
    await settle();
    await w.server.delete(widgets, at('a'), { propagationPolicy: 'Foreground' });
    await runUntil(w.clock, async () => !(await w.exists(widgets, 'a')));
    expect((await w.server.get(secrets, at('shared'))).metadata.ownerReferences?.map(({ name }) => name)).toEqual([
      'b',
    ]);
  });

  it('breaks a ring of objects that wait for each other', async () => {
    const w = await setUp();
    await w.start();
    const a = await create(w, widgets, 'a');
    const b = await create(w, widgets, 'b', [ownedBy(a, { blockOwnerDeletion: true })]);
    await w.server.patch(
      widgets,
      at('a'),
      'merge',
      { metadata: { ownerReferences: [ownedBy(b, { blockOwnerDeletion: true })] as never } },
      by,
    );
    await settle();
    await w.server.delete(widgets, at('a'), { propagationPolicy: 'Foreground' });
    await runUntil(w.clock, async () => !(await w.exists(widgets, 'a')) && !(await w.exists(widgets, 'b')));
  });

  it('releases the dependents when asked to orphan them', async () => {
    const w = await setUp();
    await w.start();
    const a = await create(w, widgets, 'a');
    await create(w, secrets, 's', [ownedBy(a)]);
    await settle();
    await w.server.delete(widgets, at('a'), { propagationPolicy: 'Orphan' });
    await runUntil(w.clock, async () => !(await w.exists(widgets, 'a')));
    await settle();
    expect((await w.server.get(secrets, at('s'))).metadata.ownerReferences).toBeUndefined();
  });

  it('deletes objects that refer to an owner in another namespace and says why', async () => {
    const w = await setUp();
    await w.server.create(Namespaces, namespace('other'), by);
    await w.start();
    const a = await create(w, widgets, 'a');
    await w.server.create(
      secrets,
      { ...object(secrets, 's'), metadata: { name: 's', namespace: 'other', ownerReferences: [ownedBy(a)] } },
      by,
    );
    await runUntil(w.clock, async () => !(await w.exists(secrets, 's', 'other')));
    await settle();
    const [event] = (await w.server.list(CoreEvents)).items;
    expect(event).toMatchObject({ reason: 'OwnerRefInvalidNamespace', type: 'Warning' });
  });

  it('never deletes for an owner it cannot look up: unknown kinds and cluster-scoped objects of namespaced owners', async () => {
    const w = await setUp({ resources: everything.filter((resource) => resource !== widgets) });
    await w.start();
    const a = await create(w, widgets, 'a');
    await create(w, secrets, 's', [ownedBy(a)]);
    await create(w, zones, 'z', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }]);
    await settle(50);
    expect([await w.exists(secrets, 's'), await w.exists(zones, 'z')]).toEqual([true, true]);
    await w.server.delete(widgets, at('a'));
    w.resources.push(widgets);
    w.changed();
    await runUntil(w.clock, async () => !(await w.exists(secrets, 's')));
    expect(await w.exists(zones, 'z')).toBe(true);
  });

  it('follows kinds that appear and stops following those that go', async () => {
    const w = await setUp({ resources: everything.filter((resource) => resource !== widgets) });
    await w.start();
    const before = w.server.openWatches();
    w.resources.push(widgets);
    w.changed();
    await settle();
    expect(w.server.openWatches()).toBe(before + 1);
    const a = await create(w, widgets, 'a');
    await create(w, secrets, 's', [ownedBy(a)]);
    await settle();
    w.resources.splice(w.resources.indexOf(widgets), 1);
    w.changed();
    await settle();
    expect(w.server.openWatches()).toBe(before);
    expect(await w.exists(secrets, 's')).toBe(true);
  });

  it('loses nothing when a kind is followed in another version', async () => {
    const w = await setUp();
    await w.start();
    const a = await create(w, widgets, 'a');
    await create(w, secrets, 's', [ownedBy(a)]);
    await settle();
    w.resources[w.resources.indexOf(widgets)] = { ...widgets, version: 'v2' };
    w.changed();
    await settle(50);
    expect([await w.exists(widgets, 'a'), await w.exists(secrets, 's')]).toEqual([true, true]);
    await w.server.delete(widgets, at('a'));
    await runUntil(w.clock, async () => !(await w.exists(secrets, 's')));
  });

  it('recovers from failures at every step and still finishes', async () => {
    for (const verb of ['get', 'delete', 'patch'] as const) {
      for (const when of ['before', 'after'] as const) {
        const w = await setUp({
          rules: [{ verb, when, nth: [1, 3], error: () => statusError.serviceUnavailable('later') }],
        });
        await w.start();
        const [a, b] = [await create(w, widgets, 'a'), await create(w, widgets, 'b')];
        await create(w, secrets, 's', [ownedBy(a, { blockOwnerDeletion: true })]);
        await create(w, secrets, 'shared', [ownedBy(a, { blockOwnerDeletion: true }), ownedBy(b)]);
        await settle();
        await w.server.delete(widgets, at('a'), { propagationPolicy: 'Foreground' });
        await runUntil(w.clock, async () => !(await w.exists(widgets, 'a')));
        expect([await w.exists(secrets, 's'), await w.exists(secrets, 'shared')]).toEqual([false, true]);
      }
    }
  });

  it('writes nothing when nothing happens', async () => {
    const w = await setUp();
    const a = await create(w, widgets, 'a');
    for (let i = 0; i < 20; i++) await create(w, secrets, `s${i}`, [ownedBy(a)]);
    await w.start();
    w.server.requests.length = 0;
    await w.clock.advance(280_000);
    expect(w.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([]);
    await w.server.patch(secrets, at('s1'), 'merge', { data: { x: 'y' } }, by);
    await settle();
    expect(w.server.requests.filter(({ verb }) => verb !== 'watch')).toHaveLength(1);
  });
});

describe('the namespace controller', () => {
  const setUp = (options: Parameters<typeof world>[1] = {}): Promise<World> =>
    world((served) => [namespaceController({ served })], options);
  const inTeam = (resource: Resource<KubeObject>, name: string, finalizers: string[] = []): KubeObject => ({
    ...object(resource, name, [], finalizers),
    metadata: { name, namespace: 'team', ...(finalizers.length > 0 && { finalizers }) },
  });
  const conditions = async (w: World) =>
    Object.fromEntries(
      ((await w.server.get(Namespaces, { name: 'team' })).status?.conditions ?? []).map(
        ({ type, status, reason, message }) => [type, [status, reason, message]],
      ),
    );
  const ok = {
    NamespaceDeletionDiscoveryFailure: ['False', 'ResourcesDiscovered', 'All resources successfully discovered'],
    NamespaceDeletionGroupVersionParsingFailure: [
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    NamespaceDeletionContentFailure: [
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ],
    NamespaceContentRemaining: ['False', 'ContentRemoved', 'All content successfully removed'],
    NamespaceFinalizersRemaining: ['False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
  };

  it('empties a namespace and removes it, and leaves other namespaces alone', async () => {
    const w = await setUp();
    await w.server.create(Namespaces, namespace('team'), by);
    await w.server.create(secrets, object(secrets, 'elsewhere'), by);
    for (const resource of [secrets, widgets]) await w.server.create(resource, inTeam(resource, 'x'), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await runUntil(w.clock, async () => !(await w.exists(Namespaces, 'team')));
    expect([await w.exists(secrets, 'x', 'team'), await w.exists(widgets, 'x', 'team')]).toEqual([false, false]);
    expect(await w.exists(secrets, 'elsewhere')).toBe(true);
  });

  it('reports what holds a namespace up in upstream’s words and continues once it is gone', async () => {
    const w = await setUp();
    await w.server.create(Namespaces, namespace('team'), by);
    await w.server.create(widgets, inTeam(widgets, 'a', ['test/one']), by);
    await w.server.create(widgets, inTeam(widgets, 'b', ['test/one', 'test/two']), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(30);
    expect(await conditions(w)).toEqual({
      ...ok,
      NamespaceContentRemaining: [
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: widgets.test.capstan.dev has 2 resource instances',
      ],
      NamespaceFinalizersRemaining: [
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: test/one in 2 resource instances, test/two in 1 resource instances',
      ],
    });
    const moment = w.clock.now();
    for (const name of ['a', 'b'])
      await w.server.patch(widgets, { namespace: 'team', name }, 'merge', { metadata: { finalizers: null } }, by);
    await settle(50);
    expect(await w.exists(Namespaces, 'team')).toBe(false);
    expect(w.clock.now()).toBe(moment);
  });

  it('deletes pods first and configuration last', async () => {
    const w = await setUp();
    await w.server.create(Namespaces, namespace('team'), by);
    await w.server.create(Pods, inTeam(Pods, 'p', ['test/hold']), by);
    await w.server.create(widgets, inTeam(widgets, 'w', ['test/hold']), by);
    await w.server.create(secrets, inTeam(secrets, 'credentials'), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(30);
    expect((await w.server.get(widgets, { namespace: 'team', name: 'w' })).metadata.deletionTimestamp).toBeUndefined();
    await w.server.patch(Pods, { namespace: 'team', name: 'p' }, 'merge', { metadata: { finalizers: null } }, by);
    await settle(50);
    expect((await w.server.get(widgets, { namespace: 'team', name: 'w' })).metadata.deletionTimestamp).toBeDefined();
    expect(await w.exists(secrets, 'credentials', 'team')).toBe(true);
    await w.server.patch(widgets, { namespace: 'team', name: 'w' }, 'merge', { metadata: { finalizers: null } }, by);
    await settle(50);
    expect(await w.exists(Namespaces, 'team')).toBe(false);
  });

  it('reports what it could not delete and keeps trying', async () => {
    const w = await setUp({
      rules: [
        {
          verb: 'deleteCollection',
          resource: 'Widget',
          times: 3,
          error: () => statusError.internal('webhook is down'),
        },
      ],
    });
    await w.server.create(Namespaces, namespace('team'), by);
    await w.server.create(widgets, inTeam(widgets, 'a'), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(30);
    expect((await conditions(w))['NamespaceDeletionContentFailure']).toEqual([
      'True',
      'ContentDeletionFailed',
      'Failed to delete all resource types, 1 remaining: Internal error occurred: webhook is down',
    ]);
    await runUntil(w.clock, async () => !(await w.exists(Namespaces, 'team')));
  });

  it('deletes objects one by one where a collection cannot be deleted at once', async () => {
    const w = await setUp({ rules: [{ verb: 'deleteCollection', error: () => statusError.methodNotAllowed() }] });
    await w.server.create(Namespaces, namespace('team'), by);
    for (const name of ['a', 'b']) await w.server.create(widgets, inTeam(widgets, name), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await runUntil(w.clock, async () => !(await w.exists(Namespaces, 'team')));
  });

  it('keeps a namespace while some kinds cannot be listed', async () => {
    const w = await setUp({ failures: ['metrics.k8s.io/v1beta1'] });
    await w.server.create(Namespaces, namespace('team'), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(30);
    expect((await conditions(w))['NamespaceDeletionDiscoveryFailure']).toEqual([
      'True',
      'DiscoveryFailed',
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1',
    ]);
    w.failures.length = 0;
    await runUntil(w.clock, async () => !(await w.exists(Namespaces, 'team')));
  });

  it('leaves the namespace finalizers of others alone', async () => {
    const w = await setUp();
    w.server.seed(Namespaces, {
      ...namespace('team'),
      spec: { finalizers: ['kubernetes', 'example.com/mine'] },
      status: { phase: 'Active' },
    });
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(50);
    expect((await w.server.get(Namespaces, { name: 'team' })).spec?.finalizers).toEqual(['example.com/mine']);
    expect(await conditions(w)).toEqual(ok);
  });

  it('writes an unchanged condition only once while it waits', async () => {
    const w = await setUp();
    await w.server.create(Namespaces, namespace('team'), by);
    await w.server.create(widgets, inTeam(widgets, 'a', ['test/one']), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(30);
    w.server.requests.length = 0;
    await w.clock.advance(60_000);
    expect(w.server.writes()).toEqual([]);
  });
});

describe('the service-account controller', () => {
  const setUp = (options: Parameters<typeof world>[1] = {}): Promise<World> =>
    world(() => [serviceAccountController()], options);
  const has = (w: World, name: string): Promise<boolean> => w.exists(ServiceAccounts, 'default', name);

  it('creates the default account in every namespace, and again when it is deleted', async () => {
    const w = await setUp();
    await w.start();
    expect(await has(w, 'default')).toBe(true);
    await w.server.create(Namespaces, namespace('team'), by);
    await settle();
    expect(await has(w, 'team')).toBe(true);
    await w.server.delete(ServiceAccounts, { namespace: 'team', name: 'default' });
    await settle();
    expect(await has(w, 'team')).toBe(true);
  });

  it('does not recreate the account in a namespace that is being deleted', async () => {
    const w = await setUp();
    await w.server.create(Namespaces, namespace('team'), by);
    await w.start();
    await w.server.delete(Namespaces, { name: 'team' });
    await w.server.delete(ServiceAccounts, { namespace: 'team', name: 'default' });
    await settle();
    expect(await has(w, 'team')).toBe(false);
    expect(w.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('the root CA publisher', () => {
  const setUp = (options: Parameters<typeof world>[1] = {}): Promise<World> =>
    world(() => [rootCaPublisher({ certificateAuthority: 'PEM' })], options);
  const key = { namespace: 'default', name: 'kube-root-ca.crt' };

  it('publishes the authority in every namespace and repairs changed copies', async () => {
    const w = await setUp();
    await w.start();
    const made = await w.server.get(ConfigMaps, key);
    expect(made.data).toEqual({ 'ca.crt': 'PEM' });
    expect(made.metadata.annotations?.['kubernetes.io/description']).toBeTruthy();
    await w.server.update(ConfigMaps, { ...made, data: { 'ca.crt': 'evil', more: 'x' } } as ConfigMap, by);
    await settle();
    expect((await w.server.get(ConfigMaps, key)).data).toEqual({ 'ca.crt': 'PEM' });
    await w.server.delete(ConfigMaps, key);
    await settle();
    expect((await w.server.get(ConfigMaps, key)).data).toEqual({ 'ca.crt': 'PEM' });
  });
});

describe('all controllers together', () => {
  it('write nothing in steady state and share one watch per kind', async () => {
    const w = await world((served) => housekeepingControllers({ served, certificateAuthority: 'PEM' }));
    await w.start();
    await settle(50);
    const watched = w.server.requests.filter(({ verb }) => verb === 'watch').map(({ resource }) => resource);
    // Bootstrap tokens and the ConfigMap they sign have watches of their own, limited to a few objects.
    expect(w.server.openWatches()).toBe(new Set(watched).size + 2);
    w.server.requests.length = 0;
    await w.clock.advance(280_000);
    await settle();
    expect(w.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([]);
    expect(w.entries.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });

  it('take down a namespace whose content is owned, held and published', async () => {
    const w = await world((served) => housekeepingControllers({ served, certificateAuthority: 'PEM' }));
    await w.server.create(Namespaces, namespace('team'), by);
    await w.start();
    const inTeam = { namespace: 'team' };
    const a = await w.server.create(
      widgets,
      { ...object(widgets, 'a'), metadata: { name: 'a', ...inTeam, finalizers: ['test/hold'] } },
      by,
    );
    await w.server.create(
      secrets,
      {
        ...object(secrets, 's'),
        metadata: { name: 's', ...inTeam, ownerReferences: [ownedBy(a, { blockOwnerDeletion: true })] },
      },
      by,
    );
    await settle();
    await w.server.delete(Namespaces, { name: 'team' });
    await settle(50);
    expect(await w.exists(secrets, 's', 'team')).toBe(true);
    await w.server.patch(widgets, { ...inTeam, name: 'a' }, 'merge', { metadata: { finalizers: null } }, by);
    await runUntil(w.clock, async () => !(await w.exists(Namespaces, 'team')));
    for (const resource of everything.filter(({ namespaced }) => namespaced)) {
      expect((await w.server.list(resource, inTeam)).items).toEqual([]);
    }
    expect(w.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
