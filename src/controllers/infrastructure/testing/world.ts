import {
  builtinDefinitions,
  builtinSchema,
  type Cluster,
  Clusters,
  infrastructureGroup,
  Namespaces,
  type OpenStackCluster,
  type OpenStackClusterSpec,
  OpenStackClusters,
  ownDefinitions,
  protobufRegistry,
  Secrets,
} from '../../../api/index.ts';
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../../../apiserver/index.ts';
import type { Client } from '../../../client/index.ts';
import { isNotFound, type KubeObject, ManualClock, type Resource, seededRandom } from '../../../machinery/index.ts';
import {
  cloudFromText,
  connect,
  createObserverPool,
  createSessionPool,
  type OpenStack,
  type Transport,
} from '../../../openstack/index.ts';
import { type ControllerDefinition, createManager, type LogEntry, memoryLogger } from '../../../runtime/index.ts';
import { countingClient, type FaultRule, faultyClient, runUntil, settle } from '../../../runtime/testkit/index.ts';
import {
  type CloudOptions,
  createCloud,
  defaultWorld,
  renderCloudsYaml,
  type SimulatedCloud,
} from '../../../simulator/index.ts';
import { memoryEngine } from '../../../store/index.ts';
import { setupClusterControllers } from '../../cluster/index.ts';
import { controllerPatience, ownerReference, partedSecrets } from '../../shared/index.ts';
import { createClouds } from '../common/clouds.ts';
import type { InfrastructureDependencies } from '../common/dependencies.ts';

export const by: { fieldManager: string } = { fieldManager: 'test' };

/** Fate of a request to the cloud. */
export type Fate =
  | 'pass'
  /** the connection breaks before the request is processed */
  | 'fail'
  /** the request is processed, but the response is lost */
  | 'lose';

export interface SeenRequest {
  readonly method: string;
  /** path from the service root: `/network/v2.0/networks?name=x` */
  readonly path: string;
  /** counted from 1 over the life of the world */
  readonly number: number;
}

export interface WorldOptions {
  /** controllers under test */
  controllers(dependencies: InfrastructureDependencies): readonly ControllerDefinition[];
  /** also runs those of Cluster, Machine, MachineSet and MachineDeployment; default false */
  core?: boolean;
  /** decides the fate of each controller request; may be changed at run time */
  fate?(request: SeenRequest): Fate;
  /** overrides of the default cloud */
  cloud?: Partial<CloudOptions>;
  /** faults of the management API, for controllers only; may be changed at run time */
  faults?: FaultRule[];
  watchFilter?: string;
  /** how long a status that nobody waits for may wait, as on an API reached by requests; default 0 */
  statusDelayMs?: number;
  seed?: number;
}

/** Infrastructure controllers on Capstan's API server and a simulated cloud, all on one manual clock. */
export interface InfrastructureWorld {
  readonly namespace: string;
  readonly clock: ManualClock;
  readonly client: Client;
  readonly cloud: SimulatedCloud;
  /** the clusters' project as seen by its user; its requests are not counted */
  readonly tenant: OpenStack;
  readonly admin: OpenStack;
  readonly entries: readonly LogEntry[];
  /** controller requests so far, including tokens and discovery */
  readonly requests: readonly SeenRequest[];
  /** controller writes to the management API so far, without events */
  writes(): number;
  setFate(fate: ((request: SeenRequest) => Fate) | undefined): void;
  find<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined>;
  get<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>): Promise<T[]>;
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  /** advances simulated time second by second */
  pass(ms: number): Promise<void>;
  /** stops the controllers like a crash, and starts new ones */
  restart(): Promise<void>;
  /** stops the controllers permanently */
  halt(): Promise<void>;
  stop(): Promise<void>;
}

const region = 'RegionOne';
const cloudUrl = 'http://cloud.test';
/** Secret with the credentials, in every world */
export const credentialsName = 'cloud-config';

/** One API server for all worlds of a file; every world has its own namespace. */
let shared: Promise<{ clock: ManualClock; client: Client }> | undefined;
let worlds = 0;

async function managementApi(): Promise<{ clock: ManualClock; client: Client }> {
  const clock = new ManualClock();
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const server = await createApiServer({
    store,
    clock,
    random: seededRandom(7),
    definitions: [...builtinDefinitions, ...ownDefinitions],
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
  });
  return { clock, client: server.localClient() };
}

