/** Measures the OpenStack client: what a credential, a worker and a fleet at rest cost, in requests and in event loop. */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { ManualClock, seededRandom } from '../src/machinery/index.ts';
import {
  type CloudConfig,
  cloudFromText,
  connect,
  createObserver,
  createSessionPool,
  type ObservedType,
  type OpenStack,
} from '../src/openstack/index.ts';
import { createCloud, defaultWorld, renderCloudsYaml } from '../src/simulator/index.ts';
import { type CannedSize, cannedCloud, serveCanned } from './lib/canned-cloud.ts';
import { Figures, percentile } from './lib/figures.ts';
import { runAsShipped } from './lib/node-arguments.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, servers: { type: 'string', default: '10000' } },
});
const figures = new Figures();
const target = 'capstan';
const servers = Number(values.servers);
/** A thousand clusters of ten nodes. */
const fleet: CannedSize = {
  servers,
  ports: servers,
  loadBalancers: servers / 10,
  floatingIps: servers / 10,
  volumes: 0,
};

for (let run = 0; run < Number(values.runs); run++) {
  await measureCredential();
  for (const workers of [1, 10]) await measureWorkers(workers);
  await measureFleetAtRest();
  await measurePolls();
  await measureRequest();
}
figures.print();

function cannedConfig(origin: string): CloudConfig {
  return {
    name: 'canned',
    source: 'bench',
    authUrl: `${origin}/identity/v3`,
    credential: { method: 'token', token: 't' },
    scope: { kind: 'none' },
    region: undefined,
    interfaces: ['public'],
    tls: { verify: true },
    timeoutMs: undefined,
    services: {},
    warnings: [],
  };
}

/** A hundred controllers come with the same credential. */
async function measureCredential(): Promise<void> {
  const origin = 'http://canned.test';
  const { transport } = cannedCloud(origin, { ...fleet, servers: 0, ports: 0, loadBalancers: 0, floatingIps: 0 });
  let extra = 0;
  const pool = createSessionPool({
    transport,
    clock: new ManualClock(),
    onRequest: ({ path }) => {
      if (path === '/auth/tokens' || path === '/') extra++;
    },
  });
  await Promise.all(Array.from({ length: 100 }, () => pool.connect(cannedConfig(origin)).compute.servers.get('one')));
  figures.add({ figure: 'token_and_version_requests_of_100_users', target }, extra, {
    unit: '',
    better: 'lower',
    aim: 2,
  });
}

/** What a controller has to ask for to bring up workers, lookups before creation included, until it hears that they are there. */
async function measureWorkers(count: number): Promise<void> {
  const clock = new ManualClock();
  const simulated = await createCloud({ clock, random: seededRandom(1), world: defaultWorld });
  const text = renderCloudsYaml({ url: 'http://simulated.test', region: 'RegionOne', secrets: simulated.secrets });
  const config = await cloudFromText({ text, source: 'bench', cloud: 'openstack' });
  let requests = 0;
  const cloud = connect(config, { transport: simulated.transport, clock, onRequest: () => requests++ });
  const { id: networkId } = await cloud.network.networks.create({ name: 'n' });
  await cloud.network.subnets.create({ networkId, cidr: '10.6.0.0/24', ipVersion: 4 });
  const observer = createObserver(cloud, { random: seededRandom(2) });
  requests = 0;
  let active = 0;
  const created = Array.from({ length: count }, (_, index) => createWorker(cloud, networkId, `worker-${index}`));
  for (const id of await Promise.all(created)) {
    observer.subscribe('server', ({ now }) => void (now?.status === 'ACTIVE' && active++), { id });
  }
  while (active < count) await clock.advance(500);
  observer.close();
  await simulated.close();
  figures.add({ figure: 'requests_per_worker', target, kind: `of ${count}` }, requests / count, {
    unit: '',
    better: 'lower',
    aim: 12,
  });
}

