import {
  builtinDefinitions,
  builtinSchema,
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  type Container,
  type CoreEvent,
  CoreEvents,
  gatewayGroup,
  Nodes,
  ownDefinitions,
  type Pod,
  type PodSpec,
  Pods,
  protobufRegistry,
  Secrets,
  StorageClasses,
  type Taint,
} from '../../api/index.ts';
import {
  controllerBackedPlugins,
  createApiServer,
  openObjectStore,
  systemGroups,
  type UserInfo,
} from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import { workloadControllers } from '../../housekeeping/index.ts';
import { isNotFound, type KubeObject, ManualClock, type Resource, seededRandom } from '../../machinery/index.ts';
import { createServiceAccountKeyPair } from '../../pki/index.ts';
import { createManager, type LogEntry, memoryLogger } from '../../runtime/index.ts';
import { runUntil, settle } from '../../runtime/testkit/index.ts';
import { createSimulatedBackend, imageProgramName, loopbackRange, type SimulatedProgram } from '../../simkube/index.ts';
import { memoryEngine } from '../../store/index.ts';
import { guestClient } from '../guest/guest-client.ts';
import { nodeUser, providerRules } from '../guest/rights.ts';
import { type PodHost, startPodHost } from '../start.ts';
import { standardStorageClass } from '../storage/provisioner.ts';

export const by: { fieldManager: string } = { fieldManager: 'test' };
export const namespace = 'default';

export interface HostWorldOptions {
  /** programs by the last part of the image name; commands in containers by their own name */
  readonly programs?: Readonly<Record<string, SimulatedProgram>>;
  /** directory of volumes; default: memory */
  readonly directory?: string;
  /**
   * number of the preferred range. With real sockets, each test file needs its own because test files run in parallel.
   */
  readonly sockets?: number;
  /** also serve Gateways and Ingresses */
  readonly gateways?: boolean;
  readonly logDirectory?: string;
  /** the API is another Kubernetes: the host is one of its nodes with a node's rights, and others bind claims */
  readonly guest?: { readonly taints?: readonly Taint[] };
}

