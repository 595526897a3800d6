/** Measures how long a cluster of each built-in stack takes on the simulated cloud, and how long its control plane takes to grow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ClusterAddons,
  ClusterResourceSets,
  ClusterStackReleases,
  ClusterStacks,
  Clusters,
  Namespaces,
  Secrets,
} from '../src/api/index.ts';
import { type HttpClient, httpClient, loadKubeconfig, type ObjectKey } from '../src/client/index.ts';
import { asTyped, isNotFound, type JsonObject, type KubeObject, type Resource } from '../src/machinery/index.ts';
import { connect, loadClouds } from '../src/openstack/index.ts';
import { startCapstan } from './lib/capstan.ts';
import { Figures } from './lib/figures.ts';
import { projectRoot } from './lib/node-arguments.ts';

const { values } = parseArgs({
  options: {
    /** each makes one cluster of each stack */
    runs: { type: 'string', default: '1' },
    /** how long anything may take, in seconds */
    patience: { type: 'string', default: '1800' },
  },
});

const namespace = 'bench';
const by = { fieldManager: 'bench', force: true };
const pollMs = 100;
const version = 'v1.33.6';
const patienceMs = Number(values.patience) * 1000;

interface Stack {
  readonly name: string;
  /** control planes of the topology, as this stack is asked for them */
  controlPlanes(count: number): { variables: JsonObject[]; replicas: number };
}

const stacks: readonly Stack[] = [
  {
    name: 'hosted-control-plane',
    controlPlanes: (count) => ({ variables: [{ name: 'controlPlaneReplicas', value: count }], replicas: count }),
  },
  { name: 'scs2', controlPlanes: (count) => ({ variables: [], replicas: count }) },
];

const figures = new Figures();
const program = join(projectRoot, 'dist/main.js');
const capstan = await startCapstan({
  program,
  upArguments: ['--simulated-cloud', '--pods', 'simulated'],
  probe: false,
});
const client = httpClient(await loadKubeconfig({ path: capstan.kubeconfig, env: {} }), { maxConnections: 8 });
try {
  const externalNetwork = await prepare();
  for (let run = 0; run < Number(values.runs); run++) {
    for (const stack of stacks)
      await measure(stack, `${stack.name}-${run}`.replace('hosted-control-plane', 'hosted'), externalNetwork);
  }
} finally {
  await client.close();
  await capstan.stop();
}
figures.print();

/** Credentials and stacks, as the guide has them; answers the id of the external network. */
async function prepare(): Promise<string> {
  const cloudsYaml = join(capstan.dataDirectory, 'clouds.yaml');
  const content = readFileSync(cloudsYaml, 'utf8');
  await apply(Namespaces, { name: namespace }, {});
  await apply(Secrets, { namespace, name: 'openstack' }, { stringData: { 'clouds.yaml': content } });
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'clouds-yaml', namespace: 'kube-system' },
    stringData: { 'clouds.yaml': content },
  };
  const wrapped = { type: 'addons.cluster.x-k8s.io/resource-set', stringData: { secret: JSON.stringify(secret) } };
  await apply(Secrets, { namespace, name: 'clouds-yaml' }, wrapped);
  await apply(
    ClusterResourceSets,
    { namespace, name: 'clouds-yaml' },
    {
      spec: {
        strategy: 'Reconcile',
        clusterSelector: { matchLabels: { 'managed-secret': 'clouds-yaml' } },
        resources: [{ kind: 'Secret', name: 'clouds-yaml' }],
      },
    },
  );
  for (const { name } of stacks) {
    const spec = { provider: 'openstack', name, kubernetesVersion: '1.33', autoSubscribe: false, noProvider: true };
    await apply(ClusterStacks, { namespace, name }, { spec: { ...spec, versions: ['v1'] } });
    const release = { namespace, name: `openstack-${name}-1-33-v1` };
    await until(
      `release ${release.name}`,
      async () => (await find(ClusterStackReleases, release))?.status?.ready === true,
    );
  }
  const clouds = await loadClouds({ env: { OS_CLIENT_CONFIG_FILE: cloudsYaml }, cwd: projectRoot, home: projectRoot });
  const network = await connect(await clouds.cloud('openstack')).network.networks.find('public');
  if (!network) throw new Error('the simulated cloud has no network "public"');
  return network.id;
}

async function measure(stack: Stack, name: string, externalNetwork: string): Promise<void> {
  const key = { namespace, name };
  const write = (count: number): Promise<void> => {
    const { variables, replicas } = stack.controlPlanes(count);
    return apply(
      Clusters,
      key,
      {
        spec: {
          clusterNetwork: { pods: { cidrBlocks: ['172.16.0.0/16'] }, services: { cidrBlocks: ['10.96.0.0/12'] } },
          topology: {
            classRef: { name: `openstack-${stack.name}-1-33-v1` },
            version,
            controlPlane: { replicas },
            variables: [
              ...variables,
              { name: 'networkExternalID', value: externalNetwork },
              { name: 'workerFlavor', value: 'SCS-2V-4' },
            ],
            workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 2 }] },
          },
        },
      },
      { 'managed-secret': 'clouds-yaml' },
    );
  };
  let started = performance.now();
  await write(1);
  await until(`${name} is available`, async () => isTrue(await find(Clusters, key), 'Available'));
  add('seconds_until_nodes_are_ready', stack, started);
  const addon = { namespace, name: `cluster-addon-${name}` };
  await until(`add-ons of ${name}`, async () => isTrue(await find(ClusterAddons, addon), 'Ready'));
  add('seconds_until_add_ons_are_applied', stack, started);
  started = performance.now();
  await write(3);
  await until(
    `${name} has three`,
    async () => (await find(Clusters, key))?.status?.controlPlane?.availableReplicas === 3,
  );
  add('seconds_for_control_planes_1_to_3', stack, started);
  started = performance.now();
  await client.delete(Clusters, key);
  await until(`${name} is gone`, async () => (await find(Clusters, key)) === undefined);
  add('seconds_until_deleted', stack, started);
}

function add(figure: string, { name }: Stack, started: number): void {
  const key = { figure, target: 'capstan', kind: name };
  figures.add(key, (performance.now() - started) / 1000, { unit: 's', better: 'lower' });
}

function isTrue(
  object: { status?: { conditions?: { type: string; status: string }[] } } | undefined,
  type: string,
): boolean {
  return (
    object?.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
  );
}

async function apply<T extends KubeObject>(
  resource: Resource<T>,
  { namespace: place, name }: ObjectKey,
  content: JsonObject,
  labels: Record<string, string> = {},
): Promise<void> {
  const { group, version: served, kind } = resource;
  const metadata = { name, labels, ...(place !== undefined && { namespace: place }) };
  const object = { apiVersion: group === '' ? served : `${group}/${served}`, kind, metadata, ...content };
  await client.apply(resource, asTyped<T>(object), by);
}

async function find<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
  return (client as HttpClient).get(resource, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${values.patience} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
