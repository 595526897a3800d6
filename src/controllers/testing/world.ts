import {
  builtinDefinitions,
  builtinSchema,
  Clusters,
  clusterNameLabel,
  type Machine,
  Namespaces,
  ownDefinitions,
  protobufRegistry,
  Secrets,
} from '../../api/index.ts';
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../../apiserver/index.ts';
import { ApiUnreachableError, type Client } from '../../client/index.ts';
import {
  isNotFound,
  type JsonObject,
  type KubeObject,
  ManualClock,
  type Random,
  type Resource,
  seededRandom,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import {
  type ControllerDefinition,
  createManager,
  type LogEntry,
  type Manager,
  memoryLogger,
} from '../../runtime/index.ts';
import {
  countingClient,
  type FaultRule,
  faultyClient,
  memoryClient,
  runUntil,
  settle,
} from '../../runtime/testkit/index.ts';
import { memoryEngine } from '../../store/index.ts';
import { type ClusterControllers, setupClusterControllers } from '../cluster/index.ts';
import { type HookCaller, partedSecrets } from '../shared/index.ts';
import { type FakeProviderOptions, fakeProvider } from './fake-provider.ts';
import {
  bootstrapGroup,
  controlPlaneGroup,
  definitionOf,
  FakeClusters,
  FakeConfigTemplates,
  FakeControlPlanes,
  FakeMachineTemplates,
  infrastructureGroup,
  providerKinds,
} from './provider-kinds.ts';

export const by: { fieldManager: string } = { fieldManager: 'test' };

/** One API serves all tests of a file; every world has its own namespace. */
const shared = new Map<string, Promise<Api>>();
let worlds = 0;

export interface WorldOptions extends Omit<FakeProviderOptions, 'workload'> {
  /** uses a full workload API with admission, evictions and disruption budgets */
  realWorkload?: boolean;
  /** faults of the management API, for controllers only; may be changed at run time */
  faults?: FaultRule[];
  seed?: number;
  /** builds the caller of runtime extensions */
  hookCaller?: (manager: Manager, parts: ControllerParts) => HookCaller;
  /** adds more controllers to the manager under test */
  extend?: (manager: Manager, shared: ClusterControllers & ControllerParts & { hooks?: HookCaller }) => void;
  /** whether `extend` adds the topology controllers */
  topologies?: boolean;
  /** more controllers of the fake provider */
  providers?: (parts: { client: Client; workload: Client; clock: ManualClock }) => ControllerDefinition[];
}

/** Dependencies common to all controllers. */
export interface ControllerParts {
  client: Client;
  clock: ManualClock;
  random: Random;
  namespace: string;
}

/** The cluster controllers on Capstan's API server, with a fake provider and a workload API. */
export interface World {
  readonly namespace: string;
  readonly clock: ManualClock;
  readonly client: Client;
  /** API of every workload cluster */
  readonly workload: Client;
  readonly entries: readonly LogEntry[];
  /** writes of the controllers so far */
  writes(): number;
  /** connections to workload APIs so far */
  connections(): number;
  /** stops or restores the workload API */
  setWorkloadDown(down: boolean): void;
  /** injects faults into the controllers' workload API requests */
  setWorkloadFaults(rules: readonly FaultRule[]): void;
  find<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>): Promise<T[]>;
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  /** advances simulated time */
  pass(ms: number): Promise<void>;
  /** stops the controllers like a crash, runs `meanwhile`, and starts new ones */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

interface Api {
  clock: ManualClock;
  client: Client;
  close(): Promise<void>;
}

async function api(clock: ManualClock, seed: number, own: boolean): Promise<Api> {
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const server = await createApiServer({
    store,
    clock,
    random: seededRandom(seed),
    definitions: own ? [...builtinDefinitions, ...ownDefinitions] : builtinDefinitions,
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
  });
  return {
    clock,
    client: server.localClient(),
    async close() {
      await server.stop(0);
      await store.close();
    },
  };
}

async function managementApi(contract: 'v1beta1' | 'v1beta2'): Promise<Api> {
  const clock = new ManualClock();
  const served = await api(clock, 11, true);
  for (const kind of providerKinds) await served.client.create(definitionResource, definitionOf(kind, contract), by);
  for (const { plural, group } of providerKinds) {
    const name = `${plural}.${group}`;
    await runUntil(clock, async () => isEstablished(await served.client.get(definitionResource, { name })));
  }
  return served;
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const seed = options.seed ?? 11;
  const contract = options.contract ?? 'v1beta2';
  let serving = shared.get(contract);
  if (!serving) {
    serving = managementApi(contract);
    shared.set(contract, serving);
  }
  const { client, clock } = await serving;
  const namespace = `world-${++worlds}`;
  const workloadApi = options.realWorkload ? await api(clock, seed + 1, false) : undefined;
  const workload = workloadApi?.client ?? memoryClient({ clock, random: seededRandom(seed + 1) });
  const { logger, entries } = memoryLogger();
  const outage: FaultRule[] = [];
  let down = false;
  let writes = 0;
  let connections = 0;
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, by);

  const start = async (generation: number): Promise<{ manager: Manager; halt(): Promise<void> }> => {
    const counted = countingClient(client, () => {
      writes++;
    });
    const controllersClient = options.faults ? faultyClient(counted, options.faults) : counted;
    const random = seededRandom(seed + 100 * generation);
    const manager = createManager({
      parted: [partedSecrets],
      client: controllersClient,
      clock,
      random,
      log: logger,
      namespace,
      gracefulStopMs: 1,
    });
    const hooks = options.hookCaller?.(manager, { client: controllersClient, clock, random, namespace });
    const areas = setupClusterControllers(manager, {
      ...(hooks && { hooks }),
      client: controllersClient,
      clock,
      random,
      namespace,
      ...(options.topologies && { topologies: true }),
      connectWorkload: async () => {
        connections++;
        return {
          client: faultyClient(workload, outage),
          probe: async () => {
            if (down) throw new Error('connect ECONNREFUSED 127.0.0.1:6443');
          },
          portForward: () => Promise.reject(new Error('no port of this workload API can be forwarded')),
          close: () => {},
        };
      },
    });
    options.extend?.(manager, {
      ...areas,
      client: controllersClient,
      clock,
      random,
      namespace,
      ...(hooks && { hooks }),
    });
    const providers = createManager({ client, clock, random: seededRandom(seed + 7), log: logger, namespace });
    for (const definition of fakeProvider({ ...options, workload })) providers.add(definition);
    for (const definition of options.providers?.({ client, workload, clock }) ?? []) providers.add(definition);
    const stop = new AbortController();
    const running = [manager.run(stop.signal), providers.run(stop.signal)];
    await Promise.all([manager.whenReady(), providers.whenReady()]);
    return {
      manager,
      async halt() {
        stop.abort();
        await Promise.allSettled(running);
      },
    };
  };
  let generation = 0;
  let running = await start(generation);

  return {
    namespace,
    clock,
    client,
    workload,
    entries,
    writes: () => writes,
    connections: () => connections,
    setWorkloadDown(value) {
      down = value;
      outage.length = 0;
      if (down) outage.push({ error: () => new ApiUnreachableError('connect ECONNREFUSED 127.0.0.1:6443') });
    },
    setWorkloadFaults(rules) {
      down = false;
      outage.splice(0, outage.length, ...rules);
    },
    find: (resource, name) =>
      client.get(resource, resource.namespaced ? { namespace, name } : { name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      }),
    list: async (resource) => (await client.list(resource, resource.namespaced ? { namespace } : {})).items,
    until: (condition, limitMs) =>
      runUntil(clock, condition, {
        limitMs: limitMs ?? 1_800_000,
        entries,
      }),
    async pass(ms) {
      await settle();
      await clock.advance(ms);
      await settle();
    },
    async restart(meanwhile) {
      await running.halt();
      await meanwhile?.();
      running = await start(++generation);
    },
    async stop() {
      await running.halt();
      await workloadApi?.close();
    },
  };
}