export async function createInfrastructureWorld(options: WorldOptions): Promise<InfrastructureWorld> {
  const seed = options.seed ?? 5;
  shared ??= managementApi();
  const { client, clock } = await shared;
  const namespace = `world-${++worlds}`;
  const { logger, entries } = memoryLogger();
  const cloud = await createCloud({
    clock,
    random: seededRandom(seed),
    world: defaultWorld,
    region,
    onError: (error, what) => {
      // fail the test on a simulator bug
      queueMicrotask(() => {
        throw new Error(`the simulator failed: ${what}`, { cause: error });
      });
    },
    ...options.cloud,
  });
  const cloudsYaml = renderCloudsYaml({ url: cloudUrl, region, secrets: cloud.secrets });
  const plain: Transport = (request) => cloud.transport(request as Parameters<SimulatedCloud['transport']>[0]);
  const openAs = async (name: string): Promise<OpenStack> =>
    connect(await cloudFromText({ text: cloudsYaml, source: 'the simulated cloud', cloud: name, region }), {
      transport: plain,
      clock,
      random: seededRandom(seed),
    });

  const requests: SeenRequest[] = [];
  let fate = options.fate;
  let writes = 0;
  const counted: Transport = async (request) => {
    const seen = { method: request.method, path: request.url.slice(cloudUrl.length), number: requests.length + 1 };
    requests.push(seen);
    const decided = fate?.(seen) ?? 'pass';
    if (decided === 'fail') throw brokenConnection();
    const response = await plain(request);
    if (decided === 'lose') throw brokenConnection();
    return response;
  };

  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, by);
  await client.create(Secrets, credentialsSecret(namespace, cloudsYaml), by);

  const start = async (generation: number): Promise<() => Promise<void>> => {
    const random = seededRandom(seed + 100 * generation);
    const countedClient = countingClient(client, () => {
      writes++;
    });
    const own = options.faults ? faultyClient(countedClient, options.faults) : countedClient;
    const manager = createManager({
      client: own,
      clock,
      random,
      log: logger,
      namespace,
      parted: [partedSecrets],
      statusDelayMs: options.statusDelayMs ?? 0,
      gracefulStopMs: 1,
    });
    const sessions = createSessionPool({ transport: counted, clock, random, patience: controllerPatience });
    const observers = createObserverPool({ random });
    const clouds = createClouds({ client: own, cache: manager.cache, clock, random, sessions, observers, namespace });
    manager.addRunnable({ name: 'cloud-credentials', run: (signal) => clouds.run(signal) });
    if (options.core === true) {
      setupClusterControllers(manager, {
        client: own,
        clock,
        random,
        namespace,
        connectWorkload: () => Promise.reject(new Error('there are no workload clusters in this world')),
      });
    }
    const definitions = options.controllers({
      client: own,
      clock,
      random,
      cache: manager.reader,
      clouds,
      namespace,
      ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
    });
    for (const definition of definitions) manager.add(definition);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.whenReady();
    return async () => {
      stop.abort();
      observers.close();
      await overTime(clock, running);
      await sessions.close();
    };
  };
  let generation = 0;
  let halt: (() => Promise<void>) | undefined = await start(generation);
  const stopControllers = async (): Promise<void> => {
    await halt?.();
    halt = undefined;
  };

  const find = <T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined> =>
    client.get(resource, resource.namespaced ? { namespace, name } : { name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });

  return {
    namespace,
    clock,
    client,
    cloud,
    tenant: await openAs('openstack'),
    admin: await openAs('admin'),
    entries,
    requests,
    writes: () => writes,
    setFate(next) {
      fate = next;
    },
    find,
    async get(resource, name) {
      const found = await find(resource, name);
      if (!found) throw new Error(`${resource.kind} ${name} does not exist`);
      return found;
    },
    list: async (resource) => (await client.list(resource, resource.namespaced ? { namespace } : {})).items,
    until: (condition, limitMs) =>
      runUntil(clock, condition, {
        limitMs: limitMs ?? 1_800_000,
        entries,
      }),
    async pass(ms) {
      for (let left = ms; left > 0; left -= 1_000) {
        await settle();
        await clock.advance(Math.min(left, 1_000));
      }
      await settle();
    },
    async restart() {
      await stopControllers();
      halt = await start(++generation);
    },
    halt: stopControllers,
    async stop() {
      await stopControllers();
      await cloud.close();
    },
  };
}

/** Advances simulated time while it waits. */
async function overTime(clock: ManualClock, work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const ended = work.then(
    () => {},
    () => {},
  );
  void ended.then(() => {
    hasEnded = true;
  });
  for (;;) {
    await settle(2);
    if (hasEnded) return;
    await clock.advance(Math.min(clock.untilNext() ?? 0, 1_000));
  }
}

/** Error of a socket that was reset during a request. */
function brokenConnection(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

export function credentialsSecret(namespace: string, cloudsYaml: string, name: string = credentialsName): KubeObject {
  const base64 = Buffer.from(cloudsYaml).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { 'clusterctl.cluster.x-k8s.io/move': 'true' } },
    type: 'Opaque',
    data: { 'clouds.yaml': base64 },
  } as KubeObject;
}

/** Creates a Cluster and its OpenStackCluster with the owner reference set. */
export async function createOpenStackCluster(
  world: InfrastructureWorld,
  name: string,
  spec: Partial<OpenStackClusterSpec> = {},
  options: { annotations?: Record<string, string>; cluster?: Partial<Cluster['spec']> } = {},
): Promise<OpenStackCluster> {
  const { client, namespace } = world;
  const cluster = await client.create(
    Clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name, namespace },
      spec: {
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'OpenStackCluster', name },
        ...options.cluster,
      },
    },
    by,
  );
  return client.create(
    OpenStackClusters,
    {
      apiVersion: `${infrastructureGroup}/v1beta2`,
      kind: 'OpenStackCluster',
      metadata: {
        name,
        namespace,
        labels: { 'cluster.x-k8s.io/cluster-name': name },
        ownerReferences: [ownerReference(cluster, Clusters)],
        ...(options.annotations && { annotations: options.annotations }),
      },
      spec: { identityRef: { name: credentialsName, cloudName: 'openstack' }, ...spec },
    },
    by,
  );
}
