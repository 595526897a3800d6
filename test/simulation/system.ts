import { faultyClient } from '../../src/runtime/testkit/index.ts';
import './pending-crypto.ts';
import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry, Secrets } from '../../src/api/index.ts';
import { type ApiServer, createApiServer, openObjectStore } from '../../src/apiserver/index.ts';
import { controllersUser, ensureControllerIdentity } from '../../src/cli/controller-identity.ts';
import { withoutPublishedSchema } from '../../src/cli/memory-api.ts';
import { topologySteps } from '../../src/cli/topology-admission.ts';
import { ApiUnreachableError, type Client } from '../../src/client/index.ts';
import {
  type ConnectWorkload,
  createHookCaller,
  setupAddonControllers,
  setupBootstrapControllers,
  setupClusterControllers,
  setupControlPlaneControllers,
  setupInfrastructureControllers,
  setupTopologyControllers,
  type TopologyAdmission,
  topologyAdmission,
} from '../../src/controllers/index.ts';
import { housekeepingControllers } from '../../src/housekeeping/index.ts';
import {
  type KubeObject,
  ManualClock,
  type Random,
  type Resource,
  type ResourceDefinition,
  seededRandom,
} from '../../src/machinery/index.ts';
import { cloudFromText, connect, type OpenStack, type Transport } from '../../src/openstack/index.ts';
import { createManager, type LogEntry, memoryLogger } from '../../src/runtime/index.ts';
import { unreadMetrics } from '../../src/simkube/index.ts';
import {
  connectInProcess,
  createCloud,
  defaultWorld,
  renderCloudsYaml,
  type SimulatedCloud,
} from '../../src/simulator/index.ts';
import { memoryEngine } from '../../src/store/index.ts';
import { type CloudRows, cloudRows } from './cloud-rows.ts';
import { oldestVersion } from './cluster-manifests.ts';
import { createSimulatedHooks, type SimulatedHooks } from './hooks.ts';
import { connectBeside, connectPods, type SystemPods, startPods } from './hosted-pods.ts';
import { managementKeys } from './management-keys.ts';
import { Life } from './mortal.ts';
import { pendingCrypto } from './pending-crypto.ts';
import { createResourceSet } from './resource-sets.ts';
import { slowWrites } from './slow-writes.ts';

const region = 'RegionOne';
const cloudUrl = 'http://cloud.test';
export const by: { fieldManager: string } = { fieldManager: 'simulation' };

/**
 * When every simulation begins. TLS inside of it looks at the real clock: the certificates made along the way, some of them
 * good for a day, must be good on both.
 */
export const beginning: number = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 20 * 3_600_000;

/** Publishing what objects look like costs more than many a life, and nobody in here reads it. */
const definitions: readonly ResourceDefinition[] = [
  ...builtinDefinitions,
  ...ownDefinitions.map(withoutPublishedSchema),
];

/** A whole installation in one process, on a clock that moves when it is told to. */
export interface System {
  readonly clock: ManualClock;
  readonly random: Random;
  /** the management API, as its users see it */
  readonly client: Client;
  readonly cloud: SimulatedCloud;
  /** what is in the cloud, as only an onlooker sees it */
  readonly rows: CloudRows;
  /** of the simulated cloud, as its users have it */
  readonly cloudsYaml: string;
  /** how requests reach the cloud that are not the controllers' */
  readonly cloudTransport: Transport;
  readonly tenant: OpenStack;
  readonly admin: OpenStack;
  readonly entries: readonly LogEntry[];
  /** what runs the Pods of the management API, where something does */
  readonly pods: SystemPods | undefined;
  /** what the controllers (and the host of Pods) did so far: requests to the cloud, those that change it, writes to the management API */
  readonly counts: { requests: number; mutations: number; writes: number; lives: number };
  /** the last of those writes, latest last */
  readonly recentWrites: readonly (readonly unknown[])[];
  /** of calls of the controllers to the management API: how many fail, half of them after they were carried out */
  readonly faults: { probability: number };
  /** who is asked at the moments of the life of a cluster with a topology */
  readonly hooks: SimulatedHooks;
  /** the controllers die at one of their next calls, and others start */
  crashSoon(within: number): void;
  /** every kind the management API serves that can be listed */
  listable(): readonly Resource<KubeObject>[];
  /** stays the same as long as nothing changes in the management API or in the cloud */
  revision(): number;
  /** lets everything happen that happens at this moment */
  quiesce(): Promise<void>;
  /** moves from event to event until the condition holds; false when time was up */
  until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean>;
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly seed: number;
  /** run the Pods of the management API too */
  readonly hosted?: boolean;
  /** is looked at whenever the world has come to rest at a moment */
  readonly watch?: (system: System) => Promise<void>;
}

