import './pending-crypto.ts';
import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry, Secrets } from '../../src/api/index.ts';
import {
  type ApiServer,
  createApiServer,
  openObjectStore,
  staticTokenAuthenticator,
} from '../../src/apiserver/index.ts';
import { controllersUser, ensureControllerIdentity } from '../../src/cli/controller-identity.ts';
import { firstFinalizers } from '../../src/cli/install/first-finalizers.ts';
import { withoutPublishedSchema } from '../../src/cli/memory-api.ts';
import { topologySteps } from '../../src/cli/topology-admission.ts';
import type { Client } from '../../src/client/index.ts';
import { type TopologyAdmission, topologyAdmission } from '../../src/controllers/index.ts';
import {
  type KubeObject,
  ManualClock,
  type Random,
  type Resource,
  type ResourceDefinition,
  seededRandom,
} from '../../src/machinery/index.ts';
import { cloudFromText, connect, type OpenStack, type Transport } from '../../src/openstack/index.ts';
import { type LogEntry, memoryLogger } from '../../src/runtime/index.ts';
import { unreadMetrics } from '../../src/simkube/index.ts';
import {
  connectInProcess,
  createCloud,
  defaultWorld,
  renderCloudsYaml,
  type SimulatedCloud,
  type Timing,
} from '../../src/simulator/index.ts';
import { memoryEngine } from '../../src/store/index.ts';
import { type CloudRows, cloudRows } from './cloud-rows.ts';
import { oldestVersion } from './cluster-manifests.ts';
import { createSimulatedHooks, type SimulatedHooks } from './hooks.ts';
import { connectBeside, type SystemPods, startPods } from './hosted-pods.ts';
import { keepHouse, listable } from './house.ts';
import { controllersToken, createLine, type Line } from './line.ts';
import { type Beside, type Lives, startLives, watchWrites } from './lives.ts';
import { managementKeys } from './management-keys.ts';
import { pendingCrypto } from './pending-crypto.ts';
import { createResourceSet } from './resource-sets.ts';
import { slowWrites } from './slow-writes.ts';

const region = 'RegionOne';
const cloudUrl = 'http://cloud.test';
/** URL of a server with an untrusted certificate. */
const untrustedUrl = 'https://untrusted.test';
export const by: { fieldManager: string } = { fieldManager: 'simulation' };

/**
 * Start time of every simulation. TLS uses the real clock, and some certificates are valid for a day, so they must be
 * valid on both clocks.
 */
export const beginning: number = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 20 * 3_600_000;

/** Publishing the schemas would cost more than a run, and nothing here reads them. */
export const definitions: readonly ResourceDefinition[] = [
  ...builtinDefinitions,
  ...ownDefinitions.map(withoutPublishedSchema),
];

/** A complete installation in one process on a manual clock. */
export interface System {
  readonly clock: ManualClock;
  readonly random: Random;
  /** client of the management API's users */
  readonly client: Client;
  readonly server: Pick<ApiServer, 'registry'>;
  readonly cloud: SimulatedCloud;
  /** contents of the cloud, read without requests */
  readonly rows: CloudRows;
  /** clouds.yaml of the simulated cloud's users */
  readonly cloudsYaml: string;
  /** transport to the cloud for everything except the controllers */
  readonly cloudTransport: Transport;
  readonly tenant: OpenStack;
  readonly admin: OpenStack;
  readonly entries: readonly LogEntry[];
  /** Pods of the management API, if they run */
  readonly pods: SystemPods | undefined;
  /** counts of the controllers and the Pod host: cloud requests, mutating ones, writes to the management API */
  readonly counts: { requests: number; mutations: number; writes: number; lives: number };
  /** the last of those writes, newest last */
  readonly recentWrites: readonly (readonly unknown[])[];
  /** fraction of the controllers' calls to the management API that fail, half of them after execution */
  readonly faults: { probability: number };
  /** HTTP connection of the controllers to the management API, if used */
  readonly line: Line | undefined;
  /** lifecycle hooks of clusters with a topology */
  readonly hooks: SimulatedHooks;
  /** grows with every action */
  readonly activity: { count: number };
  /** transport of the controllers to the cloud */
  readonly transport: Transport;
  readonly lives: Lives;
  /** kills the controllers at one of their next calls; others start */
  crashSoon(within: number): void;
  /** all kinds of the management API that support list */
  listable(): readonly Resource<KubeObject>[];
  /** unchanged while neither the management API nor the cloud changes */
  revision(): number;
  /** runs everything due at the current time */
  quiesce(): Promise<void>;
  /** advances from event to event until the condition holds; false on timeout */
  until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean>;
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly seed: number;
  /** also run the Pods of the management API */
  readonly hosted?: boolean;
  /** controllers use HTTP to the management API, as with any Kubernetes */
  readonly overHttp?: boolean;
  /** additional controllers of each process */
  readonly beside?: Beside;
  /** revision of additional state */
  readonly revision?: () => number;
  /** durations of the cloud's steps in milliseconds that override its own */
  readonly timings?: Readonly<Record<string, Timing>>;
  /** called for every write of the controllers, events and leases included */
  readonly onWrite?: (what: readonly unknown[]) => void;
  /** called whenever everything is idle at the current time */
  readonly watch?: (system: System) => Promise<void>;
}

