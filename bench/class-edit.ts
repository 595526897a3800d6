/**
 * What one edit of a ClusterClass costs that touches all its Clusters, on a real kube-apiserver: seconds until every MachineDeployment has its new template
 * and a MachineSet of it, CPU of the managers, requests and writes. There are no machines and no providers: their kinds are stand-ins without controllers, so
 * that only those who make clusters of classes are measured. Managers of others are measured by the same command.
 *
 *   npx tsx bench/class-edit.ts --clusters 200                                   starts a Kubernetes and `capstan controller`
 *   npx tsx bench/class-edit.ts --kubeconfig FILE --clusters 200                 starts `capstan controller --install` there
 *   npx tsx bench/class-edit.ts --kubeconfig FILE --target NAME --pid PID…       measures the managers that work there already
 */
import { parseArgs } from 'node:util';
import {
  type Cluster,
  type ClusterClass,
  ClusterClasses,
  Clusters,
  MachineDeployments,
  MachineSets,
  Namespaces,
  topologyOwnedLabel,
} from '../src/api/index.ts';
import { type HttpClient, httpClient, loadKubeconfig } from '../src/client/index.ts';
import {
  definitionOf,
  FakeClusters,
  FakeClusterTemplates,
  FakeConfigTemplates,
  FakeControlPlanes,
  FakeControlPlaneTemplates,
  FakeMachineTemplates,
  providerKinds,
} from '../src/controllers/testing/provider-kinds.ts';
import { isAlreadyExists, type JsonObject, type Resource, type UnstructuredObject } from '../src/machinery/index.ts';
import { findOrBuildPrograms } from '../test/conformance/go-build.ts';
import { startRealKubernetes } from '../test/conformance/real-kubernetes.ts';
import { startController } from '../test/support/controller-process.ts';
import { freePorts } from '../test/support/ports.ts';
import { type AnsweredRequests, answeredRequests, requestsBetween } from './lib/api-server-requests.ts';
import { asDeployed } from './lib/as-deployed.ts';
import { buildCapstan, residentBytes } from './lib/capstan.ts';
import { Figures } from './lib/figures.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '200' },
    edits: { type: 'string', default: '3' },
    /** how long the clusters are left alone and watched at rest before the first edit, in seconds */
    rest: { type: 'string', default: '30' },
    patience: { type: 'string', default: '900' },
    kubeconfig: { type: 'string' },
    pid: { type: 'string', multiple: true, default: [] },
    target: { type: 'string', default: 'capstan' },
    /** further arguments of `capstan controller` */
    argument: { type: 'string', multiple: true, default: [] },
  },
});
const count = Number(values.clusters);
const kind = `${count} clusters of one class`;
const namespace = 'class-edit';
const by = { fieldManager: 'bench' };
const figures = new Figures();
const stops: (() => Promise<unknown>)[] = [];
try {
  const kubeconfig = values.kubeconfig ?? (await startKubernetes());
  const config = await loadKubeconfig({ path: kubeconfig, env: {} });
  const client = httpClient(config, { maxConnections: 16 });
  stops.push(() => client.close());
  await createStandIns(client);
  const pids = values.pid.length > 0 ? values.pid.map(Number) : [await startOurs(kubeconfig)];
  await measure(client, pids);
} finally {
  for (const stop of stops.reverse()) await stop();
}
figures.print();

async function startKubernetes(): Promise<string> {
  const kubernetes = await startRealKubernetes(await findOrBuildPrograms(process.env, console.error));
  stops.push(() => kubernetes.stop());
  return kubernetes.kubeconfig;
}

async function startOurs(kubeconfig: string): Promise<number> {
  const build = await buildCapstan();
  stops.push(async () => build.remove());
  process.env['CAPSTAN_PROGRAM'] = build.program;
  const [port = 0] = await freePorts(2);
  const controller = await startController({
    kubeconfig,
    port,
    args: values.argument,
    variables: asDeployed,
  });
  stops.push(() => controller.process.stop());
  return controller.process.pid;
}

/** Kinds of a provider that nobody acts on. */
async function createStandIns(client: HttpClient): Promise<void> {
  const definitions: Resource<UnstructuredObject> = {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
  };
  for (const resource of providerKinds) await created(client.create(definitions, definitionOf(resource), by));
  // a definition is served some moments after it was written
  const isServed = (resource: Resource<UnstructuredObject>): Promise<boolean> =>
    client.list(resource, { limit: 1 }).then(
      () => true,
      () => false,
    );
  for (const resource of providerKinds) await until(`${resource.plural} served`, () => isServed(resource));
  const space = { apiVersion: 'v1' as const, kind: 'Namespace' as const, metadata: { name: namespace } };
  await created(client.create(Namespaces, space, by));
}

async function created(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

function flavor(edit: number): string {
  return `flavor-${edit}`;
}

function reference({ group, version, kind: of }: Resource) {
  return { templateRef: { apiVersion: `${group}/${version}`, kind: of, name: 'shared' } };
}

function clusterClass(): ClusterClass {
  const { group, version, kind: of } = FakeMachineTemplates;
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name: 'shared', namespace },
    spec: {
      infrastructure: reference(FakeClusterTemplates),
      controlPlane: reference(FakeControlPlaneTemplates),
      workers: {
        machineDeployments: [
          {
            class: 'worker',
            bootstrap: reference(FakeConfigTemplates),
            infrastructure: reference(FakeMachineTemplates),
          },
        ],
      },
      patches: [
        {
          name: 'flavor',
          definitions: [
            {
              selector: {
                apiVersion: `${group}/${version}`,
                kind: of,
                matchResources: { machineDeploymentClass: { names: ['worker'] } },
              },
              jsonPatches: [{ op: 'replace', path: '/spec/template/spec/flavor', value: flavor(0) }],
            },
          ],
        },
      ],
    },
  };
}

