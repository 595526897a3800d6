import {
  Clusters,
  ConfigMaps,
  Deployments,
  Machines,
  Nodes,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  Secrets,
  Services,
  StatefulSets,
} from '../../src/api/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../src/machinery/index.ts';
import { collect } from '../../src/openstack/index.ts';
import type { InProcessApi, SimulatedKubernetes } from '../../src/simkube/index.ts';
import { namespace } from './cluster-manifests.ts';
import { planeKinds } from './hosted-manifests.ts';
import { connectBeside } from './hosted-pods.ts';
import { type HostedStory, namesOf } from './hosted-story.ts';
import { InvariantViolation } from './invariants.ts';
import type { System } from './system.ts';

type EtcdCluster = ReturnType<SimulatedKubernetes['clusters']['etcds']>[number];

const condition = (object: KubeObject, type: string): string | undefined =>
  (object as { status?: { conditions?: { type: string; status: string }[] } }).status?.conditions?.find(
    (each) => each.type === type,
  )?.status;

/** Returns the etcd of only this plane; Kamaji's is shared. */
export function etcdOf({ system, desired }: HostedStory): EtcdCluster | undefined {
  const { etcd } = namesOf(desired);
  return system.pods?.kubernetes.clusters
    .etcds()
    .find(({ members }) => members.some(({ name }) => name.startsWith(`${etcd}-`)));
}

