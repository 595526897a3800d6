import { type Node, Nodes, type Pod, Pods } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import {
  formatTime,
  ignoreNotFound,
  type JsonObject,
  type KubeObject,
  type Resource,
} from '../../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchObjects } from '../../../runtime/index.ts';
import { settle } from '../../../runtime/testkit/index.ts';
import { garbageCollector } from '../../garbage-collector/garbage-collector.ts';
import type { ServedResources } from '../../served-resources.ts';
import { claimProtection } from '../../storage/claim-protection.ts';
import { volumeProtection } from '../../storage/volume-protection.ts';
import { type EmbeddedWorld, embeddedWorld } from '../../testing/embedded-world.ts';
import { isPodReady } from '../common/pods.ts';
import { type WorkloadControllersOptions, workloadControllers } from '../workload-controllers.ts';

/** Behaviour of a Pod once it runs on its node. */
export type PodFate = 'ready' | 'running' | 'pending' | 'crashing' | 'succeeded' | 'failed';

export interface WorkloadWorld extends EmbeddedWorld {
  readonly namespace: string;
  /** decides for every Pod; after a change `redecide` makes the kubelet evaluate it again */
  fate: (pod: Pod) => PodFate;
  /** whether deleted Pods may terminate */
  mayEnd: (pod: Pod) => boolean;
  redecide(): Promise<void>;
  pods(labels?: Record<string, string>): Promise<Pod[]>;
  list<T extends KubeObject>(resource: Resource<T>): Promise<T[]>;
  get<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T>;
  create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, name: string, patch: JsonObject): Promise<T>;
  patchStatus<T extends KubeObject>(resource: Resource<T>, name: string, status: JsonObject): Promise<T>;
  remove<T extends KubeObject>(resource: Resource<T>, name: string): Promise<void>;
  addNode(name: string, spec?: Node['spec'], labels?: Record<string, string>): Promise<void>;
  /** records the highest number of Pods and the lowest number of ready ones, until the returned function is called */
  watchCounts(): Promise<() => { most: number; fewestReady: number }>;
  /** reasons of the events recorded for an object */
  reasons(name: string): Promise<string[]>;
  /** waits until everything is idle, and returns the number of writes in one idle minute */
  writesAtRest(): Promise<number>;
}

const by = { fieldManager: 'test' };
const namespace = 'default';

/** Runs the workload controllers on the embedded API server. The test plays the kubelet. */
export async function workloadWorld(options: WorkloadControllersOptions = {}): Promise<WorkloadWorld> {
  const state: Pick<WorkloadWorld, 'fate' | 'mayEnd'> = { fate: () => 'ready', mayEnd: () => true };
  const world = await embeddedWorld({
    controllers: (served) => [
      ...workloadControllers(options),
      garbageCollector({ served: onlyWorkloads(served) }),
      claimProtection(),
      volumeProtection(),
      kubelet(state),
    ],
  });
  const { client, clock } = world;
  const list = async <T extends KubeObject>(resource: Resource<T>): Promise<T[]> =>
    (await client.list(resource, resource.namespaced ? { namespace } : {})).items;
  const keyOf = (resource: Resource<never> | Resource<KubeObject>, name: string) =>
    resource.namespaced ? { namespace, name } : { name };
  await world.server.localClient().create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }, by);
  const extra = {
    namespace,
    list,
    async redecide(): Promise<void> {
      for (const pod of await list(Pods)) {
        await client.patch(
          Pods,
          objectKey(pod),
          'merge',
          { metadata: { annotations: { look: clock.now().toString() } } },
          by,
        );
      }
    },
    async pods(labels: Record<string, string> = {}): Promise<Pod[]> {
      return (await list(Pods))
        .filter((pod) => Object.entries(labels).every(([key, value]) => pod.metadata.labels?.[key] === value))
        .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
    },
    get: <T extends KubeObject>(resource: Resource<T>, name: string): Promise<T> =>
      client.get(resource, keyOf(resource as never, name)),
    create: <T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> =>
      client.create(
        resource,
        resource.namespaced ? { ...object, metadata: { namespace, ...object.metadata } } : object,
        by,
      ),
    patch: <T extends KubeObject>(resource: Resource<T>, name: string, patch: JsonObject): Promise<T> =>
      client.patch(resource, keyOf(resource as never, name), 'merge', patch, by),
    patchStatus: <T extends KubeObject>(resource: Resource<T>, name: string, status: JsonObject): Promise<T> =>
      client.patch(resource, keyOf(resource as never, name), 'merge', { status }, { ...by, subresource: 'status' }),
    async remove<T extends KubeObject>(resource: Resource<T>, name: string): Promise<void> {
      await client.delete(resource, keyOf(resource as never, name), { propagationPolicy: 'Background' });
    },
    async addNode(name: string, spec?: Node['spec'], labels?: Record<string, string>): Promise<void> {
      const metadata = { name, ...(labels && { labels }) };
      await client.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata, ...(spec && { spec }) }, by);
    },
    async watchCounts(): Promise<() => { most: number; fewestReady: number }> {
      const { items, metadata } = await client.list(Pods, { namespace });
      const known = new Map(items.map((pod) => [pod.metadata.name!, pod]));
      const seen = { most: 0, fewestReady: Number.POSITIVE_INFINITY };
      const stop = new AbortController();
      const look = async (): Promise<void> => {
        const resourceVersion = metadata.resourceVersion!;
        for await (const { type, object } of client.watch(Pods, { namespace, resourceVersion, signal: stop.signal })) {
          if (type === 'DELETED') known.delete(object.metadata.name!);
          else if (type !== 'BOOKMARK') known.set(object.metadata.name!, object);
          const living = [...known.values()].filter((pod) => pod.metadata.deletionTimestamp === undefined);
          seen.most = Math.max(seen.most, living.length);
          seen.fewestReady = Math.min(seen.fewestReady, living.filter(isPodReady).length);
        }
      };
      look().catch(() => undefined);
      return () => {
        stop.abort();
        return seen;
      };
    },
    async reasons(name: string): Promise<string[]> {
      const { items } = await client.list(
        { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true } as Resource<
          KubeObject & { reason: string; involvedObject: { name: string } }
        >,
        { namespace },
      );
      return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason);
    },
    async writesAtRest(): Promise<number> {
      for (let round = 0; round < 20; round++) await clock.advance(100);
      // Work that nobody awaits may still be in progress. It needs event loop turns, not time.
      await settle(100);
      const revision = async (): Promise<number> =>
        Number((await client.list(Pods, { namespace })).metadata.resourceVersion);
      const before = await revision();
      for (let round = 0; round < 20; round++) await clock.advance(3_000);
      return (await revision()) - before;
    },
  };
  return new Proxy({ ...world, ...extra } as WorkloadWorld, {
    get: (target, key) => (key in state ? state[key as 'fate'] : Reflect.get(target, key)),
    set(target, key, value) {
      return key in state ? Reflect.set(state, key, value) : Reflect.set(target, key, value);
    },
  });
}

