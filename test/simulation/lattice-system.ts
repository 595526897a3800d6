import {
  builtinSchema,
  Clusters,
  type Deployment,
  Deployments,
  Namespaces,
  Nodes,
  protobufRegistry,
  Secrets,
} from '../../src/api/index.ts';
import { type ApiServer, createApiServer, openObjectStore } from '../../src/apiserver/index.ts';
import { controllersUser, ensureControllerIdentity } from '../../src/cli/controller-identity.ts';
import { ApiUnreachableError, type Client } from '../../src/client/index.ts';
import { setupLatticeControllers } from '../../src/controllers/index.ts';
import { controllerSessions } from '../../src/controllers/shared/index.ts';
import { ignoreNotFound, isAlreadyExists, must, seededRandom } from '../../src/machinery/index.ts';
import { memoryLogger, nullLogger } from '../../src/runtime/index.ts';
import { unreadMetrics } from '../../src/simkube/index.ts';
import { connectInProcess } from '../../src/simulator/index.ts';
import { memoryEngine } from '../../src/store/index.ts';
import { keepHouse } from './house.ts';
import { type LifeParts, type Lives, startLives, unreliable } from './lives.ts';
import { by, createSystem, definitions, type System } from './system.ts';

/**
 * A parent and a cluster that becomes self-managed, each with its own controllers. The cluster's objects are in a
 * separate API, because an API on its simulated machines would cost more than the simulation of the controllers.
 */
export interface LatticeSystem {
  readonly parent: System;
  readonly child: Side;
  /** connection from the parent to the cluster's API */
  readonly way: Way;
  /** number of Ready nodes on the cluster's machines */
  nodes(name: string): Promise<number>;
  stop(): Promise<void>;
}

export interface Side {
  readonly client: Client;
  readonly lives: Lives;
  readonly counts: { requests: number; mutations: number; writes: number; lives: number };
  revision(): number;
  /** has a control plane, or never had one */
  isUp(): boolean;
  close(): Promise<void>;
}

/** Connection of the parent to the cluster's API. A cut ends streams and loses their pending data. */
export interface Way {
  isCut: boolean;
  /** fraction of calls that fail, half of them after execution */
  readonly faults: { probability: number };
}

const deployment = { namespace: 'capstan-system', name: 'capstan-controllers' };

/** One ConfigMap per chart, because other tests cover the add-ons themselves. */
const charts = {
  versions: (name: string) => (name === 'cilium' ? ['1.18.9'] : ['2.31.4', '2.32.1', '2.33.1']),
  files: (name: string, version: string) => {
    const text = (content: string): Uint8Array => new TextEncoder().encode(content);
    return new Map([
      ['Chart.yaml', text(`apiVersion: v2\nname: ${name}\nversion: ${version}\n`)],
      [
        'templates/all.yaml',
        text('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Chart.Name }}", namespace: kube-system}\n'),
      ],
    ]);
  },
};

export async function createLatticeSystem(options: {
  readonly seed: number;
  readonly watch: (system: LatticeSystem) => Promise<void>;
}): Promise<LatticeSystem> {
  const { seed } = options;
  const way: Way = { isCut: false, faults: { probability: 0 } };
  let whole: LatticeSystem | undefined;
  let reach: (() => Client) | undefined;
  const parent = await createSystem({
    seed,
    beside: (parts) => lattice(parts, () => must(reach, 'the cluster')()),
    revision: () => whole?.child.revision() ?? 0,
    watch: async () => {
      if (!whole) return;
      await startWhatIsInstalled(whole.child);
      await options.watch(whole);
    },
  });
  const child = await openChild(parent, seed);
  const over = unreliable(child.client, way.faults, seededRandom(seed + 31));
  const isDown = (): boolean => way.isCut || !child.isUp();
  reach = () => cuttable(over, isDown);
  whole = {
    parent,
    child,
    way,
    nodes: (name) => readyNodes(parent, child, name),
    async stop() {
      child.lives.end();
      await parent.stop();
      await child.close();
    },
  };
  return whole;
}

async function readyNodes({ client, cloud }: System, child: Side, name: string): Promise<number> {
  const key = { namespace: `capi-${name}`, name: `${name}-kubeconfig` };
  const secret =
    (await client.get(Secrets, key).catch(ignoreNotFound)) ??
    (await child.client.get(Secrets, key).catch(ignoreNotFound));
  if (!secret) return 0;
  const kubeconfig = Buffer.from(secret.data?.['value'] ?? '', 'base64').toString('utf8');
  try {
    const api = await connectInProcess(cloud.network)(kubeconfig);
    const { items } = await api.client.list(Nodes);
    return items.filter(({ status }) => status?.conditions?.some(isReady)).length;
  } catch {
    return 0; // Not serving yet.
  }
}

