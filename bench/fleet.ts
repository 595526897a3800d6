/** Measures how long a fleet of clusters takes to be Ready on a simulated cloud, and what that costs. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Client, createInformerFactory, httpClient, loadKubeconfig, restMapper } from '../src/client/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type Resource,
  systemClock,
  systemRandom,
} from '../src/machinery/index.ts';
import { buildCapstan, residentBytes, startCapstan } from './lib/capstan.ts';
import { type CloudProcess, startCloudProcess } from './lib/cloud-process.ts';
import { Figures } from './lib/figures.ts';
import { clusterManifests } from './lib/fleet-manifests.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '1' },
    'control-planes': { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** from a server's creation to its operating system, in seconds */
    boot: { type: 'string', default: '10' },
    /** etcd, the API server and the registration of a node take this long each, in seconds */
    step: { type: 'string', default: '2' },
    /** share by which every one of these times varies */
    jitter: { type: 'string', default: '0.2' },
    /** how long the fleet is watched at rest, in seconds */
    rest: { type: 'string', default: '30' },
    /** how long the fleet may take, in seconds */
    patience: { type: 'string', default: '1200' },
    /** delete the fleet at the end and measure that too */
    delete: { type: 'boolean', default: false },
    /** measure the managers behind another management API, with the processes whose cost counts */
    kubeconfig: { type: 'string' },
    pid: { type: 'string', multiple: true, default: [] },
  },
});

const size = {
  clusters: Number(values.clusters),
  controlPlanes: Number(values['control-planes']),
  workers: Number(values.workers),
};
const machineCount = size.clusters * (size.controlPlanes + size.workers);
const target = values.kubeconfig === undefined ? 'capstan' : 'other';
const kind = `${size.clusters} x ${size.controlPlanes}+${size.workers}`;
const figures = new Figures();
const build = await buildCapstan();
const cloud = await startCloudProcess(build.program);
try {
  await prepareCloud(cloud);
  if (values.kubeconfig === undefined) {
    const capstan = await startCapstan({ program: build.program, probe: false });
    try {
      await measure(capstan.kubeconfig, [capstan.pid]);
    } finally {
      await capstan.stop();
    }
  } else {
    await measure(values.kubeconfig, values.pid.map(Number));
  }
} finally {
  await cloud.stop();
  build.remove();
}
figures.print();

/** Machines as slow as asked for, and room for all of them. */
async function prepareCloud({ operate, cloudsYaml }: CloudProcess): Promise<void> {
  const around = (seconds: number): [number, number] => {
    const spread = Number(values.jitter);
    return [seconds * 1000 * (1 - spread), seconds * 1000 * (1 + spread)];
  };
  const step = around(Number(values.step));
  await operate('PATCH', '/timings', {
    timings: {
      // The boot is counted from the creation of the server.
      ...{ 'server.schedule': 0, 'server.network': 0, 'server.devices': 0, 'server.spawn': 0 },
      'machine.boot': around(Number(values.boot)),
      'node.etcd': step,
      'node.apiserver': step,
      'node.join': step,
    },
  });
  const project = /project_id: (\S+)/.exec(readFileSync(cloudsYaml, 'utf8'))?.[1];
  const unlimited = (...names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, -1]));
  await operate('PATCH', `/quotas/compute/${project}`, unlimited('instances', 'cores', 'ram'));
  await operate(
    'PATCH',
    `/quotas/network/${project}`,
    unlimited('network', 'subnet', 'router', 'port', 'floatingip', 'security_group', 'security_group_rule'),
  );
}