/** Older than the default images, because some workers start several versions behind. */
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
    options.onWrite?.(what);
    const [, plural] = what;
    if (plural === 'events' || plural === 'leases') return;
    counts.writes++;
    recentWrites.push(what);
    if (recentWrites.length > mostRecentWrites) recentWrites.shift();
  };

  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const { serviceAccounts } = await managementKeys(clock);
  const server: ApiServer = await createApiServer({
    store,
    clock,
    random: seededRandom(seed + 1),
    definitions,
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: {
      mode: 'RBAC',
      tokens: [staticTokenAuthenticator([{ token: controllersToken, user: controllersUser }])],
      ...(options.hosted && { serviceAccounts }),
    },
    admission: () => {
      let topologies: TopologyAdmission | undefined;
      const steps = topologySteps(() => {
        topologies ??= topologyAdmission({ client: server.localClient(), clock });
        return topologies;
      });
      // as the webhooks do
      return options.overHttp ? [firstFinalizers(), ...steps] : steps;
    },
  });
  const client = server.localClient();
  const stop = new AbortController();
  // The controllers have only their own rights. A missing one shows as a run without progress.
  await ensureControllerIdentity(client, stop.signal);
  const ownClient = server.localClient(controllersUser);
  const metrics = unreadMetrics();
  const keeping = keepHouse(server, { clock, seed, signal: stop.signal, log: logger });
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
    ...(options.timings && { timings: options.timings }),
    world: { ...defaultWorld, images: [...(defaultWorld.images ?? []), olderNodeImage] },
    region,
    machines: { sockets: false, log: logger, ...(pods && { outside: (host, port) => pods.host.outside(host, port) }) },
    onError: (error, what) => void bugs.push(new Error(`the simulator failed: ${what}`, { cause: error })),
  });
  const cloudsYaml = renderCloudsYaml({ url: cloudUrl, region, secrets: cloud.secrets });
  const plain: Transport = async (request) => {
    if (request.url.startsWith(untrustedUrl)) {
      throw Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    }
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

  const line = options.overHttp ? createLine({ server, clock, faults, activity, seed }) : undefined;
  const lives = startLives({
    seed,
    clock,
    random,
    client: ownClient,
    ...(line && { line }),
    counts,
    faults,
    activity,
    onWrite,
    transport: plain,
    dial: pods ? connectBeside(pods, cloud.network) : connectInProcess(cloud.network),
    ...(pods && { pods }),
    hooks: hooks.handlers,
    metrics,
    log: logger,
    ...(options.beside && { beside: options.beside }),
  });

  const rows = cloudRows(cloud);
  const tenant = await openAs('openstack');
  const admin = await openAs('admin');
  const system: System = {
    clock,
    random,
    client,
    server,
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
    line,
    hooks,
    activity,
    transport: plain,
    lives,
    crashSoon: lives.crashSoon,
    listable: () => listable(server),
    revision: () => store.revision + rows.revision() + (options.revision?.() ?? 0),
    async quiesce() {
      let quiet = 0;
      let seen = -1;
      while (quiet < 8) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        const now = activity.count + store.revision + (options.revision?.() ?? 0);
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
      lives.end();
      stop.abort();
      // Killed processes are not awaited.
      await whileTimePasses(clock, Promise.all([keeping, pods?.stop()]));
      await cloud.close();
      await server.stop(0);
      await store.close();
    },
  };
  return system;
}

/** Advances the clock while work is pending, and gives up after a while. */
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

const mostRecentWrites = 10;