const collectedGroups: ReadonlySet<string> = new Set(['apps', 'batch', 'discovery.k8s.io']);
const collectedKinds: ReadonlySet<string> = new Set([
  'Pod',
  'Service',
  'PersistentVolumeClaim',
  'Node',
  'ReplicationController',
]);

/** Following every kind would take longer than most tests. */
function onlyWorkloads(served: ServedResources): ServedResources {
  const isCollected = ({ group, kind }: Resource): boolean =>
    collectedGroups.has(group) || (group === '' && collectedKinds.has(kind));
  return { ...served, listResources: () => served.listResources().filter(isCollected) };
}

/** Schedules Pods and gives them the behaviour the test chose. */
function kubelet(state: Pick<WorkloadWorld, 'fate' | 'mayEnd'>): ControllerDefinition {
  let addresses = 0;
  return defineController({
    name: 'test-kubelet',
    for: Pods,
    watches: [watchObjects(Pods)],
    async reconcile({ client, cache, clock }, key) {
      const pod = cache.lister(Pods).get(key);
      if (!pod) return done();
      if (pod.metadata.deletionTimestamp !== undefined) {
        if (state.mayEnd(pod) && pod.metadata.deletionGracePeriodSeconds !== 0) {
          await client.delete(Pods, key, { gracePeriodSeconds: 0 }).catch(ignoreNotFound);
        }
        return done();
      }
      const fate = state.fate(pod);
      if (fate === 'pending') return done();
      if (pod.spec.nodeName === undefined) {
        const { namespace, name } = pod.metadata;
        const binding = {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: name!, namespace: namespace! },
          target: { apiVersion: 'v1', kind: 'Node', name: boundTo(pod) ?? 'node-1' },
        };
        await client.createSubresource(Pods, key, 'binding', binding, by).catch(ignoreNotFound);
        return done();
      }
      const status = statusFor(pod, fate, formatTime(clock.now()), () => `10.0.0.${++addresses}`);
      if (status) {
        await client.patch(Pods, key, 'merge', { status }, { ...by, subresource: 'status' }).catch(ignoreNotFound);
      }
      return done();
    },
  });
}

function boundTo({ spec }: Pod): string | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution as
    | { nodeSelectorTerms?: { matchFields?: { values?: string[] }[] }[] }
    | undefined;
  return required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0];
}

function statusFor(pod: Pod, fate: PodFate, now: string, address: () => string): JsonObject | undefined {
  const { phase, conditions, containerStatuses } = pod.status ?? {};
  const isReady = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const isCrashing = containerStatuses?.[0]?.state?.waiting !== undefined;
  if (fate === 'succeeded' || fate === 'failed') {
    const desired = fate === 'succeeded' ? 'Succeeded' : 'Failed';
    if (phase === desired) return undefined;
    const terminated = { exitCode: fate === 'succeeded' ? 0 : 1, finishedAt: now };
    return { phase: desired, containerStatuses: [container(pod, { terminated })] };
  }
  if (phase === 'Running' && isReady === (fate === 'ready') && isCrashing === (fate === 'crashing')) return undefined;
  const podIP = pod.status?.podIP ?? address();
  const state: JsonObject = fate === 'crashing' ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: {} };
  return {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [{ type: 'Ready', status: fate === 'ready' ? 'True' : 'False', lastTransitionTime: now }],
    containerStatuses: [container(pod, state)],
  };
}

function container(pod: Pod, state: JsonObject): JsonObject {
  const { name, image = '' } = pod.spec.containers[0]!;
  return { name, image, imageID: image, ready: false, restartCount: 0, state };
}

/** Pod template with one container. */
export function template(
  labels: Record<string, string>,
  image = 'app:1',
): NonNullable<object> & {
  metadata: { labels: Record<string, string> };
  spec: Pod['spec'];
} {
  return { metadata: { labels }, spec: { containers: [{ name: 'app', image }] } };
}