/** Older than what the default world has: some workers begin far behind. */
const olderNodeImage = {
  name: `ubuntu-capi-image-${oldestVersion}`,
  tags: ['cluster-api'],
  properties: { os_type: 'linux', os_distro: 'ubuntu', architecture: 'x86_64', kubernetes_version: oldestVersion },
};

export async function createSystem(options: SystemOptions): Promise<System> {
  const { seed } = options;
  const clock = new ManualClock(beginning);
  const random = seededRandom(seed);
  const hooks = createSimulatedHooks(clock);
  const { logger, entries } = memoryLogger();
  const activity = { count: 0 };
  const faults = { probability: 0 };
  const counts = { requests: 0, mutations: 0, writes: 0, lives: 0 };
  const recentWrites: (readonly unknown[])[] = [];
  const onWrite = (...what: readonly unknown[]): void => {
    counts.writes++;
    recentWrites.push(what);
    if (recentWrites.length > mostRecentWrites) recentWrites.shift();
  };

  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const { authority, serviceAccounts } = await managementKeys(clock);
  const server: ApiServer = await createApiServer({
    store,
    clock,
    random: seededRandom(seed + 1),
    definitions,
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC', ...(options.hosted && { serviceAccounts }) },
    admission: () => {
      let topologies: TopologyAdmission | undefined;
      return topologySteps(() => {
        topologies ??= topologyAdmission({ client: server.localClient(), clock });
        return topologies;
      });
    },
  });
  const client = server.localClient();
  const stop = new AbortController();
  // The controllers have their own rights and no others: one that is missing shows as a life that gets nowhere.
  await ensureControllerIdentity(client, stop.signal);
  const ownClient = server.localClient(controllersUser);
  const metrics = unreadMetrics();
  const keepers = createManager({
    client: slowWrites(client, clock),
    clock,
    random: seededRandom(seed + 2),
    log: logger,
    metrics,
    gracefulStopMs: 1_000,
  });
  for (const controller of housekeepingControllers({
    served: { listResources: () => listable(server), onChange: (callback) => server.registry.onChange(callback) },
    certificateAuthority: authority.certificate,
    signingAuthority: authority,
  })) {
    keepers.add(controller);
  }
  const keeping = keepers.run(stop.signal);
  const pods = options.hosted
    ? await whileTimePasses(
        clock,
        startPods({ client: slowWrites(watchWrites(client, onWrite), clock), clock, seed, log: logger, activity }),
      )
    : undefined;

  const bugs: unknown[] = [];
  const cloud = await createCloud({
    clock,
    random: seededRandom(seed + 3),
    world: { ...defaultWorld, images: [...(defaultWorld.images ?? []), olderNodeImage] },
    region,
    machines: { sockets: false, log: logger, ...(pods && { outside: (host, port) => pods.host.outside(host, port) }) },
    onError: (error, what) => void bugs.push(new Error(`the simulator failed: ${what}`, { cause: error })),
  });
  const cloudsYaml = renderCloudsYaml({ url: cloudUrl, region, secrets: cloud.secrets });
  const plain: Transport = async (request) => {
    if (!request.url.startsWith(`${cloudUrl}/`)) {
      throw Object.assign(new Error(`connect ECONNREFUSED ${new URL(request.url).host}`), { code: 'ECONNREFUSED' });
    }
    return await cloud.transport(request as Parameters<SimulatedCloud['transport']>[0]);
  };
  const openAs = async (name: string): Promise<OpenStack> =>
    connect(await cloudFromText({ text: cloudsYaml, source: 'the simulated cloud', cloud: name, region }), {
      transport: plain,
      clock,
      random: seededRandom(seed + 4),
    });
  await client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cloud-config', namespace: 'default' },
      data: { 'clouds.yaml': Buffer.from(cloudsYaml).toString('base64') },
    },
    by,
  );

  await createResourceSet(client);

  let life: Life;
  let closing = false;
  const begin = (): void => {
    counts.lives++;
    const halt = new AbortController();
    const own = new Life(activity, () => {
      halt.abort();
      // The next one starts by itself, as under a supervisor.
      if (!closing) clock.after(1_000, begin);
    });
    life = own;
    const lifeRandom = seededRandom(seed + 1_000 * counts.lives);
    const mortal = own.client(
      unreliable(slowWrites(watchWrites(ownClient, onWrite), clock), faults, seededRandom(seed + 7 * counts.lives)),
    );
    const dial = pods ? connectBeside(pods, cloud.network) : connectInProcess(cloud.network);
    const manager = createManager({
      client: mortal,
      clock,
      random: lifeRandom,
      log: logger,
      metrics,
      gracefulStopMs: 1,
    });
    const common = { client: mortal, clock, random: lifeRandom };
    const connectWorkload: ConnectWorkload = async (kubeconfig) => {
      const api = await own.call(() => dial(kubeconfig));
      return {
        client: own.client(api.client),
        probe: (signal) => own.call(() => api.probe(signal)),
        portForward: async (pod, port) =>
          own.duplex(await own.call(() => api.portForward({ namespace: pod.namespace ?? '', name: pod.name }, port))),
        close: () => api.close(),
      };
    };
    const shared = setupClusterControllers(manager, { ...common, connectWorkload, topologies: true });
    // what was waited for is forgotten with a life
    const hookCaller = createHookCaller({ clock, builtIn: hooks.handlers });
    setupTopologyControllers(manager, { ...common, externals: shared.externals, hooks: hookCaller });
    setupAddonControllers(manager, { ...common, ...shared });
    setupBootstrapControllers(manager, { ...common, ...shared });
    setupControlPlaneControllers(manager, {
      ...common,
      ...shared,
      connectWorkload,
      ...(pods && { connectPod: connectPods(pods, mortal, own) }),
    });
    const infrastructure = setupInfrastructureControllers(manager, {
      ...common,
      workloads: shared.workloads,
      transport: own.transport((request) => {
        counts.requests++;
        if (request.method !== 'GET' && !request.url.includes('/auth/tokens')) counts.mutations++;
        return plain(request);
      }),
    });
    halt.signal.addEventListener('abort', () => void infrastructure.close().catch(() => {}), { once: true });
    void manager.run(halt.signal).catch(() => {});
  };
  begin();

  const rows = cloudRows(cloud);
  const tenant = await openAs('openstack');
  const admin = await openAs('admin');
  const system: System = {
    clock,
    random,
    client,
    cloud,
    rows,
    cloudsYaml,
    cloudTransport: plain,
    tenant,
    admin,
    entries,
    pods,
    counts,
    recentWrites,
    faults,
    hooks,
    crashSoon: (within) => life.dieSoon(random, within),
    listable: () => listable(server),
    revision: () => store.revision + rows.revision(),
    async quiesce() {
      let quiet = 0;
      let seen = -1;
      while (quiet < 8) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        const now = activity.count + store.revision;
        quiet = pendingCrypto() > 0 || now !== seen ? 0 : quiet + 1;
        seen = now;
      }
      if (bugs.length > 0) throw bugs[0];
      await options.watch?.(system);
    },
    async until(condition, limitMs) {
      const limit = clock.now() + limitMs;
      for (;;) {
        await system.quiesce();
        if (await condition()) return true;
        const next = clock.untilNext();
        if (next === undefined || clock.now() + next > limit) return false;
        await clock.advance(next);
      }
    },
    async pass(ms) {
      const end = clock.now() + ms;
      for (;;) {
        await system.quiesce();
        const next = clock.untilNext();
        if (next === undefined || clock.now() + next >= end) break;
        await clock.advance(next);
      }
      await clock.advance(end - clock.now());
      await system.quiesce();
    },
    async stop() {
      closing = true;
      life.kill();
      stop.abort();
      // the dead are not waited for
      await whileTimePasses(clock, Promise.all([keeping, pods?.stop()]));
      await cloud.close();
      await server.stop(0);
      await store.close();
    },
  };
  return system;
}

