import {
  builtinDefinitions,
  builtinSchema,
  type LatticeCluster,
  type LatticeClusterSpec,
  LatticeClusters,
  Namespaces,
  ownDefinitions,
  protobufRegistry,
  Secrets,
} from '../../../api/index.ts';
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../../../apiserver/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound, type KubeObject, ManualClock, type Resource, seededRandom } from '../../../machinery/index.ts';
import type { Transport } from '../../../openstack/index.ts';
import { createManager, memoryLogger } from '../../../runtime/index.ts';
import { countingClient, runUntil, settle } from '../../../runtime/testkit/index.ts';
import { createCloud, defaultWorld, renderCloudsYaml, type SimulatedCloud } from '../../../simulator/index.ts';
import { memoryEngine } from '../../../store/index.ts';
import { controllerSessions, partedSecrets } from '../../shared/index.ts';
import type { AddonCharts } from '../addons.ts';
import { type LatticeControllersOptions, setupLatticeControllers } from '../setup.ts';

export const by: { fieldManager: string } = { fieldManager: 'test' };

/**
 * The LatticeCluster controller alone, on Capstan's API server with a simulated cloud. Tests set the status of its
 * objects.
 */
export interface LatticeWorld {
  readonly client: Client;
  readonly clock: ManualClock;
  /** requests to the cloud so far */
  requests(): number;
  /** writes of the controller so far */
  writes(): number;
  find<T extends KubeObject>(resource: Resource<T>, key: { namespace?: string; name: string }): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, namespace: string): Promise<T[]>;
  cluster(name: string): Promise<LatticeCluster>;
  create(name: string, change?: (spec: LatticeClusterSpec) => void): Promise<void>;
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** advances simulated time */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

const cloudUrl = 'http://cloud.test';
const region = 'RegionOne';

/** Renders one ConfigMap per chart with its values. */
const charts: AddonCharts = {
  versions: (name) => (name === 'cilium' ? ['1.18.1', '1.18.9', '1.19.1'] : ['2.31.4', '2.32.1', '2.33.1']),
  files: (name, version) => {
    const text = (content: string): Uint8Array => new TextEncoder().encode(content);
    return new Map([
      ['Chart.yaml', text(`apiVersion: v2\nname: ${name}\nversion: ${version}\n`)],
      [
        'templates/all.yaml',
        text(
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Chart.Name }}", namespace: kube-system}\ndata: {version: "{{ .Chart.Version }}"}\n',
        ),
      ],
    ]);
  },
};

export async function createLatticeWorld(
  options: {
    without?: readonly string[];
    withSecret?: boolean;
    self?: NonNullable<LatticeControllersOptions['self']>;
  } = {},
): Promise<LatticeWorld> {
  const clock = new ManualClock();
  const random = seededRandom(3);
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const server = await createApiServer({
    store,
    clock,
    random,
    definitions: [...builtinDefinitions, ...ownDefinitions],
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
  });
  const client = server.localClient();
  const cloud = await createCloud({
    clock,
    random: seededRandom(4),
    world: defaultWorld,
    region,
    ...(options.without && { without: options.without }),
  });
  let requests = 0;
  let writes = 0;
  const transport: Transport = (request) => {
    requests++;
    return cloud.transport(request as Parameters<SimulatedCloud['transport']>[0]);
  };
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capo-system' } }, by);
  if (options.withSecret !== false) await client.create(Secrets, credentials(cloud), by);
  const counted = countingClient(client, () => {
    writes++;
  });
  const { logger, entries } = memoryLogger();
  const manager = createManager({
    client: counted,
    clock,
    random,
    log: logger,
    parted: [partedSecrets],
    gracefulStopMs: 1,
  });
  const sessions = controllerSessions({ clock, random, transport });
  const self = options.self && { self: options.self };
  setupLatticeControllers(manager, { client: counted, clock, random, charts, sessions, log: logger, ...self });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.whenReady();
  const world: LatticeWorld = {
    client,
    clock,
    requests: () => requests,
    writes: () => writes,
    find: (resource, key) => client.get(resource, key).catch(ignoreNotFound),
    list: async (resource, namespace) => (await client.list(resource, { namespace })).items,
    cluster: (name) => client.get(LatticeClusters, { name }),
    async create(name, change = () => {}) {
      const spec = structuredClone(printed);
      change(spec);
      const object = { apiVersion: 'lattice.dev/v1alpha1', kind: 'LatticeCluster', metadata: { name }, spec };
      await client.create(LatticeClusters, object, by);
    },
    until: (condition) =>
      runUntil(clock, condition, {
        limitMs: 600_000,
        entries,
      }),
    async pass(ms) {
      await clock.advance(ms);
      await settle();
    },
    async stop() {
      stop.abort();
      await Promise.allSettled([running]);
      await sessions.close();
      await cloud.close();
      await server.stop(0);
      await store.close();
    },
  };
  return world;
}

function credentials(cloud: SimulatedCloud) {
  const text = renderCloudsYaml({ url: cloudUrl, region, secrets: cloud.secrets });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'capo-system', name: 'openstack-cloud-config' },
    data: { 'clouds.yaml': Buffer.from(text).toString('base64'), other: 'c2VjcmV0' },
  };
}

const printed: LatticeClusterSpec = {
  provider: {
    kubernetes: { version: '1.32.0' },
    config: {
      openstack: {
        externalNetworkId: 'public',
        cpFlavor: 'b2-30',
        workerFlavor: 'b2-15',
        imageName: 'Ubuntu 22.04',
        sshKeyName: 'lattice-key',
      },
    },
  },
  nodes: { controlPlane: 3, workerPools: { default: { replicas: 2 } } },
};
