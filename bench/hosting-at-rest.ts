/** Hosted control planes on simulated time, all in one process: how long we make them wait where CPU costs nothing, and what they do at rest. */
import { parseArgs } from 'node:util';
import { K0smotronControlPlanes, Pods, Services } from '../src/api/index.ts';
import type { KubeObject } from '../src/machinery/index.ts';
import { namespace } from '../test/simulation/cluster-manifests.ts';
import { hostedManifests } from '../test/simulation/hosted-manifests.ts';
import { by, createSystem } from '../test/simulation/system.ts';
import { Figures } from './lib/figures.ts';
import { flavors, observePods, ownSeconds } from './lib/hosted-fleet.ts';
import { runAsShipped } from './lib/node-arguments.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    planes: { type: 'string', default: '10' },
    /** of every plane; its etcd has as many members */
    replicas: { type: 'string', default: '3' },
    /** how long the planes are left alone, in simulated seconds */
    rest: { type: 'string', default: '600' },
  },
});
const second = 1_000;
const minute = 60 * second;
const patienceMs = 30 * minute;
const flavor = flavors['k0smotron']!;
const names = Array.from({ length: Number(values.planes) }, (_, index) => `plane-${index}`);
const replicas = Number(values.replicas);
const restSeconds = Number(values.rest);
const figures = new Figures();
const system = await createSystem({ seed: 1, hosted: true });
try {
  await create();
  await rest();
} finally {
  await system.stop();
}
figures.print();

async function create(): Promise<void> {
  const started = system.clock.now();
  for (const name of names) {
    const desired = { name, kind: 'k0smotron', replicas, workers: 0, deletesVolumes: true } as const;
    const manifests = hostedManifests({ ...desired, version: 'v1.33.6', workerVersion: 'v1.33.6' });
    for (const { resource, object } of manifests) await system.client.create(resource, object, by);
  }
  const observer = observePods(flavor, { names, replicas });
  const addressedMs = new Map<string, number>();
  const isDone = async (): Promise<boolean> => {
    const now = system.clock.now();
    for (const service of (await system.client.list(Services, { namespace })).items as ServiceView[]) {
      const name = service.metadata.name ?? '';
      if (service.status?.loadBalancer?.ingress?.length && !addressedMs.has(name)) addressedMs.set(name, now);
    }
    const { items } = await system.client.list(Pods, { namespace });
    return observer.look(items as readonly KubeObject[], now) && (await areInitialized());
  };
  if (!(await system.until(isDone, patienceMs))) throw new Error('the planes were not initialized in time');
  add('seconds_until_initialized', (system.clock.now() - started) / second, 's');
  const own = names.map((name) =>
    ownSeconds(observer.times.get(name)!, addressedMs.get(flavor.service(name)) ?? Number.NaN),
  );
  add('own_seconds_from_address_to_api', Math.max(...own), 's', 1);
}

async function areInitialized(): Promise<boolean> {
  const planes = (await system.client.list(K0smotronControlPlanes, { namespace })).items as PlaneView[];
  return planes.filter(({ status }) => status?.initialization?.controlPlaneInitialized).length === names.length;
}

async function rest(): Promise<void> {
  await system.pass(15 * minute);
  const before = { ...system.counts };
  await system.pass(restSeconds * second);
  add('requests_per_second_at_rest', (system.counts.requests - before.requests) / restSeconds, '/s', 1);
  add('writes_at_rest', system.counts.writes - before.writes, '', 0);
  if (system.counts.writes > before.writes) console.error('written at rest:', system.recentWrites);
}

type ServiceView = KubeObject & { status?: { loadBalancer?: { ingress?: unknown[] } } };
type PlaneView = KubeObject & { status?: { initialization?: { controlPlaneInitialized?: boolean } } };

function add(figure: string, value: number, unit: string, aim?: number): void {
  figures.add({ figure, target: 'capstan', kind: `${names.length} x ${replicas}` }, value, {
    unit,
    better: 'lower',
    ...(aim !== undefined && { aim }),
  });
}
