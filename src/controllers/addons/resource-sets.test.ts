import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterResourceSet,
  ClusterResourceSetBindings,
  ClusterResourceSets,
  Clusters,
  type ConfigMap,
  ConfigMaps,
  CustomResourceDefinitions,
  Namespaces,
  type Secret,
  Secrets,
} from '../../api/index.ts';
import { ignoreNotFound, type JsonObject } from '../../machinery/index.ts';
import { countingClient } from '../../runtime/testkit/index.ts';
import { conditionOf, legacyConditionOf, resourceSetSecretType } from '../shared/index.ts';
import { by, createCluster, createWorld, type World } from '../testing/world.ts';
import { setupAddonControllers } from './index.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function workloadSecret(name: string, data: Record<string, string>, namespace = 'kube-system'): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    // as `kubectl create --dry-run=client -o yaml` prints it
    metadata: { name, namespace, creationTimestamp: null },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  });
}

const configMapText = (name: string, data: JsonObject, namespace = 'kube-system'): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data });

describe('ClusterResourceSets', () => {
  let world: World;
  let patches = 0;

  beforeAll(async () => {
    world = await createWorld({
      realWorkload: true,
      extend: (manager, { clock, random, workloads }) => {
        const counted = {
          ...workloads,
          client: (cluster: Parameters<typeof workloads.client>[0]) => counting(workloads.client(cluster)),
        };
        setupAddonControllers(manager, { clock, random, workloads: counted });
      },
    });
    await world.workload
      .create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } }, by)
      .catch(() => {});
  });
  afterAll(() => world.stop());

  const counters = new WeakMap<object, ReturnType<World['workload']['get']> | unknown>();
  function counting(client: World['workload']): World['workload'] {
    const known = counters.get(client) as World['workload'] | undefined;
    if (known) return known;
    const made = countingClient(client, () => {
      patches++;
    });
    counters.set(client, made);
    return made;
  }

  const source = async (name: string, values: Record<string, string>, type: string = resourceSetSecretType) => {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: world.namespace },
      type,
      data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
    };
    return await world.client.create(Secrets, secret, by);
  };
  const configMap = async (name: string, data: Record<string, string>): Promise<ConfigMap> =>
    await world.client.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: world.namespace }, data },
      by,
    );
  const set = async (
    name: string,
    resources: ClusterResourceSet['spec']['resources'],
    strategy: 'ApplyOnce' | 'Reconcile' = 'Reconcile',
  ) =>
    await world.client.create(
      ClusterResourceSets,
      {
        apiVersion: 'addons.cluster.x-k8s.io/v1beta2',
        kind: 'ClusterResourceSet',
        metadata: { name, namespace: world.namespace },
        spec: { strategy, clusterSelector: { matchLabels: { wants: name } }, resources },
      },
      by,
    );
  const cluster = async (name: string, wants: string): Promise<void> => {
    await createCluster(world, name);
    await label(name, wants);
  };
  const label = (name: string, wants: string) =>
    world.client.patch(
      Clusters,
      { namespace: world.namespace, name },
      'merge',
      { metadata: { labels: { wants } } },
      by,
    );
  const inWorkload = (name: string) =>
    world.workload.get(Secrets, { namespace: 'kube-system', name }).catch(ignoreNotFound);
  const mapInWorkload = (name: string) =>
    world.workload.get(ConfigMaps, { namespace: 'kube-system', name }).catch(ignoreNotFound);
  const applied = async (name: string) => conditionOf(await world.find(ClusterResourceSets, name), 'ResourcesApplied');
  const untilApplied = (name: string): Promise<void> =>
    world.until(async () => (await applied(name))?.status === 'True' && !(await applied(name))?.message);
  const edit = (secret: string, key: string, value: string) =>
    world.client.patch(
      Secrets,
      { namespace: world.namespace, name: secret },
      'merge',
      { data: { [key]: base64(value) } },
      by,
    );

  it('apply objects to clusters, repair them, and carry rotated credentials', async () => {
    await source('clouds', { 'clouds-yaml-secret': workloadSecret('clouds-yaml', { 'clouds.yaml': 'old', ca: 'x' }) });
    await set('clouds', [{ kind: 'Secret', name: 'clouds' }]);
    await world.until(
      async () => (await applied('clouds'))?.message === 'No Cluster has the labels of spec.clusterSelector',
    );
    await cluster('one', 'clouds');
    await untilApplied('clouds');
    expect((await inWorkload('clouds-yaml'))?.data).toEqual({ 'clouds.yaml': base64('old'), ca: base64('x') });

    const found = (await world.find(ClusterResourceSets, 'clouds'))!;
    expect(found.metadata.finalizers).toEqual(['addons.cluster.x-k8s.io']);
    expect(legacyConditionOf(found, 'ResourcesApplied')?.status).toBe('True');
    const owner = expect.objectContaining({ kind: 'ClusterResourceSet', name: 'clouds', uid: found.metadata.uid });
    expect((await world.find(Secrets, 'clouds'))?.metadata.ownerReferences).toEqual([owner]);
    const binding = (await world.find(ClusterResourceSetBindings, 'one'))!;
    expect(binding.metadata.ownerReferences).toEqual([owner]);
    expect(binding.spec).toEqual({
      clusterName: 'one',
      bindings: [
        {
          clusterResourceSetName: 'clouds',
          resources: [
            {
              kind: 'Secret',
              name: 'clouds',
              applied: true,
              hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
              lastAppliedTime: expect.any(String),
            },
          ],
        },
      ],
    });

    // idle: nothing is written
    await world.pass(60_000);
    const [writes, sent] = [world.writes(), patches];
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
    expect(patches).toBe(sent);

    // drift: an object is changed and another deleted
    const key = { namespace: 'kube-system', name: 'clouds-yaml' };
    await world.workload.patch(
      Secrets,
      key,
      'merge',
      { data: { 'clouds.yaml': base64('broken'), own: base64('kept') } },
      by,
    );
    await world.until(async () => (await inWorkload('clouds-yaml'))?.data?.['clouds.yaml'] === base64('old'), 5_000);
    expect((await inWorkload('clouds-yaml'))?.data?.['own']).toBe(base64('kept'));
    await world.workload.delete(Secrets, key);
    await world.until(async () => (await inWorkload('clouds-yaml')) !== undefined, 5_000);

    // rotation: keys removed from the source are removed from the cluster
    await edit('clouds', 'clouds-yaml-secret', workloadSecret('clouds-yaml', { 'clouds.yaml': 'new' }));
    await world.until(async () => (await inWorkload('clouds-yaml'))?.data?.['clouds.yaml'] === base64('new'), 2_000);
    expect((await inWorkload('clouds-yaml'))?.data?.['ca']).toBeUndefined();
    await world.until(
      async () =>
        (await world.find(ClusterResourceSetBindings, 'one'))?.spec.bindings?.[0]?.resources?.[0]?.hash !==
        binding.spec.bindings?.[0]?.resources?.[0]?.hash,
    );
  });

  it('apply only once with the strategy ApplyOnce', async () => {
    await configMap('once', { 'a.yaml': configMapText('once', { a: '1' }) });
    await world.workload.create(
      ConfigMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'there', namespace: 'kube-system' },
        data: { mine: '1' },
      },
      by,
    );
    await configMap('there', { 'a.yaml': configMapText('there', { mine: '2' }) });
    await set(
      'once',
      [
        { kind: 'ConfigMap', name: 'once' },
        { kind: 'ConfigMap', name: 'there' },
      ],
      'ApplyOnce',
    );
    await cluster('once', 'once');
    await untilApplied('once');
    expect((await mapInWorkload('once'))?.data).toEqual({ a: '1' });
    expect((await mapInWorkload('there'))?.data).toEqual({ mine: '1' });
    await world.workload.delete(ConfigMaps, { namespace: 'kube-system', name: 'once' });
    await world.client.patch(
      ConfigMaps,
      { namespace: world.namespace, name: 'once' },
      'merge',
      { data: { 'a.yaml': configMapText('once', { a: '2' }) } },
      by,
    );
    await world.pass(3_600_000);
    expect(await mapInWorkload('once')).toBeUndefined();
  });

  it('apply several documents in a working order, custom kinds included', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g', namespace: 'gadgets' } };
    const text = [
      gadget,
      { apiVersion: 'v1', kind: 'List', items: [JSON.parse(configMapText('inside', {}, 'gadgets'))] },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'nowhere' } },
      definition,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gadgets' } },
    ]
      .map((document) => JSON.stringify(document))
      .join('\n---\n');
    await configMap('gadgets', { all: text });
    await set('gadgets', [{ kind: 'ConfigMap', name: 'gadgets' }]);
    await cluster('gadgets', 'gadgets');
    await untilApplied('gadgets');
    const found = { group: 'example.com', version: 'v1', kind: 'Gadget', plural: 'gadgets', namespaced: true };
    expect(await world.workload.get(found, { namespace: 'gadgets', name: 'g' })).toMatchObject({ kind: 'Gadget' });
    expect(await world.workload.get(ConfigMaps, { namespace: 'gadgets', name: 'inside' })).toBeDefined();
    expect(await world.workload.get(ConfigMaps, { namespace: 'default', name: 'nowhere' })).toBeDefined();
    await world.workload.delete(found, { namespace: 'gadgets', name: 'g' });
    await world.until(
      async () =>
        (await world.workload.get(found, { namespace: 'gadgets', name: 'g' }).catch(ignoreNotFound)) !== undefined,
      30_000,
    );
    await world.workload.delete(CustomResourceDefinitions, { name: 'gadgets.example.com' }).catch(ignoreNotFound);
  });

  it('report missing resources and wrong types, and apply the rest', async () => {
    await source('good', { a: configMapText('good', { a: '1' }) });
    await source('opaque', { a: configMapText('opaque', { a: '1' }) }, 'Opaque');
    await set('mixed', [
      { kind: 'Secret', name: 'opaque' },
      { kind: 'Secret', name: 'absent' },
      { kind: 'Secret', name: 'good' },
    ]);
    await cluster('mixed', 'mixed');
    await world.until(async () => (await mapInWorkload('good')) !== undefined);
    expect(await applied('mixed')).toMatchObject({ status: 'False', reason: 'WrongSecretType' });
    expect((await applied('mixed'))?.message).toBe(
      [
        `* Secret ${world.namespace}/opaque is not of type ${resourceSetSecretType}; delete it and create it with that type`,
        `* Secret ${world.namespace}/absent does not exist; create it, or take it off spec.resources`,
      ].join('\n'),
    );
    expect(legacyConditionOf(await world.find(ClusterResourceSets, 'mixed'), 'ResourcesApplied')).toMatchObject({
      status: 'False',
      reason: 'WrongSecretType',
    });
    expect((await world.find(Secrets, 'opaque'))?.metadata.ownerReferences).toBeUndefined();
    expect(await mapInWorkload('opaque')).toBeUndefined();
    // recovery once the sources are fixed
    await source('absent', { a: configMapText('absent', { a: '1' }) });
    await world.client.delete(Secrets, { namespace: world.namespace, name: 'opaque' });
    await source('opaque', { a: configMapText('opaque', { a: '1' }) });
    await untilApplied('mixed');
    expect(await mapInWorkload('opaque')).toBeDefined();
    expect(await mapInWorkload('absent')).toBeDefined();
  });

  it.each([
    ['no YAML', 'a: [hunter2', /key "bad": line 1 is not valid YAML/],
    ['no object', '- hunter2', /key "bad": the document at line 1 is no object/],
    ['no kind', 'apiVersion: v1\nhunter2: x', /key "bad": the document at line 1 has no kind/],
    ['nothing', '# hunter2', /it holds no objects/],
    [
      'an object the cluster refuses',
      '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "X_hunter2_", "namespace": "kube-system"}}',
      /the cluster refuses it: Invalid at metadata.name/,
    ],
    [
      'a kind that is not served',
      '{"apiVersion": "nobody.dev/v1", "kind": "Thing", "metadata": {"name": "x"}}',
      /Thing x: the cluster serves no kind Thing in nobody.dev\/v1/,
    ],
  ])('report %s without revealing Secret content', async (what, content, expected) => {
    const name = what.replaceAll(' ', '-').toLowerCase();
    await source(name, { bad: content });
    await set(name, [{ kind: 'Secret', name }]);
    await cluster(name, name);
    await world.until(async () => expected.test((await applied(name))?.message ?? ''));
    expect(await applied(name)).toMatchObject({ status: 'False', reason: 'NotApplied' });
    expect((await applied(name))?.message.replace('ConfigMap kube-system/X_hunter2_', '')).not.toContain('hunter2');
    await world.client.delete(ClusterResourceSets, { namespace: world.namespace, name });
  });

  it('wait for a cluster that does not answer, and report it', async () => {
    world.setWorkloadDown(true);
    await source('late', { a: configMapText('late', { a: '1' }) });
    await set('late', [{ kind: 'Secret', name: 'late' }]);
    await cluster('late', 'late');
    await world.until(async () => /Cluster late: .*connection/.test((await applied('late'))?.message ?? ''));
    world.setWorkloadDown(false);
    await untilApplied('late');
    expect(await mapInWorkload('late')).toBeDefined();
  });

  it('stop repairing an object at full rate when somebody keeps changing it', async () => {
    await configMap('fought', { a: configMapText('fought', { owner: 'set' }) });
    await set('fought', [{ kind: 'ConfigMap', name: 'fought' }]);
    await cluster('fought', 'fought');
    await untilApplied('fought');
    const before = patches;
    for (let round = 0; round < 200; round++) {
      const live = await mapInWorkload('fought');
      if (live?.data?.['owner'] === 'set') {
        const key = { namespace: 'kube-system', name: 'fought' };
        await world.workload.patch(ConfigMaps, key, 'merge', { data: { owner: 'other' } }, by);
      }
      await world.pass(1_000);
    }
    const repairs = patches - before;
    expect(repairs).toBeGreaterThan(3);
    expect(repairs).toBeLessThan(15);
    await world.until(async () => (await mapInWorkload('fought'))?.data?.['owner'] === 'set');
  });

  it('write nothing after a restart, and repair changes made meanwhile', async () => {
    await configMap('kept', { a: configMapText('kept', { a: '1' }) });
    await set('kept', [{ kind: 'ConfigMap', name: 'kept' }]);
    await cluster('kept', 'kept');
    await untilApplied('kept');
    await world.pass(60_000);
    const condition = await applied('kept');
    const sent = patches;
    await world.restart();
    await world.pass(120_000);
    expect(patches).toBe(sent);
    expect(await applied('kept')).toEqual(condition);
    await world.restart(async () => {
      await world.workload.delete(ConfigMaps, { namespace: 'kube-system', name: 'kept' });
    });
    await world.until(async () => (await mapInWorkload('kept')) !== undefined);
  });

  it('do nothing for a paused cluster or a paused set', async () => {
    await configMap('paused', { a: configMapText('paused', { a: '1' }) });
    await createCluster(world, 'paused');
    const key = { namespace: world.namespace, name: 'paused' };
    await world.client.patch(
      Clusters,
      key,
      'merge',
      { spec: { paused: true }, metadata: { labels: { wants: 'paused' } } },
      by,
    );
    await set('paused', [{ kind: 'ConfigMap', name: 'paused' }]);
    await world.until(async () => (await applied('paused'))?.message === 'Cluster paused: the Cluster is paused');
    const annotation = 'cluster.x-k8s.io/paused';
    await world.client.patch(
      ClusterResourceSets,
      key,
      'merge',
      { metadata: { annotations: { [annotation]: '' } } },
      by,
    );
    await world.client.patch(Clusters, key, 'merge', { spec: { paused: false } }, by);
    await world.pass(60_000);
    expect(await mapInWorkload('paused')).toBeUndefined();
    expect(conditionOf(await world.find(ClusterResourceSets, 'paused'), 'Paused')?.status).toBe('True');
    await world.client.patch(
      ClusterResourceSets,
      key,
      'merge',
      { metadata: { annotations: { [annotation]: null } } },
      by,
    );
    await untilApplied('paused');
    expect(await mapInWorkload('paused')).toBeDefined();
  });

  it('leave applied objects in clusters when they are deleted, and delete their binding', async () => {
    await configMap('first', { a: configMapText('first', { a: '1' }) });
    await configMap('second', { a: configMapText('second', { a: '1' }) });
    for (const name of ['first', 'second']) {
      await world.client.create(
        ClusterResourceSets,
        {
          apiVersion: 'addons.cluster.x-k8s.io/v1beta2',
          kind: 'ClusterResourceSet',
          metadata: { name, namespace: world.namespace },
          spec: { clusterSelector: { matchLabels: { wants: 'both' } }, resources: [{ kind: 'ConfigMap', name }] },
        },
        by,
      );
    }
    await cluster('both', 'both');
    await untilApplied('first');
    await untilApplied('second');
    const bound = async () =>
      (await world.find(ClusterResourceSetBindings, 'both'))?.spec.bindings?.map((b) => b.clusterResourceSetName);
    await world.until(async () => (await bound())?.length === 2);
    await world.client.delete(ClusterResourceSets, { namespace: world.namespace, name: 'first' });
    await world.until(async () => (await world.find(ClusterResourceSets, 'first')) === undefined);
    expect(await bound()).toEqual(['second']);
    expect((await world.find(ClusterResourceSetBindings, 'both'))?.metadata.ownerReferences).toHaveLength(1);
    expect(await mapInWorkload('first')).toBeDefined();
    await world.client.delete(ClusterResourceSets, { namespace: world.namespace, name: 'second' });
    await world.until(async () => (await world.find(ClusterResourceSetBindings, 'both')) === undefined);
    expect(await mapInWorkload('second')).toBeDefined();
    expect(await world.find(Clusters, 'both')).toBeDefined();
  });

  it('forget a cluster that is deleted', async () => {
    await configMap('going', { a: configMapText('going', { a: '1' }) });
    await set('going', [{ kind: 'ConfigMap', name: 'going' }]);
    await cluster('going', 'going');
    await untilApplied('going');
    await world.client.delete(Clusters, { namespace: world.namespace, name: 'going' });
    await world.until(async () => (await world.find(ClusterResourceSetBindings, 'going')) === undefined);
    await world.until(async () => /No Cluster/.test((await applied('going'))?.message ?? ''));
  });
});