async function createWorker(cloud: OpenStack, networkId: string, name: string): Promise<string> {
  const image = await cloud.image.images.find('Ubuntu 22.04');
  const flavor = await cloud.compute.flavors.find('m1.small');
  const port =
    (await cloud.network.ports.find(`${name}-0`, { networkId })) ??
    (await cloud.network.ports.create({ networkId, name: `${name}-0` }));
  await cloud.network.ports.replaceTags(port.id, ['capstan']);
  const known = await cloud.compute.servers.find(name);
  if (known) return known.id;
  const desired = {
    name,
    imageId: image!.id,
    flavorId: flavor!.id,
    networks: [{ portId: port.id }],
    tags: ['capstan'],
  };
  return (await cloud.compute.servers.create(desired)).id;
}

/** An hour of a thousand clusters of ten nodes with everything observed, on simulated time. */
async function measureFleetAtRest(): Promise<void> {
  const clock = new ManualClock();
  const origin = 'http://canned.test';
  let requests = 0;
  const { transport } = cannedCloud(origin, fleet);
  const cloud = connect(cannedConfig(origin), { transport, clock, onRequest: () => requests++ });
  const observer = createObserver(cloud, { random: seededRandom(3) });
  const types: ObservedType[] = ['server', 'port', 'loadBalancer', 'floatingIp', 'volume'];
  for (const type of types) observer.subscribe(type, () => {});
  await clock.advance(60_000);
  for (const type of types) if (!observer.health(type).synced) throw new Error(`${type} is not synced`);
  requests = 0;
  await clock.advance(3_600_000);
  observer.close();
  figures.add({ figure: 'fleet_at_rest_requests_per_second', target, kind: `${servers} servers` }, requests / 3600, {
    unit: '/s',
    better: 'lower',
    aim: 1,
  });
}

interface Cost {
  /** how long the event loop was kept from other work; on a busy machine that includes waiting for a core */
  loopMs: number;
  cpuMs: number;
}

/** What one look at all servers costs, over HTTP. */
async function measurePolls(): Promise<void> {
  const small = { ...fleet, ports: 0, loadBalancers: 0, floatingIps: 0 };
  const { origin, close } = await serveCanned((at) => cannedCloud(at, small));
  const add = (kind: string, looks: readonly Cost[], aim?: number): void => {
    const meaning = { unit: 'ms', better: 'lower' } as const;
    const loop = { figure: 'observer_poll_event_loop_ms', target, kind };
    const cpu = { figure: 'observer_poll_cpu_ms', target, kind };
    const median = (pick: (cost: Cost) => number): number => percentile(looks.map(pick), 0.5);
    figures.add(
      loop,
      median(({ loopMs }) => loopMs),
      { ...meaning, ...(aim !== undefined && { aim }) },
    );
    figures.add(
      cpu,
      median(({ cpuMs }) => cpuMs),
      meaning,
    );
  };
  for (const [kind, completeMs] of [
    ['changes', 3_600_000],
    ['complete', 0],
  ] as const) {
    const observer = createObserver(connect(cannedConfig(origin)), { intervals: { completeMs, quietMs: 3_600_000 } });
    observer.subscribe('server', () => {});
    const first = await costOf(() => observer.refresh('server'));
    if (kind === 'changes') add('first', [first]);
    const looks: Cost[] = [];
    for (let i = 0; i < 9; i++) looks.push(await costOf(() => observer.refresh('server')));
    add(kind, looks, 50);
    observer.close();
  }
  await close();
}

async function costOf(work: () => Promise<void>): Promise<Cost> {
  // A turn, so that what came before does not count.
  await new Promise<void>((resolve) => setImmediate(resolve));
  const loop = performance.eventLoopUtilization();
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { loopMs: performance.eventLoopUtilization(loop).active, cpuMs: (user + system) / 1000 };
}

/** What the client itself costs per request. */
async function measureRequest(): Promise<void> {
  const origin = 'http://canned.test';
  const { transport } = cannedCloud(origin, { ...fleet, servers: 1, ports: 0, loadBalancers: 0, floatingIps: 0 });
  const { compute } = connect(cannedConfig(origin), { transport });
  const send = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await compute.servers.get('one');
  };
  await send(5_000);
  const started = performance.now();
  await send(20_000);
  const perSecond = 20_000 / ((performance.now() - started) / 1000);
  figures.add({ figure: 'client_requests_per_second', target, kind: 'in process' }, perSecond, {
    unit: '/s',
    better: 'higher',
  });
}
