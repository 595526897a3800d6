import { Clusters, MachineDeployments } from '../../src/api/index.ts';
import { hostedNaming, k0smotronNaming, kamajiNaming, type PlaneNaming } from '../../src/hosting/index.ts';
import { isNotFound, type Random } from '../../src/machinery/index.ts';
import { ensure, patch, pick, type Teller, tell } from './actions.ts';
import { namespace, oldestVersion, versions } from './cluster-manifests.ts';
import {
  type HostedKind,
  type HostedSpec,
  hostedKinds,
  hostedManifests,
  planeKinds,
  workersName,
  workerTemplates,
  workerVersionSpec,
} from './hosted-manifests.ts';
import { by } from './system.ts';

/** The user's current desired state of a hosted plane, and its history. */
export interface HostedStory extends Teller {
  desired: HostedSpec;
  /** requested rotations by subject, with their token */
  readonly rotations: Map<Rotatable, string>;
  /** version the whole plane has reached; upgrades must not skip a minor version */
  reachedVersion: string | undefined;
  /** the deletion of the plane was requested */
  isDeleted: boolean;
  /** time until which injected faults may cost etcd its majority */
  excusedUntil: number;
  /** time of the last fault of the plane */
  lastInjectedFault: number;
  /** workers were upgraded or lost, so new ones are expected */
  hasNewWorkers: boolean;
}

/** Time for etcd to recover after several members were stopped at once. */
export const recoveryMs = 180_000;

const planeName = 'c0';

/** Releases of a plane while its workers stay at the first one. The last is too far ahead of them. */
export const lagging: readonly [string, ...string[]] = [oldestVersion, 'v1.30.14', 'v1.31.13', 'v1.32.8', 'v1.33.6'];

/** Reports whether the workers of this seed stay behind until the plane cannot continue. */
export const lagsBehind = (seed: number): boolean => seed % 8 === 5;

export type Rotatable = 'ca' | 'etcd-ca' | 'front-proxy-ca' | 'sa';

export function drawHostedSpec(random: Random, seed: number): HostedSpec {
  const drawn = random.next() < 0.5 ? versions[0] : versions[1];
  const version = lagsBehind(seed) ? lagging[0] : drawn;
  return {
    name: planeName,
    kind: hostedKinds[seed % hostedKinds.length]!,
    replicas: random.next() < 0.6 ? 1 : 3,
    workers: random.next() < 0.7 ? 1 : 2,
    version,
    workerVersion: version,
    deletesVolumes: random.next() < 0.7,
  };
}

const namings: Readonly<Record<HostedKind, PlaneNaming>> = {
  k0smotron: k0smotronNaming(planeName, 'LoadBalancer'),
  kamaji: kamajiNaming(planeName),
  hosted: hostedNaming(planeName),
};

export const namesOf = ({ kind }: HostedSpec): PlaneNaming => namings[kind];

/** Creates all objects in random order. */
export async function applyHostedSpec(story: HostedStory): Promise<void> {
  tell(story, `the user wants ${JSON.stringify(story.desired)}`);
  const left = hostedManifests(story.desired);
  while (left.length > 0) {
    const [manifest] = left.splice(Math.floor(story.random.next() * left.length), 1);
    await story.system.client.create(manifest!.resource, manifest!.object, by);
  }
}

type Change = (story: HostedStory) => Promise<void>;