const isReady = ({ type, status }: { type: string; status: string }): boolean => type === 'Ready' && status === 'True';

const pausedAnnotation = 'cluster.x-k8s.io/paused';

/** Reports whether a Cluster exists that is not paused. */
export async function isActive(client: Client, namespace: string): Promise<boolean> {
  const { items } = await client.list(Clusters, { namespace });
  return items.some(({ metadata, spec }) => metadata.annotations?.[pausedAnnotation] === undefined && !spec.paused);
}

async function openChild(parent: System, seed: number): Promise<Side> {
  const { clock, transport, activity, faults, hooks, rows } = parent;
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const server: ApiServer = await createApiServer({
    store,
    clock,
    random: seededRandom(seed + 13),
    definitions,
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
  });
  const client = server.localClient();
  const stop = new AbortController();
  await ensureControllerIdentity(client, stop.signal);
  const { logger } = memoryLogger();
  const keeping = keepHouse(server, { clock, seed, signal: stop.signal, log: logger });
  const counts = { requests: 0, mutations: 0, writes: 0, lives: 0 };
  const lives = startLives({
    seed: seed + 17,
    clock,
    random: parent.random,
    client: server.localClient(controllersUser),
    counts,
    faults,
    activity,
    onWrite: () => {
      counts.writes++;
    },
    transport,
    dial: connectInProcess(parent.cloud.network),
    hooks: hooks.handlers,
    metrics: unreadMetrics(),
    log: logger,
    beside: (parts) => lattice(parts, nobody),
  });
  // They start once they are installed.
  lives.hold();
  let hasMachines = false;
  return {
    client,
    lives,
    counts,
    revision: () => store.revision,
    isUp() {
      const servers = rows.of('servers').filter(({ name }) => name?.includes('-control-plane-') === true);
      hasMachines ||= servers.length > 0;
      return servers.length > 0 || !hasMachines;
    },
    async close() {
      stop.abort();
      await keeping;
      await server.stop(0);
      await store.close();
    },
  };
}

/** Simulates the cluster's kubelets for the Deployment of its controllers. Without machines nothing runs. */
async function startWhatIsInstalled({ client, lives, isUp }: Side): Promise<void> {
  if (!isUp()) return lives.hold();
  const live = await client.get(Deployments, deployment).catch(ignoreNotFound);
  if (live === undefined || live.status?.availableReplicas === 1) return;
  const status = { replicas: 1, readyReplicas: 1, availableReplicas: 1 };
  await client.patch(Deployments, deployment, 'merge', { status }, { ...by, subresource: 'status' });
  lives.resume();
}

function lattice({ manager, client, clock, random, life, transport }: LifeParts, reach: () => Client): Closing {
  return setupLatticeControllers(manager, {
    client,
    clock,
    random,
    charts,
    log: nullLogger,
    sessions: controllerSessions({ clock, random, transport }),
    self: {
      connect: async () => ({
        client: life.client(reach()),
        probe: async () => {},
        portForward: () => Promise.reject(new Error('nobody forwards here')),
        close: () => {},
      }),
      installer: { deployment, objects: async () => [], install: (child, { signal }) => install(child, signal) },
    },
  });
}

/** The self-managed cluster has no clusters of its own here. */
function nobody(): Client {
  throw new ApiUnreachableError('connect EHOSTUNREACH');
}

type Closing = ReturnType<typeof setupLatticeControllers>;

async function install(child: Client, signal: AbortSignal): Promise<void> {
  const unlessThere = (error: unknown): void => {
    if (!isAlreadyExists(error)) throw error;
  };
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: deployment.namespace } };
  await child.create(Namespaces, home, { ...by, signal }).catch(unlessThere);
  const labels = { app: deployment.name };
  const object: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...deployment },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'controllers', image: 'capstan' }] } },
    },
  };
  await child.create(Deployments, object, { ...by, signal }).catch(unlessThere);
}

/** Wraps a client so that its calls fail while the other side is down. */
function cuttable(client: Client, isDown: () => boolean): Client {
  const check = (): void => {
    if (isDown()) throw new ApiUnreachableError('connect EHOSTUNREACH');
  };
  return new Proxy(client, {
    get(over, name, receiver) {
      const member: unknown = Reflect.get(over, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        try {
          check();
        } catch (error) {
          return Promise.reject(error);
        }
        return (member as (...given: unknown[]) => unknown).apply(over, args);
      };
    },
  });
}