async function measure(kubeconfig: string, pids: readonly number[]): Promise<void> {
  const client = httpClient(await loadKubeconfig({ path: kubeconfig, env: {} }), { maxConnections: 16 });
  const cpu = (): number => pids.map(processCpuSeconds).reduce((sum, each) => sum + each, 0);
  const stop = new AbortController();
  try {
    const mapper = restMapper(client);
    const resource = async (kindName: string, group: string): Promise<Resource<KubeObject>> => {
      const found = await mapper.forKind({ kind: kindName, group });
      if (!found) throw new Error(`the management API does not serve ${kindName}`);
      return found as Resource<KubeObject>;
    };
    const machines = await resource('Machine', 'cluster.x-k8s.io');
    const clusters = await resource('Cluster', 'cluster.x-k8s.io');
    await createSecret(client, await resource('Secret', ''));
    await cloud.operate('DELETE', '/requests');
    const cloudBefore = processCpuSeconds(cloud.pid);
    const before = cpu();
    const started = performance.now();
    const seconds = (): number => (performance.now() - started) / 1000;
    const ready = untilMachines(
      client,
      machines,
      (all) => all.filter(isNodeReady).length === machineCount,
      stop.signal,
    );
    await inParallel(
      Array.from({ length: size.clusters }, (_, index) => `fleet-${index}`),
      8,
      async (name) => {
        for (const object of clusterManifests({ name, controlPlanes: size.controlPlanes, workers: size.workers })) {
          const [group = '', version = ''] = String(object['apiVersion']).split('/');
          const served = await mapper.forKind({ group, version, kind: String(object['kind']) });
          await client.apply(served as Resource<KubeObject>, object as unknown as KubeObject, {
            fieldManager: 'bench',
          });
        }
      },
    );
    await ready;
    add('seconds_until_ready', seconds(), 's', readyAim());
    add('cpu_seconds', cpu() - before, 's');
    add('cloud_cpu_seconds', processCpuSeconds(cloud.pid) - cloudBefore, 's');
    add('resident_mib', pids.map(residentBytes).reduce((sum, each) => sum + each, 0) / 2 ** 20, 'MiB');
    const requests = await requestCount();
    add('requests_per_cluster', requests / size.clusters, '');
    add('requests_per_machine', requests / machineCount, '', size.controlPlanes === 1 ? undefined : 12);

    await cloud.operate('DELETE', '/requests');
    const restCpu = cpu();
    const restSeconds = Number(values.rest);
    await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000));
    add('requests_per_second_at_rest', (await requestCount()) / restSeconds, '/s', 1);
    add('cores_at_rest', (cpu() - restCpu) / restSeconds, '');
    if (!values.delete) return;
    const deleting = performance.now();
    const gone = untilMachines(client, clusters, (all) => all.length === 0, stop.signal);
    await inParallel(
      Array.from({ length: size.clusters }, (_, index) => `fleet-${index}`),
      8,
      (name) => client.delete(clusters, { namespace: 'default', name }),
    );
    await gone;
    add('seconds_until_deleted', (performance.now() - deleting) / 1000, 's');
  } finally {
    stop.abort();
    await client.close();
  }
}

function add(figure: string, value: number, unit: string, aim?: number): void {
  figures.add({ figure, target, kind }, value, { unit, better: 'lower', ...(aim !== undefined && { aim }) });
}

/** What the plan asks for, with the timings it asks for. */
function readyAim(): number | undefined {
  const isUsual = values.boot === '10' && values.step === '2' && size.controlPlanes === 1 && size.workers === 2;
  return isUsual ? ({ 1: 30, 50: 35 } as Record<number, number>)[size.clusters] : undefined;
}

async function requestCount(): Promise<number> {
  const answer = await cloud.operate('GET', '/requests');
  let total = 0;
  const visit = (value: unknown): void => {
    if (typeof value === 'number') total += value;
    else if (isJsonObject(value)) for (const part of Object.values(value)) visit(part);
  };
  visit(isJsonObject(answer) && 'requests' in answer ? answer['requests'] : answer);
  return total;
}

async function createSecret(client: Client, secrets: Resource<KubeObject>): Promise<void> {
  const cloudsYaml = readFileSync(cloud.cloudsYaml).toString('base64');
  const secret = { metadata: { name: 'simulated-cloud', namespace: 'default' }, data: { 'clouds.yaml': cloudsYaml } };
  const typed = { apiVersion: 'v1', kind: 'Secret', ...secret } as unknown as KubeObject;
  await client.apply(secrets, typed, { fieldManager: 'bench', force: true });
}

function isNodeReady(machine: KubeObject): boolean {
  const { conditions } = (machine as { status?: { conditions?: JsonObject[] } }).status ?? {};
  return conditions?.some(({ type, status }) => type === 'NodeReady' && status === 'True') ?? false;
}

/** Watches a kind until its objects satisfy the condition. */
async function untilMachines(
  client: Client,
  resource: Resource<KubeObject>,
  isEnough: (all: KubeObject[]) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const factory = createInformerFactory({ client, clock: systemClock, random: systemRandom, namespace: 'default' });
  const informer = factory.informer(resource);
  const stop = new AbortController();
  const patience = Number(values.patience) * 1000;
  const running = factory.run(AbortSignal.any([stop.signal, signal]));
  try {
    await informer.waitForSync(signal);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the fleet was not done within ${values.patience} s`)), patience);
      const look = (): void => {
        if (!isEnough(informer.lister.list())) return;
        clearTimeout(timer);
        resolve();
      };
      informer.addHandler({ onAdd: look, onUpdate: look, onDelete: look });
      look();
    });
  } finally {
    stop.abort();
    await running;
  }
}

async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