/** Gives time to whoever waits for it to pass; after a while the work is no longer waited for. */
async function whileTimePasses<T>(clock: ManualClock, work: Promise<T>): Promise<T | undefined> {
  let over = false;
  void work.finally(() => {
    over = true;
  });
  for (let turns = 0; !over && turns < 1_000; turns++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await clock.advance(Math.min(clock.untilNext() ?? 0, 1_000));
  }
  return over ? await work : undefined;
}

function listable(server: ApiServer): Resource<KubeObject>[] {
  return [...server.registry.all()].flatMap(({ definition }) => {
    const version = definition.versions.find(({ served }) => served);
    const verbs: readonly string[] = definition.verbs;
    if (!version || !['list', 'watch', 'delete'].every((verb) => verbs.includes(verb))) return [];
    const { group, kind, plural, namespaced } = definition;
    return [{ group, version: version.name, kind, plural, namespaced } as Resource<KubeObject>];
  });
}

const mostRecentWrites = 10;

/** Events are told and forgotten, leases are there to be renewed; they are not counted. */
function watchWrites(client: Client, onWrite: (...what: unknown[]) => void): Client {
  const tell = (verb: string, { plural }: Resource, ...what: unknown[]): void => {
    if (plural === 'events' || plural === 'leases') return;
    onWrite(verb, plural, ...what);
  };
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: <T extends KubeObject>(resource: Resource<T>, object: T, options: Parameters<Client['create']>[2]) => {
      tell('create', resource, object.metadata.name);
      return client.create(resource, object, options);
    },
    update: (resource, object, options) => {
      tell('update', resource, object.metadata.name);
      return client.update(resource, object, options);
    },
    patch: (resource, key, type, patch, options) => {
      tell('patch', resource, key.name, patch);
      return client.patch(resource, key, type, patch, options);
    },
    apply: (resource, object, options) => {
      tell('apply', resource, object.metadata.name);
      return client.apply(resource, object, options);
    },
    delete: (resource, key, options) => {
      tell('delete', resource, key.name);
      return client.delete(resource, key, options);
    },
    deleteCollection: (resource, options) => {
      tell('deleteCollection', resource);
      return client.deleteCollection(resource, options);
    },
    createSubresource: (resource, key, subresource, body, options) => {
      tell(`create ${subresource} of`, resource, key.name);
      return client.createSubresource(resource, key, subresource, body, options);
    },
  };
}

/** A client whose calls fail now and then: refused, or carried out with the answer lost. */
function unreliable(client: Client, faults: { readonly probability: number }, random: Random): Client {
  const chance = (): Random => ({ ...random, next: () => (random.next() < faults.probability ? 0 : 1) });
  const error = (): Error => new ApiUnreachableError('read ECONNRESET');
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'apply', 'delete'] as const;
  return faultyClient(
    client,
    [
      { verb: verbs, probability: 0.5, when: 'before', error },
      { verb: verbs, probability: 0.5, when: 'after', error },
    ],
    chance(),
  );
}