/** A Pod host on the embedded API server with a manual clock. */
export interface HostWorld {
  readonly clock: ManualClock;
  readonly client: Client;
  /** client with the node's rights, if the API is another Kubernetes */
  readonly asNode: Client;
  readonly host: PodHost;
  readonly entries: readonly LogEntry[];
  readonly nodeName: string;
  /** returns the address with this suffix (`0.2`) in the host's present range */
  address(end: string): Promise<string>;
  /** log lines of the backend about removed files */
  readonly removed: string[];
  find<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined>;
  createPod(
    name: string,
    spec: Partial<PodSpec> & { containers: Container[] },
    more?: Partial<Pod['metadata']>,
  ): Promise<Pod>;
  pod(name: string): Promise<Pod>;
  /** waits until the condition holds for the Pod */
  podUntil(name: string, condition: (pod: Pod) => boolean, limitMs?: number): Promise<Pod>;
  events(name: string): Promise<CoreEvent[]>;
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  pass(ms: number): Promise<void>;
  log(pod: string, options?: { container?: string; previous?: boolean; tailLines?: number }): Promise<string>;
  /** replaces the programs of images */
  use(programs: Readonly<Record<string, SimulatedProgram>>): void;
  /** deletes all Pods, for the next test */
  clear(): Promise<void>;
  /** stops the host like a crash, and starts another on the same API */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function hostWorld(options: HostWorldOptions = {}): Promise<HostWorld> {
  const clock = new ManualClock();
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const keys = await createServiceAccountKeyPair();
  const server = await createApiServer({
    store,
    clock,
    random: seededRandom(3),
    definitions: [...builtinDefinitions, ...(options.gateways ? gatewayDefinitions() : [])],
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: {
      mode: 'RBAC',
      nodes: options.guest !== undefined,
      serviceAccounts: { issuer: 'https://test', signingKeyPem: keys.privateKey },
    },
  });
  const client: Client = server.localClient();
  const { logger, entries } = memoryLogger();
  const others = new AbortController();
  const othersWork = options.guest ? await otherKubernetes(client, clock, others.signal) : undefined;
  const hostClient = options.guest
    ? guestClient({
        node: server.localClient(nodeUser('capstan')),
        provider: server.localClient(providerUser),
        nodeName: 'capstan',
      })
    : client;
  const removed: string[] = [];
  let programs = options.programs ?? {};
  let lives = 0;
  const start = (): Promise<PodHost> =>
    startPodHost({
      client: hostClient,
      ...(options.guest && {
        guest: { machineId: 'test', taints: options.guest.taints ?? [], administrator: client },
      }),
      clock,
      random: seededRandom(5 + lives++),
      log: logger,
      sockets: options.sockets !== undefined,
      ...(options.sockets !== undefined && { range: loopbackRange(options.sockets) }),
      gateways: options.gateways ?? false,
      ...(options.logDirectory !== undefined && { logDirectory: options.logDirectory }),
      backend: ({ network, nodeAddress }) =>
        createSimulatedBackend({
          clock,
          random: seededRandom(6),
          network,
          nodeAddress,
          programs: (image, [command = '']) => programs[command] ?? programs[imageProgramName(image)],
          ...(options.directory !== undefined && { directory: options.directory }),
          filesRemoved: (contents) => removed.push(...contents),
        }),
    });
  let host = await start();

  const find = <T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined> =>
    client.get(resource, resource.namespaced ? { namespace, name } : { name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });
  const until: HostWorld['until'] = (condition, limitMs) =>
    runUntil(clock, condition, {
      limitMs: limitMs ?? 600_000,
      entries,
    });
  const pod = async (name: string): Promise<Pod> => client.get(Pods, { namespace, name });

  return {
    clock,
    client,
    asNode: server.localClient(nodeUser('capstan')),
    get host() {
      return host;
    },
    entries,
    nodeName: 'capstan',
    async address(end) {
      const { status } = await client.get(Nodes, { name: 'capstan' });
      return `${status!.addresses![0]!.address.split('.').slice(0, 2).join('.')}.${end}`;
    },
    removed,
    find,
    createPod: (name, spec, more = {}) =>
      client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, ...more }, spec }, by),
    pod,
    async podUntil(name, condition, limitMs) {
      let seen: Pod | undefined;
      await until(async () => {
        seen = await find(Pods, name);
        return seen !== undefined && condition(seen);
      }, limitMs).catch((error: unknown) => {
        throw new Error(`pod ${name} never got there: ${JSON.stringify(seen?.status, null, 1)}`, { cause: error });
      });
      return seen!;
    },
    async events(name) {
      await settle();
      const { items } = await client.list(CoreEvents, { namespace });
      return items.filter(({ involvedObject }) => involvedObject.name === name);
    },
    until,
    async pass(ms) {
      await settle();
      await clock.advance(ms);
      await settle();
    },
    async log(name, { container, ...more } = {}) {
      const object = await pod(name);
      const text: string[] = [];
      for await (const part of host.podLogs(object as never, {
        container: container ?? object.spec.containers[0]!.name,
        follow: false,
        previous: false,
        timestamps: false,
        signal: new AbortController().signal,
        ...more,
      })) {
        text.push(part);
      }
      return text.join('');
    },
    use(next) {
      programs = next;
    },
    async clear() {
      const { items } = await client.list(Pods, { namespace });
      for (const { metadata } of items) {
        await client.delete(Pods, { namespace, name: metadata.name! }, { gracePeriodSeconds: 0 });
      }
      await until(async () => (await client.list(Pods, { namespace })).items.length === 0);
      for (const kind of [CoreEvents, ConfigMaps, Secrets]) {
        await client.deleteCollection(kind, { namespace });
      }
      removed.length = 0;
    },
    async restart() {
      await host.stop();
      host = await start();
    },
    async stop() {
      await host.stop();
      others.abort();
      await othersWork?.working;
      await server.stop(0);
      await store.close();
    },
  };
}

/** the account that provisions volumes */
const providerUser: UserInfo = { name: 'provider', groups: [systemGroups.authenticated] };

/** Parts of another Kubernetes: RBAC rules for the node's accounts, and a controller that binds claims. */
async function otherKubernetes(
  client: Client,
  clock: ManualClock,
  signal: AbortSignal,
): Promise<{ working: Promise<void> }> {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'provider' } };
  await client.create(ClusterRoles, { ...rbac, kind: 'ClusterRole', rules: providerRules }, by);
  await client.create(
    ClusterRoleBindings,
    {
      ...rbac,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'provider' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: providerUser.name }],
    },
    by,
  );
  await client.create(StorageClasses, standardStorageClass, by);
  const manager = createManager({ client, clock, random: seededRandom(9) });
  for (const controller of workloadControllers({ parts: ['volumes'] })) manager.add(controller);
  const working = manager.run(signal);
  await manager.whenReady();
  return { working };
}

function gatewayDefinitions(): typeof ownDefinitions {
  return ownDefinitions.filter(({ group }) => group === gatewayGroup);
}

export function container(more: Partial<Container> = {}): Container {
  return { name: 'main', image: 'registry.example.test/app:1', ...more };
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** A program that runs until its signal aborts. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
