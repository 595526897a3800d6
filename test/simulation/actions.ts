import { Clusters, MachineDeployments, Machines } from '../../src/api/index.ts';
import { isAlreadyExists, isConflict, isNotFound, type JsonObject, type Random } from '../../src/machinery/index.ts';
import {
  type ClusterSpec,
  controlPlaneName,
  deploymentName,
  type Manifest,
  machineTemplate,
  manifestsOf,
  namespace,
  planesOf,
  releaseOf,
  templateName,
  versions,
} from './cluster-manifests.ts';
import { beginning, by, type System } from './system.ts';

/** Records the events of a simulation. */
export interface Teller {
  readonly system: System;
  readonly random: Random;
  /** events, for reading a failure */
  readonly log: string[];
  readonly onTell?: ((line: string) => void) | undefined;
}

/** The user's current desired state, which changes during the simulation. */
export interface Story extends Teller {
  specs: ClusterSpec[];
  /** how clusters are expressed and changed */
  readonly style: Style;
  /** a control plane machine was lost, so no second one may be lost */
  hasLostControlPlane?: boolean;
}

/** One of several ways to define clusters. */
export interface Style {
  readonly distribution?: ClusterSpec['distribution'];
  manifestsOf(desired: ClusterSpec): Manifest[];
  readonly changes: Readonly<Record<string, Change>>;
  /** reports a difference from the desired state, besides the common checks */
  differs?(story: Story, desired: ClusterSpec): Promise<string | undefined>;
  /** false: manifests alone do not determine the result */
  readonly isPlanned?: boolean;
  /** objects that must also be gone after all clusters are deleted */
  left?(story: Story): Promise<string[]>;
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random.next() * items.length)]!;

/** Large clusters are rare: small ones show most bugs and run in a fraction of the time. */
export function drawSpec(random: Random, index: number, isLarge: boolean): ClusterSpec {
  return {
    name: `c${index}`,
    index,
    endpoint: random.next() < 0.5 ? 'floating-ip' : 'load-balancer',
    controlPlanes: random.next() < (isLarge ? 0.5 : 0.05) ? 3 : 1,
    workers: Math.floor(random.next() * (isLarge ? 3 : 2)),
    version: random.next() < 0.5 ? versions[0] : versions[1],
    flavor: 'm1.medium',
    bootFromVolume: random.next() < 0.25,
    healthCheck: random.next() < 0.5,
  };
}

export function tell(story: Teller, what: string): void {
  const seconds = Math.round((story.system.clock.now() - beginning) / 1_000);
  const line = `${String(seconds).padStart(6)} s  ${what}`;
  story.log.push(line);
  story.onTell?.(line);
}

/** Creates all objects in random order. */
export async function applySpec(story: Story, desired: ClusterSpec): Promise<void> {
  const left = story.style.manifestsOf(desired);
  tell(story, `the user wants ${JSON.stringify(desired)}`);
  while (left.length > 0) {
    const [manifest] = left.splice(Math.floor(story.random.next() * left.length), 1);
    await story.system.client.create(manifest!.resource, manifest!.object, by);
  }
  story.specs.push(desired);
}

/** Creates an object, which may already exist. */
export async function ensure(story: Teller, { resource, object }: Manifest): Promise<void> {
  try {
    await story.system.client.create(resource, object, by);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Changes of a cluster at any time. */
export type Change = (story: Story, desired: ClusterSpec) => Promise<ClusterSpec | undefined>;

export const changes: Readonly<Record<string, Change>> = {
  async 'scale workers'(story, desired) {
    const workers = Math.floor(story.random.next() * 4);
    await patch(story, MachineDeployments, deploymentName(desired), { spec: { replicas: workers } });
    return { ...desired, workers };
  },
  async 'scale the control plane'(story, desired) {
    const controlPlanes = desired.controlPlanes === 1 ? 3 : 1;
    await patch(story, planesOf(desired), controlPlaneName(desired), { spec: { replicas: controlPlanes } });
    return { ...desired, controlPlanes };
  },
  async upgrade(story, desired) {
    const version = versions[versions.indexOf(desired.version as (typeof versions)[number]) + 1];
    if (version === undefined) return undefined;
    const next = { ...desired, version };
    await roll(story, next);
    return next;
  },
  async 'other machines'(story, desired) {
    const next = { ...desired, flavor: desired.flavor === 'm1.medium' ? 'm1.large' : 'm1.medium' };
    await roll(story, next);
    return next;
  },
  async 'delete a machine'(story, desired) {
    const { items } = await story.system.client.list(Machines, { namespace });
    const own = items.filter(({ spec, metadata }) => spec.clusterName === desired.name && !metadata.deletionTimestamp);
    const controlPlanes = own.filter(
      ({ metadata }) => metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined,
    );
    // The loss of the only control plane machine destroys the cluster, so this is never requested.
    const safe = controlPlanes.length > 2 ? own : own.filter((machine) => !controlPlanes.includes(machine));
    if (safe.length === 0) return undefined;
    const { name } = pick(story.random, safe).metadata;
    await story.system.client.delete(Machines, { namespace, name: name! });
    tell(story, `the user deleted Machine ${name}`);
    return desired;
  },
  async 'pause for a while'(story, desired) {
    await patch(story, Clusters, desired.name, { spec: { paused: true } });
    await story.system.pass(30_000);
    await patch(story, Clusters, desired.name, { spec: { paused: null } });
    return desired;
  },
};

/** The user writes every object. */
export const plainStyle: Style = { manifestsOf, changes };
/** The same with control planes and machines of rke2. */
export const rke2Style: Style = { manifestsOf, changes, distribution: 'rke2' };

async function roll(story: Story, next: ClusterSpec): Promise<void> {
  await ensure(story, machineTemplate(next, 'control-plane'));
  await ensure(story, machineTemplate(next, 'workers'));
  await patch(story, planesOf(next), controlPlaneName(next), {
    spec: {
      version: releaseOf(next),
      machineTemplate: { spec: { infrastructureRef: { name: templateName(next, 'control-plane') } } },
    },
  });
  await patch(story, MachineDeployments, deploymentName(next), {
    spec: {
      template: { spec: { version: releaseOf(next), infrastructureRef: { name: templateName(next, 'workers') } } },
    },
  });
}

/** Changes the desired state of a random cluster. */
export async function changeSomething(story: Story): Promise<void> {
  if (story.specs.length === 0) return;
  const desired = pick(story.random, story.specs);
  const { changes } = story.style;
  const name = pick(story.random, Object.keys(changes));
  tell(story, `the user: ${name} of ${desired.name}`);
  const next = await changes[name]!(story, desired);
  if (next) story.specs = story.specs.map((each) => (each === desired ? next : each));
}

export async function deleteCluster(story: Story, desired: ClusterSpec): Promise<void> {
  tell(story, `the user deletes ${desired.name}`);
  story.specs = story.specs.filter((each) => each !== desired);
  await story.system.client.delete(Clusters, { namespace, name: desired.name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

export async function patch(
  story: Teller,
  resource: Parameters<System['client']['patch']>[0],
  name: string,
  body: JsonObject,
): Promise<void> {
  for (;;) {
    try {
      await story.system.client.patch(resource, { namespace, name }, 'merge', body, by);
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}