const changes: Readonly<Record<string, Change>> = {
  async 'scale the plane'(story) {
    const replicas = story.desired.replicas === 1 ? 3 : 1;
    await patchPlane(story, { spec: { replicas } });
    story.desired = { ...story.desired, replicas };
  },
  upgrade,
  rotate,
  async 'rotate in the middle of an upgrade'(story) {
    await upgrade(story);
    await story.system.pass(Math.floor(story.random.next() * 20_000));
    await rotate(story);
  },
  async 'scale in the middle of a rotation'(story) {
    await rotate(story);
    await story.system.pass(Math.floor(story.random.next() * 20_000));
    await changes['scale the plane']!(story);
  },
  'upgrade workers': upgradeWorkers,
  async 'scale workers'(story) {
    const { kind, version, workerVersion } = story.desired;
    const workers = story.desired.workers === 1 ? 2 : 1;
    // kubeadm of another minor version cannot join, so there are no new workers before the existing ones are upgraded.
    if (workers > 1 && kind !== 'k0smotron' && version !== workerVersion) return;
    story.reachedVersion = undefined;
    await patch(story, MachineDeployments, workersName(story.desired), { spec: { replicas: workers } });
    // Of two Ready workers either may be deleted, also the older one.
    if (workers < story.desired.workers) story.hasNewWorkers = true;
    story.desired = { ...story.desired, workers };
  },
  async 'sleep and wake'(story) {
    story.excusedUntil = Number.POSITIVE_INFINITY;
    await patchPlane(story, { spec: { replicas: 0 } });
    await story.system.pass(Math.floor(story.random.next() * 120_000));
    await patchPlane(story, { spec: { replicas: story.desired.replicas } });
    story.excusedUntil = story.system.clock.now() + recoveryMs;
  },
  async 'pause for a while'(story) {
    await patch(story, Clusters, story.desired.name, { spec: { paused: true } });
    await story.system.pass(30_000);
    await patch(story, Clusters, story.desired.name, { spec: { paused: null } });
  },
};

async function upgrade(story: HostedStory): Promise<void> {
  const { desired, reachedVersion } = story;
  if (versions.every((one) => one !== desired.version)) return;
  const version = versions[(versions as readonly string[]).indexOf(desired.version) + 1];
  // A plane during an upgrade is not sent to the next version.
  if (version === undefined || reachedVersion !== desired.version) return;
  await upgradePlane(story, version);
}

export async function upgradePlane(story: HostedStory, version: string): Promise<void> {
  tell(story, `  to ${version}`);
  await patchPlane(story, { spec: { version: planeKinds[story.desired.kind].kubernetesVersion(version) } });
  story.desired = { ...story.desired, version };
}

/** Upgrades the workers to the version of the plane. */
async function upgradeWorkers(story: HostedStory): Promise<void> {
  const { version, workerVersion } = story.desired;
  if (workerVersion === version || story.reachedVersion !== version) return;
  await upgradeWorkersTo(story, version);
}

export async function upgradeWorkersTo(story: HostedStory, version: string): Promise<void> {
  const desired = { ...story.desired, workerVersion: version };
  tell(story, `  to ${version}`);
  for (const manifest of workerTemplates(desired)) await ensure(story, manifest);
  await patch(story, MachineDeployments, workersName(desired), {
    spec: { template: { spec: workerVersionSpec(desired) } },
  });
  story.desired = desired;
  story.hasNewWorkers = true;
}

async function rotate(story: HostedStory): Promise<void> {
  const { secrets } = namesOf(story.desired);
  const rotatables: readonly Rotatable[] = ['ca', 'etcd-ca', 'front-proxy-ca', 'sa'];
  // Overlaps last longer than the simulation, so nothing is rotated twice.
  const left = rotatables.filter((each) => secrets[each] !== undefined && !story.rotations.has(each));
  if (left.length === 0) return;
  const what = pick(story.random, left);
  const token = `at-${story.system.clock.now()}`;
  tell(story, `  rotates ${what}`);
  await patchPlane(story, { metadata: { annotations: { [`controlplane.cluster.x-k8s.io/rotate-${what}`]: token } } });
  story.rotations.set(what, token);
}

function patchPlane(story: HostedStory, body: Parameters<typeof patch>[3]): Promise<void> {
  return patch(story, planeKinds[story.desired.kind].resource, story.desired.name, body);
}

/** Makes a random change to the desired state. */
export async function changeHosted(story: HostedStory): Promise<void> {
  const name = pick(story.random, Object.keys(changes));
  tell(story, `the user: ${name}`);
  await changes[name]!(story);
}

export async function deleteHosted(story: HostedStory): Promise<void> {
  tell(story, 'the user deletes the cluster');
  story.isDeleted = true;
  await story.system.client.delete(Clusters, { namespace, name: story.desired.name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