const definitionResource: Resource<UnstructuredObject> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

function isEstablished({ status }: UnstructuredObject): boolean {
  const conditions = (status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? [];
  return conditions.some(({ type, status: value }) => type === 'Established' && value === 'True');
}

/** Creates a cluster with fake infrastructure and, by default, a fake hosted control plane. */
export async function createCluster(
  world: World,
  name = 'c1',
  options: { controlPlane?: boolean; version?: string; topology?: boolean } = {},
): Promise<void> {
  const { client, namespace } = world;
  const withControlPlane = options.controlPlane ?? true;
  await client.create(
    FakeClusters,
    { apiVersion: `${infrastructureGroup}/v1`, kind: 'FakeCluster', metadata: { name, namespace }, spec: {} },
    by,
  );
  if (withControlPlane) {
    await client.create(
      FakeControlPlanes,
      {
        apiVersion: `${controlPlaneGroup}/v1`,
        kind: 'FakeControlPlane',
        metadata: { name, namespace },
        spec: { version: options.version ?? 'v1.33.0' },
      },
      by,
    );
  }
  await client.create(
    Clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name, namespace },
      spec: {
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeCluster', name },
        ...(withControlPlane && { controlPlaneRef: { apiGroup: controlPlaneGroup, kind: 'FakeControlPlane', name } }),
      },
    },
    by,
  );
  await client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-kubeconfig`, namespace, labels: { [clusterNameLabel]: name } },
      type: 'cluster.x-k8s.io/secret',
      data: { value: Buffer.from('in process').toString('base64') },
    },
    by,
  );
}

/** Creates the templates for machines of a set or deployment. */
export async function createTemplates(world: World, name = 'workers', spec: JsonObject = {}): Promise<void> {
  const { namespace } = world;
  await world.client.create(
    FakeMachineTemplates,
    {
      apiVersion: `${infrastructureGroup}/v1`,
      kind: 'FakeMachineTemplate',
      metadata: { name, namespace },
      spec: { template: { spec: { flavor: 'small', ...spec } } },
    },
    by,
  );
  await world.client.create(
    FakeConfigTemplates,
    {
      apiVersion: `${bootstrapGroup}/v1`,
      kind: 'FakeConfigTemplate',
      metadata: { name, namespace },
      spec: { template: { spec: {} } },
    },
    by,
  );
}

/** Builds `template.spec` for machines from `createTemplates`. */
export function machineTemplateSpec(cluster = 'c1', templates = 'workers', version = 'v1.33.0'): Machine['spec'] {
  return {
    clusterName: cluster,
    version,
    bootstrap: { configRef: { apiGroup: bootstrapGroup, kind: 'FakeConfigTemplate', name: templates } },
    infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeMachineTemplate', name: templates },
  };
}
