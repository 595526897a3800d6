import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { classNameOf, ownDefinitions, parseStackId } from '../../../api/index.ts';
import {
  asJson,
  clone,
  formatApiVersion,
  formatFieldError,
  isJsonObject,
  type JsonObject,
  type UnstructuredObject,
  validateCustomResource,
} from '../../../machinery/index.ts';
import { renderValues } from '../addon/stage-values.ts';
import { textOf } from '../release/documents.ts';
import { readRelease, type StackRelease } from '../release/release.ts';
import { renderClass } from '../release/render-class.ts';
import { builtInSource } from './built-in.ts';

const signal = new AbortController().signal;
const source = builtInSource(fileURLToPath(new URL('../../../../stacks', import.meta.url)), async () => new Map());

async function release(name: string): Promise<StackRelease> {
  const id = parseStackId(name)!;
  return readRelease(id, (await source.files(id, signal))!, source);
}

const minors = ['1-31', '1-32', '1-33', '1-34'];
const names = ['hosted-control-plane', 'scs2'].flatMap((stack) =>
  minors.map((minor) => `openstack-${stack}-${minor}-v1`),
);

/** validates an object like the API, after defaulting */
function problems(object: UnstructuredObject): string[] {
  const definition = ownDefinitions.find(
    ({ group, kind, storageVersion }) =>
      kind === object.kind && formatApiVersion(group, storageVersion) === object.apiVersion,
  );
  if (definition === undefined) return [`${object.apiVersion} ${object.kind} is no kind of ours`];
  const draft = clone(object);
  definition.strategy.applyDefaults?.(draft);
  const context = { nowMs: 0, random: undefined as never, user: 'tester' };
  return [
    ...validateCustomResource(asJson(draft), definition.versions[0]!.schema),
    ...(definition.strategy.validateCreate?.(draft, context) ?? []),
  ].map(formatFieldError);
}

describe('the built-in stacks', () => {
  it('are hosted-control-plane and scs2 for every minor version', async () => {
    expect([...(await source.tags(signal))].sort()).toEqual(names);
  });

  it.each(names)('render for %s a class and templates that the API accepts', async (name) => {
    const objects = renderClass(await release(name), name, 'tenant');
    expect(objects.flatMap(problems)).toEqual([]);
    const [stackClass] = objects.filter(({ kind }) => kind === 'ClusterClass');
    expect(stackClass?.metadata).toMatchObject({
      name,
      namespace: 'tenant',
      labels: { 'clusterstack.x-k8s.io/instance': 'owned' },
      annotations: { 'stacks.capstan.dev/release': name },
    });
    // every object the class refers to exists
    const made = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(referencesOf(asJson(stackClass!)).filter((reference) => !made.includes(reference))).toEqual([]);
  });

  it.each([
    ['1-31', 'v1.31.12', '2.31.3', '2.31.7', '1.18.1'],
    ['1-32', 'v1.32.8', '2.32.0', '2.32.2', '1.18.1'],
    ['1-33', 'v1.33.6', '2.33.1', '2.33.1', '1.18.1'],
  ])('pin the versions of the guide for %s', async (minor, kubernetes, ccm, csi, cilium) => {
    const { metadata, addons } = await release(`openstack-hosted-control-plane-${minor}-v1`);
    expect(metadata.kubernetesVersion).toBe(kubernetes);
    if (addons.kind !== 'stages') throw new Error('no stages');
    const pins = [...addons.charts].map(([stage, { files }]) => {
      const chart = JSON.parse(textOf(files.get('Chart.yaml')!)) as {
        dependencies: { name: string; version: string }[];
      };
      return [stage, ...chart.dependencies.map(({ name, version }) => `${name} ${version}`)];
    });
    expect(Object.fromEntries(pins)).toEqual({
      ccm: `openstack-cloud-controller-manager ${ccm}`,
      cni: `cilium ${cilium}`,
      csi: `openstack-cinder-csi ${csi}`,
      'metrics-server': 'metrics-server 3.13.0',
    });
    const stages = addons.hooks.get('AfterControlPlaneInitialized') ?? [];
    expect(stages.map(({ name }) => name)).toEqual(['cni', 'metrics-server', 'ccm', 'csi']);
    // stages without credentials do not wait for them
    const waiting = stages.flatMap(
      ({ name, before }) => before?.objects.map((one) => `${name}: ${one.kind} ${one.name}`) ?? [],
    );
    expect(waiting).toEqual(['ccm: Secret clouds-yaml']);
    const upgrade = addons.hooks.get('BeforeClusterUpgrade');
    expect(upgrade).toEqual(stages.map((stage) => ({ ...stage, before: undefined })));
  });

  it('name load balancers and volumes by namespace and name of the cluster', async () => {
    const { addons } = await release('openstack-hosted-control-plane-1-33-v1');
    if (addons.kind !== 'stages') throw new Error('no stages');
    const values = (stage: string, namespace: string): JsonObject => {
      const objects = {
        Cluster: { apiVersion: 'cluster.x-k8s.io/v1beta1', kind: 'Cluster', metadata: { name: '007', namespace } },
        InfraCluster: {
          apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
          kind: 'OpenStackCluster',
          metadata: { name: '007-x', namespace },
          spec: { identityRef: { name: 'openstack', cloudName: 'yes' } },
        },
      };
      return renderValues(stage, addons.charts.get(stage)?.overwrite ?? '', objects);
    };
    for (const namespace of ['blue', 'red']) {
      expect(values('ccm', namespace)).toEqual({
        'openstack-cloud-controller-manager': {
          cluster: { name: `${namespace}-007` },
          cloudConfig: { global: { cloud: 'yes' } },
        },
      });
      expect(values('csi', namespace)).toMatchObject({ 'openstack-cinder-csi': { clusterID: `${namespace}-007` } });
    }
  });

  it('have no unlisted releases', async () => {
    expect(await source.files(parseStackId('openstack-scs2-1-33-v2')!, signal)).toBeUndefined();
    expect(classNameOf(parseStackId(names[0]!)!)).toBe(names[0]);
  });
});

function referencesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  if (!isJsonObject(value)) return [];
  const own = isJsonObject(value['templateRef']) ? [value['templateRef'] as JsonObject] : [];
  return [...own.map(({ kind, name }) => `${kind} ${name}`), ...Object.values(value).flatMap(referencesOf)];
}