async function createClass(client: HttpClient): Promise<void> {
  const specs: readonly [Resource<UnstructuredObject>, JsonObject][] = [
    [FakeClusterTemplates, { region: 'one' }],
    [FakeControlPlaneTemplates, { etcd: 'local' }],
    [FakeMachineTemplates, { flavor: 'unset' }],
    [FakeConfigTemplates, { commands: ['true'] }],
  ];
  for (const [resource, spec] of specs) {
    const template = {
      apiVersion: `${resource.group}/${resource.version}`,
      kind: resource.kind,
      metadata: { name: 'shared', namespace },
      spec: { template: { spec } },
    };
    await client.create(resource, template, by);
  }
  await client.create(ClusterClasses, clusterClass(), by);
}

function cluster(index: number): Cluster {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: `cluster-${index}`, namespace },
    spec: {
      topology: {
        classRef: { name: 'shared' },
        version: 'v1.34.2',
        workers: { machineDeployments: [{ class: 'worker', name: 'md-0', replicas: 0 }] },
      },
    },
  };
}

interface Reading {
  at: number;
  cpuSeconds: number;
  requests: AnsweredRequests;
}

async function measure(client: HttpClient, pids: readonly number[]): Promise<void> {
  const read = async (): Promise<Reading> => ({
    at: performance.now(),
    cpuSeconds: pids.map(processCpuSeconds).reduce((sum, each) => sum + each, 0),
    requests: await answeredRequests(client),
  });
  await createClass(client);
  const before = await read();
  for (let first = 0; first < count; first += 8) {
    const some = Array.from({ length: Math.min(8, count - first) }, (_, offset) => cluster(first + offset));
    await Promise.all(some.map((one) => client.create(Clusters, one, by)));
  }
  await until('created', async () => (await switched(client, 0)) && (await areThere(client)));
  tell('until_created', before, await read());
  await seconds(Number(values.rest) / 3);
  const rested = await read();
  await seconds(Number(values.rest));
  const after = await read();
  const { all, writes } = requestsBetween(rested.requests, after.requests);
  // readings themselves are requests of ours
  add('requests_at_rest', (all * 60) / Number(values.rest), '/min');
  add('writes_at_rest', (writes * 60) / Number(values.rest), '/min');
  add('cores_at_rest', (after.cpuSeconds - rested.cpuSeconds) / ((after.at - rested.at) / 1000), '');
  for (let edit = 1; edit <= Number(values.edits); edit++) await editClass(client, read, edit);
  add('resident', pids.map(residentBytes).reduce((sum, each) => sum + each, 0) / 2 ** 20, 'MiB');
}

async function editClass(client: HttpClient, read: () => Promise<Reading>, edit: number): Promise<void> {
  const before = await read();
  const path = '/spec/patches/0/definitions/0/jsonPatches/0/value';
  await client.patch(
    ClusterClasses,
    { namespace, name: 'shared' },
    'json',
    [{ op: 'replace', path, value: flavor(edit) }],
    by,
  );
  await until('switched', () => switched(client, edit));
  add('seconds_until_switched', (performance.now() - before.at) / 1000, 's');
  await until('rolled out', () => areThere(client));
  tell('until_rolled_out', before, await read());
  await until('cleaned', async () => (await ownedTemplates(client)).length === count);
  tell('until_old_templates_are_gone', before, await read());
  await seconds(10);
}

async function ownedTemplates(client: HttpClient): Promise<UnstructuredObject[]> {
  return (await client.list(FakeMachineTemplates, { namespace, labelSelector: topologyOwnedLabel })).items;
}

/** Whether every MachineDeployment has a template of this edit. */
async function switched(client: HttpClient, edit: number): Promise<boolean> {
  const wanted = flavor(edit);
  const templates = new Set(
    (await ownedTemplates(client))
      .filter(({ spec }) => JSON.stringify(spec).includes(`"${wanted}"`))
      .map(({ metadata }) => metadata.name),
  );
  if (templates.size < count) return false;
  const { items } = await client.list(MachineDeployments, { namespace });
  return items.filter(({ spec }) => templates.has(spec.template.spec.infrastructureRef.name)).length === count;
}

/** Whether every MachineDeployment has a MachineSet of what it says now, and all that they made stands in the API. */
async function areThere(client: HttpClient): Promise<boolean> {
  const deployments = (await client.list(MachineDeployments, { namespace })).items;
  const sets = (await client.list(MachineSets, { namespace })).items;
  const made = new Set(sets.map(({ spec }) => spec.template.spec.infrastructureRef.name));
  if (deployments.length < count) return false;
  if (!deployments.every(({ spec }) => made.has(spec.template.spec.infrastructureRef.name))) return false;
  const parts = await Promise.all(
    [FakeClusters, FakeControlPlanes].map((resource) => client.list(resource, { namespace })),
  );
  return parts.every(({ items }) => items.length >= count);
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + Number(values.patience) * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${values.patience} s`);
    await seconds(0.5);
  }
}

function tell(step: string, before: Reading, after: Reading): void {
  add(`seconds_${step}`, (after.at - before.at) / 1000, 's');
  add(`cpu_seconds_${step}`, after.cpuSeconds - before.cpuSeconds, 's');
  add(`writes_per_cluster_${step}`, requestsBetween(before.requests, after.requests).writes / count, '');
}

function seconds(some: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, some * 1000));
}

function add(figure: string, value: number, unit: string): void {
  console.error(`${figure} ${value.toFixed(2)} ${unit}`);
  figures.add({ figure, target: values.target, kind }, value, { unit, better: 'lower' });
}