export async function find<T extends KubeObject>(
  { client }: System,
  resource: Resource<T>,
  name: string,
): Promise<T | undefined> {
  return await client.get(resource, { namespace, name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
}

/** Connects to the workload cluster like its users. */
async function workload({ system, desired }: HostedStory): Promise<InProcessApi | undefined> {
  const secret = await find(system, Secrets, `${desired.name}-kubeconfig`);
  const kubeconfig = secret?.data?.['value'];
  if (kubeconfig === undefined || !system.pods) return undefined;
  const connect = connectBeside(system.pods, system.cloud.network);
  return await connect(Buffer.from(kubeconfig, 'base64').toString('utf8'));
}

/** Earlier observations of a plane, for comparison. */
export interface Memory {
  endpoint?: string;
  /** number of voting etcd members */
  voters: number;
  wasAvailable: boolean;
  /** uids of the cluster's Machines when it last matched the desired state */
  workers: ReadonlySet<string>;
  /** revision of objects and cloud at the last check */
  revision: number;
}

/** Checks the invariants that always hold. */
export async function checkPlane(story: HostedStory, memory: Memory): Promise<void> {
  if (story.isDeleted) return;
  checkMajority(story, memory);
  const { system, desired } = story;
  const revision = system.revision();
  if (revision === memory.revision) return;
  memory.revision = revision;
  const cluster = await find(system, Clusters, desired.name);
  const { host, port } = cluster?.spec.controlPlaneEndpoint ?? {};
  if (host) {
    const endpoint = `${host}:${port}`;
    memory.endpoint ??= endpoint;
    if (memory.endpoint !== endpoint) {
      throw new InvariantViolation('the endpoint of a cluster never changes', `${memory.endpoint} became ${endpoint}`);
    }
  }
  await checkAvailability(story, memory);
}

/** Three members lose at most one at a time, except by injected faults. */
function checkMajority(story: HostedStory, memory: Memory): void {
  const etcd = etcdOf(story);
  if (!etcd) return;
  const voters = etcd.members.filter(({ isLearner }) => !isLearner);
  const hadMajority = memory.voters === voters.length;
  if (etcd.hasQuorum) memory.voters = voters.length;
  // One member, or two while scaling to three, cannot be replaced without an interruption. While etcd is bootstrapping,
  // members join first.
  else if (voters.length >= 3 && hadMajority && story.system.clock.now() >= story.excusedUntil) {
    const down = voters.filter(({ id }) => !etcd.isRunning(id)).map(({ name }) => name);
    throw new InvariantViolation('a majority of etcd is never given away', `${down.join(' and ')} are down`);
  }
}

/** A plane that is reported as available must answer. */
async function checkAvailability(story: HostedStory, memory: Memory): Promise<void> {
  const { system, desired } = story;
  const plane = await find(system, planeKinds[desired.kind].resource, desired.name);
  const isAvailable = plane !== undefined && condition(plane, 'Available') === 'True';
  const hasBecomeSo = isAvailable && !memory.wasAvailable;
  memory.wasAvailable = isAvailable;
  // A fault may have occurred after the observation.
  if (!hasBecomeSo || system.clock.now() < story.lastInjectedFault + 10_000) return;
  const api = await workload(story);
  try {
    if (!api) throw new Error('nobody has a kubeconfig for it');
    await api.probe(new AbortController().signal);
  } catch (error) {
    if (await isBeingReplaced(story)) return;
    throw new InvariantViolation(
      'status is observed',
      `the plane is Available, but: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** longest time from an observation to the write of the status that reports it */
const reportDelayMs = 5_000;

/** A rollout may delete the only API server between the observation and the write of the status. */
async function isBeingReplaced({ system, desired }: HostedStory): Promise<boolean> {
  const pods = (await system.client.list(Pods, { namespace })).items;
  const servers = pods.filter((pod) => isApiServer(desired.kind, pod));
  const now = system.clock.now();
  return (
    servers.length > 0 &&
    servers.every(({ metadata: { deletionTimestamp, deletionGracePeriodSeconds = 0 } }) => {
      if (deletionTimestamp === undefined) return false;
      const deletedAt = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
      return now - deletedAt <= reportDelayMs;
    })
  );
}

const isReady = (object: KubeObject): boolean =>
  !object.metadata.deletionTimestamp && condition(object, 'Ready') === 'True';

/** Returns why the plane differs from its desired state, based on actual state and not only on its status. */
export async function hostedDiffers(story: HostedStory, memory: Memory): Promise<string | undefined> {
  const { system, desired } = story;
  const { client } = system;
  const cluster = await find(system, Clusters, desired.name);
  if (!cluster || condition(cluster, 'Available') !== 'True') return 'the Cluster is not Available';
  const plane = await find(system, planeKinds[desired.kind].resource, desired.name);
  if (!plane || condition(plane, 'Available') !== 'True') return 'the plane is not Available';
  const pods = (await client.list(Pods, { namespace })).items;
  const ill = pods.find((pod) => !isReady(pod));
  if (ill) return `Pod ${ill.metadata.name} is not Ready`;
  const why =
    apiServersDiffer(story, pods) ?? etcdDiffers(story) ?? (await rotationsDiffer(story)) ?? (await nodesDiffer(story));
  if (why !== undefined) return why;
  const own = (await client.list(Machines, { namespace })).items;
  if (own.length !== desired.workers) return `there are ${own.length} Machines, not ${desired.workers}`;
  const stale = own.find(({ spec }) => spec.version !== desired.workerVersion);
  if (stale) return `Machine ${stale.metadata.name} has version ${stale.spec.version}, not ${desired.workerVersion}`;
  const unready = own.find((machine) => !isReady(machine));
  if (unready) return `Machine ${unready.metadata.name} is not Ready`;
  const servers = await collect(system.admin.compute.servers.list({ allTenants: true }));
  if (servers.length !== own.length) return `there are ${servers.length} servers for ${own.length} Machines`;
  checkWorkers(story, memory, own);
  return undefined;
}

/** Changes of a plane must not replace workers. */
function checkWorkers(story: HostedStory, memory: Memory, own: readonly KubeObject[]): void {
  const now = new Set(own.map(({ metadata }) => metadata.uid ?? ''));
  const kept = [...memory.workers].filter((uid) => now.has(uid)).length;
  if (!story.hasNewWorkers && kept < Math.min(memory.workers.size, story.desired.workers)) {
    throw new InvariantViolation(
      'workers outlive changes of their plane',
      `${kept} of ${memory.workers.size} are left`,
    );
  }
  memory.workers = now;
  story.hasNewWorkers = false;
}

function apiServerImages(kind: HostedStory['desired']['kind'], { spec }: Pod): string[] {
  const program = kind === 'k0smotron' ? /\/k0s:/ : /\/kube-apiserver:/;
  return spec.containers.map(({ image = '' }) => image).filter((image) => program.test(image));
}

const isApiServer = (kind: HostedStory['desired']['kind'], pod: Pod): boolean => apiServerImages(kind, pod).length > 0;

function apiServersDiffer({ desired }: HostedStory, pods: readonly Pod[]): string | undefined {
  const images = pods.flatMap((pod) => apiServerImages(desired.kind, pod));
  if (images.length !== desired.replicas) return `there are ${images.length} API servers, not ${desired.replicas}`;
  return images.find((image) => !image.includes(desired.version));
}

function etcdDiffers(story: HostedStory): string | undefined {
  const { desired } = story;
  if (desired.kind === 'kamaji') return undefined;
  const etcd = etcdOf(story);
  const wanted = desired.kind === 'hosted' ? 3 : desired.replicas;
  const voters = etcd?.members.filter(({ id, isLearner }) => !isLearner && etcd.isRunning(id)) ?? [];
  const isWhole = voters.length === wanted && etcd?.members.length === wanted;
  return isWhole
    ? undefined
    : `etcd has ${etcd?.members.length} members, of which ${voters.length} vote, not ${wanted}`;
}

/** Old authorities stay trusted longer than the simulation runs. */
async function rotationsDiffer({ system, desired, rotations }: HostedStory): Promise<string | undefined> {
  if (rotations.size === 0) return undefined;
  const secret = await find(system, Secrets, namesOf(desired).rotationState);
  const text = Buffer.from(secret?.data?.['state'] ?? '', 'base64').toString('utf8') || '{}';
  const state = JSON.parse(text) as { rotations?: Record<string, { record: { phase: string; request?: string } }> };
  for (const [what, token] of rotations) {
    const record = state.rotations?.[what]?.record;
    if (record?.request !== token || record.phase === 'introduced') return `${what} is not rotated: ${record?.phase}`;
  }
  return undefined;
}

async function nodesDiffer(story: HostedStory): Promise<string | undefined> {
  try {
    const nodes = (await (await workload(story))?.client.list(Nodes, {}))?.items ?? [];
    const ready = nodes.filter(isReady).length;
    return ready === story.desired.workers && nodes.length === ready
      ? undefined
      : `${ready} of ${nodes.length} Nodes are Ready, not ${story.desired.workers}`;
  } catch (error) {
    return `the workload API does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Returns the objects left in the namespace of a deleted plane, except those of its user. */
export async function leftOfPlane({ system, desired }: HostedStory): Promise<string[]> {
  const kept: ReadonlySet<string> = new Set([
    'Secret cloud-config',
    'Secret for-every-cluster',
    'Service kubernetes',
    'ConfigMap kube-root-ca.crt',
  ]);
  const kinds: readonly Resource<KubeObject>[] = [
    Clusters,
    Machines,
    planeKinds[desired.kind].resource,
    Pods,
    StatefulSets,
    Deployments,
    Services,
    Secrets,
    ConfigMaps,
    PersistentVolumeClaims,
  ];
  const left: string[] = [];
  for (const kind of kinds) {
    if (
      kind === (PersistentVolumeClaims as Resource<KubeObject>) &&
      !desired.deletesVolumes &&
      desired.kind === 'k0smotron'
    ) {
      continue;
    }
    for (const { metadata } of (await system.client.list(kind, { namespace })).items) {
      const what = `${kind.kind} ${metadata.name}`;
      if (!kept.has(what)) left.push(what);
    }
  }
  return left;
}
