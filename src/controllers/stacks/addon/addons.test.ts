import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterAddon,
  ClusterAddons,
  ClusterStackReleases,
  Clusters,
  type ConfigMap,
  ConfigMaps,
  CustomResourceDefinitions,
  classNameOf,
  Namespaces,
  parseStackId,
  releaseNameOf,
  unsafeClassNameAnnotation,
} from '../../../api/index.ts';
import { ArtifactError } from '../../../artifacts/index.ts';
import { ignoreNotFound, type JsonObject, must } from '../../../machinery/index.ts';
import type { BuiltInHookHandler, HookResult } from '../../shared/index.ts';
import { by, createCluster, createWorld, type World } from '../../testing/world.ts';
import { conditionOf } from '../conditions.ts';
import { setupStackControllers } from '../setup.ts';
import type { ReleaseSource } from '../source/types.ts';
import { releaseFiles, type TestRelease } from '../testing/release-files.ts';
import { skipGateAnnotation, stageTimeoutAnnotation } from './names.ts';

const family = 'openstack-with-dashes-1-33';
const configMap = (name: string, data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;
const config = (hooks: string): string => `apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1\naddonStages:\n${hooks}`;

/** Releases published by the tests, by id. */
const published = new Map<string, ReturnType<typeof releaseFiles>>();
const publish = (version: string, release: Partial<TestRelease>, minor = family): void => {
  const id = `${minor}-${version}`;
  published.set(id, releaseFiles({ id, kubernetes: 'v1.33.6', ...release }));
};
const source: ReleaseSource = {
  name: 'the test',
  pollMs: undefined,
  isPinned: true,
  chart: async ({ name, repository }) => {
    const hint = 'check the address and port, and whether the server runs';
    throw new ArtifactError('unreachable', `chart ${name} of ${repository}: nobody.example refuses connections`, {
      hint,
    });
  },
  tags: async () => [...published.keys()],
  files: async (id) => published.get(classNameOf(id)),
};

describe('ClusterAddons', () => {
  let world: World;
  let handlers: BuiltInHookHandler[];

  beforeAll(async () => {
    world = await createWorld({
      realWorkload: true,
      extend: (manager, { client, clock, random, workloads, externals }) => {
        handlers = setupStackControllers(manager, { client, clock, random, workloads, externals, sources: [source] });
      },
    });
    await world.workload
      .create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } }, by)
      .catch(() => {});
  });
  afterAll(() => world.stop());

  const at = (name: string) => ({ namespace: world.namespace, name });
  const release = async (className: string): Promise<void> => {
    const name = releaseNameOf(must(parseStackId(className), 'an id'));
    const object = {
      apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
      kind: 'ClusterStackRelease',
      metadata: at(name),
      spec: {},
    };
    await world.client.create(ClusterStackReleases, object, by);
  };
  const useClass = (cluster: string, name: string, version = 'v1.33.6', annotations: JsonObject = {}) =>
    world.client.patch(
      Clusters,
      at(cluster),
      'merge',
      {
        metadata: { annotations: { [unsafeClassNameAnnotation]: '', ...annotations } },
        spec: { topology: { classRef: { name }, version } },
      },
      by,
    );
  const clusterOf = async (name: string, className: string, annotations: JsonObject = {}): Promise<void> => {
    await release(className);
    await createCluster(world, name);
    await useClass(name, className, 'v1.33.6', annotations);
  };
  const addon = (cluster: string): Promise<ClusterAddon | undefined> =>
    world.find(ClusterAddons, `cluster-addon-${cluster}`);
  const untilReady = (cluster: string, className: string): Promise<void> =>
    world.until(async () => {
      const found = await addon(cluster);
      return found?.status?.ready === true && found.spec.clusterStack === className && !found.spec.hook;
    });
  const untilSaid = (cluster: string, type: string, text: string): Promise<void> =>
    world.until(async () => conditionOf(await addon(cluster), type)?.message?.includes(text) === true);
  const inWorkload = (name: string): Promise<ConfigMap | undefined> =>
    world.workload.get(ConfigMaps, { namespace: 'kube-system', name }).catch(ignoreNotFound);

  it('are created only for Clusters of stacks, apply all stages and repair them', async () => {
    publish('v1', {
      stages: {
        'cni/templates/x.yaml': configMap(
          'cni',
          '{name: "{{ .Values.name }}", host: "{{ .Capabilities.KubeVersion }}"}',
        ),
        'cni/overwrite.yaml': 'values: |\n  name: {{ .Cluster.metadata.name }}-{{ .Cluster.spec.topology.class }}\n',
        'ccm/templates/x.yaml': configMap('ccm', '{infra: "{{ .Values.infra }}"}'),
        'ccm/overwrite.yaml': 'infra: {{ .InfraCluster.kind }} {{ .ControlPlane.kind }}\n',
      },
    });
    await createCluster(world, 'plain');
    await clusterOf('one', `${family}-v1`);
    await untilReady('one', `${family}-v1`);
    expect(await addon('plain')).toBeUndefined();
    const found = must(await addon('one'), 'the ClusterAddon');
    expect(found.metadata.ownerReferences).toEqual([expect.objectContaining({ kind: 'Cluster', name: 'one' })]);
    expect(found.spec).toMatchObject({ version: 'v1', clusterRef: { kind: 'Cluster', name: 'one' } });
    expect(found.status?.resources?.map(({ kind, name, status }) => `${kind} ${name} ${status}`)).toEqual([
      'ConfigMap cni synced',
      'ConfigMap ccm synced',
    ]);
    expect((await inWorkload('cni'))?.data).toEqual({ name: `one-${family}-v1`, host: 'v1.33.6' });
    expect((await inWorkload('ccm'))?.data).toEqual({ infra: 'FakeCluster FakeControlPlane' });
    expect((await inWorkload('ccm'))?.metadata.labels).toEqual({ 'clusterstack.x-k8s.io/instance': 'owned' });

    await world.workload.delete(ConfigMaps, { namespace: 'kube-system', name: 'cni' });
    await world.workload.patch(
      ConfigMaps,
      { namespace: 'kube-system', name: 'ccm' },
      'merge',
      { data: { infra: 'x' } },
      by,
    );
    await world.until(
      async () => (await inWorkload('cni')) !== undefined && (await inWorkload('ccm'))?.data?.['infra'] !== 'x',
    );
    const writes = world.writes();
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
  });

  it('upgrade with the class, and delete what the new release does not contain', async () => {
    publish('v2', {
      stages: { 'cni/templates/x.yaml': configMap('cni', '{name: second}') },
    });
    await release(`${family}-v2`);
    await useClass('one', `${family}-v2`);
    await untilReady('one', `${family}-v2`);
    expect((await inWorkload('cni'))?.data).toMatchObject({ name: 'second' });
    expect(await inWorkload('ccm')).toBeUndefined();
    expect((await addon('one'))?.metadata.annotations?.['ClusterAddonStage']).toBe('upgraded');
    // and back
    await useClass('one', `${family}-v1`);
    await untilReady('one', `${family}-v1`);
    expect(await inWorkload('ccm')).toBeDefined();
  });

  it('hold a Kubernetes upgrade until their stages are done, or not at all', async () => {
    const next = 'openstack-with-dashes-1-34-v1';
    published.set(
      next,
      releaseFiles({
        id: next,
        kubernetes: 'v1.34.4',
        stages: { 'cni/templates/x.yaml': configMap('cni', '{name: third}') },
      }),
    );
    await release(next);
    await useClass('one', next, 'v1.34.4');
    await untilSaid('one', 'HookServerReady', 'waits until the upgrade');
    expect((await inWorkload('cni'))?.data).not.toMatchObject({ name: 'third' });
    const ask = async (annotations: Record<string, string> = {}): Promise<HookResult> => {
      const cluster = must(await world.find(Clusters, 'one'), 'the Cluster');
      const handler = must(
        handlers.find(({ hook }) => hook === 'BeforeClusterUpgrade'),
        'a handler',
      ) as Extract<BuiltInHookHandler, { hook: 'BeforeClusterUpgrade' }>;
      const asked = { ...cluster, metadata: { ...cluster.metadata, annotations } };
      const request = { cluster: asked, fromKubernetesVersion: 'v1.33.6', toKubernetesVersion: 'v1.34.4' };
      expect(handler.concerns?.(request)).toBe(true);
      return await handler.call(request, new AbortController().signal);
    };
    expect(await ask()).toMatchObject({ status: 'wait', retryAfterSeconds: 10 });
    expect(await ask({ [skipGateAnnotation]: '' })).toEqual({ status: 'go-on' });
    await untilReady('one', next);
    expect(await ask()).toEqual({ status: 'go-on' });
    expect((await inWorkload('cni'))?.data).toMatchObject({ name: 'third' });
  });

  it('wait for conditions of a stage, record progress, and report a timeout', async () => {
    const objects = '[{key: gate, apiVersion: v1, kind: ConfigMap, name: gate, namespace: kube-system}]';
    publish('v5', {
      stages: { 'a/templates/x.yaml': configMap('a', '{}'), 'b/templates/x.yaml': configMap('b', '{}') },
      addonConfig: config(
        `  AfterControlPlaneInitialized:\n    - {name: a, action: apply, waitForPostCondition: {objects: ${objects}, conditions: "gate.data.open == 'yes'"}}\n    - {name: b, action: apply}\n`,
      ),
    });
    await clusterOf('two', `${family}-v5`, { [stageTimeoutAnnotation]: '1m' });
    await untilSaid('two', 'EvaluatedCEL', 'stage a waits: ConfigMap kube-system/gate does not exist');
    expect((await addon('two'))?.status?.stages).toEqual([
      { name: 'a', action: 'apply', phase: 'waitingForPostCondition' },
      { name: 'b', action: 'apply', phase: 'Pending' },
    ]);
    expect(await inWorkload('b')).toBeUndefined();
    await world.restart();
    await world.pass(90_000);
    await untilSaid('two', 'Ready', 'longer than the 60 s it may take');
    expect(conditionOf(await addon('two'), 'Ready')?.severity).toBe('Error');
    const gate = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'gate', namespace: 'kube-system' } };
    await world.workload.create(ConfigMaps, { ...gate, data: { open: 'yes' } }, by);
    await untilReady('two', `${family}-v5`);
    expect(await inWorkload('b')).toBeDefined();
    expect((await addon('two'))?.status?.stages).toEqual([]);
  });

  it('report a missing stage chart, a non-boolean expression, a failing template and a missing chart', async () => {
    const only = (stage: string): string =>
      config(`  AfterControlPlaneInitialized:\n    - {name: ${stage}, action: apply}\n`);
    publish('v6', { stages: { 'a/templates/x.yaml': configMap('a6', '{}') }, addonConfig: only('missing') });
    await clusterOf('three', `${family}-v6`);
    await untilSaid('three', 'HelmChartFound', 'names the stage missing for AfterControlPlaneInitialized');
    expect(conditionOf(await addon('three'), 'Ready')?.reason).toBe('HelmChartMissing');

    publish('v7', {
      stages: { 'a/templates/x.yaml': configMap('a7', '{}') },
      addonConfig: config(
        `  AfterControlPlaneInitialized:\n    - {name: a, action: apply, waitForPreCondition: {objects: [], conditions: "1 + 1"}}\n`,
      ),
    });
    await clusterOf('four', `${family}-v7`);
    await untilSaid('four', 'EvaluatedCEL', 'must evaluate to');
    expect(await inWorkload('a7')).toBeUndefined();

    publish('v8', {
      stages: { 'a/templates/x.yaml': configMap('a8', '{}'), 'b/templates/x.yaml': '{{ fail "no luck" }}' },
    });
    await clusterOf('five', `${family}-v8`);
    await untilSaid('five', 'HelmChartTemplated', 'no luck');
    // nothing is applied partially
    expect(await inWorkload('a8')).toBeUndefined();

    const dependency = '{name: cilium, version: 1.18.1, repository: "https://nobody.example"}';
    publish('v10', {
      stages: {
        'a/templates/x.yaml': configMap('a10', '{}'),
        'b/Chart.yaml': `apiVersion: v2\nname: b\nversion: 1.0.0\ndependencies: [${dependency}]\n`,
      },
    });
    await clusterOf('seven', `${family}-v10`);
    const unreachable =
      'stage b: chart cilium of https://nobody.example: nobody.example refuses connections; check the';
    await untilSaid('seven', 'HelmChartTemplated', unreachable);
    expect(await inWorkload('a10')).toBeUndefined();
  });

  it('may consist of one chart without stages', async () => {
    const files = releaseFiles({ id: `${family}-v9`, kubernetes: 'v1.33.6' });
    files.delete('clusteraddon.yaml');
    const { packChart } = await import('../../../artifacts/testing/index.ts');
    files.set(
      `${family}-cluster-addon-v9.tgz`,
      packChart('addon', {
        'Chart.yaml': 'apiVersion: v2\nname: addon\nversion: v9.0.0\n',
        'templates/x.yaml': configMap('single', '{name: "{{ .Values.name }}"}'),
      }),
    );
    files.set(
      'cluster-addon-values.yaml',
      new TextEncoder().encode('values: |\n  name: {{ .Cluster.metadata.name }}\n'),
    );
    published.set(`${family}-v9`, files);
    await clusterOf('six', `${family}-v9`);
    await untilReady('six', `${family}-v9`);
    expect((await inWorkload('single'))?.data).toEqual({ name: 'six' });
  });

  it('keep what a new release applies in another hook than the upgrade', async () => {
    const stages = {
      'cni/templates/x.yaml': configMap('cni20', '{v: "1"}'),
      'csi/templates/x.yaml': configMap('csi20', '{v: "1"}'),
    };
    publish('v20', { stages });
    await clusterOf('eight', `${family}-v20`);
    await untilReady('eight', `${family}-v20`);
    const before = await inWorkload('cni20');
    publish('v21', {
      stages: {
        'cni/templates/x.yaml': configMap('cni20', '{v: "2"}'),
        'csi/templates/x.yaml': configMap('csi20', '{v: "2"}'),
      },
      addonConfig: config(
        '  AfterControlPlaneInitialized:\n    - {name: cni, action: apply}\n  AfterClusterUpgrade:\n    - {name: csi, action: apply}\n',
      ),
    });
    await release(`${family}-v21`);
    await useClass('eight', `${family}-v21`);
    await untilReady('eight', `${family}-v21`);
    const after = await inWorkload('cni20');
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.data).toEqual({ v: '2' });
    // its stage runs after an upgrade, which has not been
    expect((await inWorkload('csi20'))?.data).toEqual({ v: '1' });
    await world.restart();
    await world.pass(60_000);
    expect((await inWorkload('csi20'))?.data).toEqual({ v: '1' });
  });

  it('begin again when the class changes while their stages run, and repair what changed meanwhile', async () => {
    const gate = '[{key: gate, apiVersion: v1, kind: ConfigMap, name: gate22, namespace: kube-system}]';
    const stages = (v: string) => ({
      'a/templates/x.yaml': configMap('a22', `{v: "${v}"}`),
      'b/templates/x.yaml': configMap('b22', `{v: "${v}"}`),
    });
    const list = `    - {name: a, action: apply}\n    - {name: b, action: apply, waitForPreCondition: {objects: ${gate}, conditions: "has(gate.data)"}}\n`;
    const addonConfig = config(`  AfterControlPlaneInitialized:\n${list}  BeforeClusterUpgrade:\n${list}`);
    publish('v22', { stages: stages('1'), addonConfig });
    publish('v23', { stages: stages('2'), addonConfig });
    await clusterOf('nine', `${family}-v22`);
    await untilSaid('nine', 'EvaluatedCEL', 'stage b waits');
    await release(`${family}-v23`);
    await useClass('nine', `${family}-v23`);
    await world.until(async () => (await inWorkload('a22'))?.data?.['v'] === '2');
    await untilSaid('nine', 'EvaluatedCEL', 'stage b waits');
    // the stage of this object is done
    await world.workload.delete(ConfigMaps, { namespace: 'kube-system', name: 'a22' });
    const opened = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'gate22', namespace: 'kube-system' } };
    await world.workload.create(ConfigMaps, { ...opened, data: { open: 'yes' } }, by);
    await untilReady('nine', `${family}-v23`);
    expect((await inWorkload('a22'))?.data).toEqual({ v: '2' });
    expect((await inWorkload('b22'))?.data).toEqual({ v: '2' });
  });

  it('are not changed by a release whose files differ from those of its first use', async () => {
    publish('v24', { stages: { 'a/templates/x.yaml': configMap('a24', '{v: "1"}') } });
    await clusterOf('ten', `${family}-v24`);
    await untilReady('ten', `${family}-v24`);
    publish('v24', { stages: { 'a/templates/x.yaml': configMap('a24', '{v: "2"}') } });
    await world.restart();
    await untilSaid('ten', 'ClusterStackReleaseDownloaded', 'the release changed since it was used first');
    await world.pass(120_000);
    expect((await inWorkload('a24'))?.data).toEqual({ v: '1' });
  });

  it('report only what is wrong now: an object that could not be applied is forgotten once it is', async () => {
    const gate = '[{key: gate, apiVersion: v1, kind: ConfigMap, name: gate25, namespace: kube-system}]';
    publish('v25', {
      stages: {
        'a/templates/x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a25, namespace: later}\n',
      },
      addonConfig: config(
        `  AfterControlPlaneInitialized:\n    - {name: a, action: apply, waitForPostCondition: {objects: ${gate}, conditions: "has(gate.data)"}}\n`,
      ),
    });
    await clusterOf('eleven', `${family}-v25`);
    await untilSaid('eleven', 'HelmChartApplied', 'ConfigMap a25');
    await world.workload.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } }, by);
    await untilSaid('eleven', 'EvaluatedCEL', 'stage a waits');
    expect(conditionOf(await addon('eleven'), 'HelmChartApplied')).toBeUndefined();
  });

  it('let go of objects whose kind the cluster serves no more', async () => {
    const crd = [
      'apiVersion: apiextensions.k8s.io/v1',
      'kind: CustomResourceDefinition',
      'metadata: {name: things.example.org}',
      'spec:',
      '  group: example.org',
      '  names: {kind: Thing, plural: things}',
      '  scope: Namespaced',
      '  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]',
      '',
    ].join('\n');
    publish('v26', {
      stages: {
        'crd/templates/x.yaml': crd,
        'thing/templates/x.yaml': 'apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: t}\n',
      },
    });
    await clusterOf('twelve', `${family}-v26`);
    await untilReady('twelve', `${family}-v26`);
    publish('v27', { stages: { 'a/templates/x.yaml': configMap('a27', '{}') } });
    await release(`${family}-v27`);
    await world.workload.delete(CustomResourceDefinitions, { name: 'things.example.org' });
    await world.restart(async () => {
      await useClass('twelve', `${family}-v27`);
    });
    await untilReady('twelve', `${family}-v27`);
    expect((await addon('twelve'))?.status?.resources?.map(({ name }) => name)).toEqual(['a27']);
  });

  it('do not hold the end of an upgrade when the release vanished from its source and the gate is skipped', async () => {
    const gone = `${family}-v28`;
    await release(gone);
    await createCluster(world, 'thirteen');
    await useClass('thirteen', gone);
    await world.until(async () => (await addon('thirteen')) !== undefined);
    const cluster = must(await world.find(Clusters, 'thirteen'), 'the Cluster');
    const handler = must(
      handlers.find(({ hook }) => hook === 'AfterClusterUpgrade'),
      'a handler',
    ) as Extract<BuiltInHookHandler, { hook: 'AfterClusterUpgrade' }>;
    const ask = (annotations: Record<string, string>): Promise<HookResult> =>
      handler.call(
        { cluster: { ...cluster, metadata: { ...cluster.metadata, annotations } }, kubernetesVersion: 'v1.33.6' },
        new AbortController().signal,
      );
    expect(await ask({})).toMatchObject({
      status: 'wait',
      message: expect.stringContaining(`no release ${gone} in the test`),
    });
    expect(await ask({ [skipGateAnnotation]: '' })).toEqual({ status: 'go-on' });
  });
});
