import {
  ConfigMaps,
  type K0smotronCluster,
  K0smotronClusters,
  PodDisruptionBudgets,
  Pods,
  Secrets,
  StatefulSets,
} from '../../api/index.ts';
import { type Client, objectKey } from '../../client/index.ts';
import {
  adoptionProblems,
  appliedAnnotation,
  type ForeignPlane,
  k0smotronNames,
  keptSecrets,
  releaseProblems,
} from '../../controllers/index.ts';
import { type Clock, ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import { listed } from './listed.ts';
import { adoptionManager } from './owners.ts';
import { waitFor } from './wait.ts';

// k0s control planes in Pods that k0smotron's own program made, or that go back to it.

const by = { fieldManager: adoptionManager };

export interface PlaneSurvey {
  /** what a take-over changes */
  readonly differences: readonly string[];
  readonly obstacles: readonly string[];
}

/** Tells what a take-over does to each plane, and what prevents it. */
export async function surveyK0smotronPlanes(client: Client, signal: AbortSignal): Promise<PlaneSurvey> {
  const differences: string[] = [];
  const obstacles: string[] = [];
  for (const plane of await listed(client, K0smotronClusters, signal)) {
    const foreign = await foreignPlane(client, plane, signal);
    const where = placeOf(plane);
    obstacles.push(...adoptionProblems(foreign).map((problem) => `${where}: ${problem}`));
    const members = foreign.etcd ? `${foreign.etcd.spec.replicas ?? 1} of etcd and ` : '';
    differences.push(
      `${where}: its Pods are created again one after the other, ${members}${foreign.controllers?.spec.replicas ?? 1} of k0s, with the same claims, authorities and addresses`,
    );
  }
  return { differences, obstacles };
}

/** Lists what prevents k0smotron's own program from continuing the planes. */
export async function releaseObstacles(client: Client, signal: AbortSignal): Promise<string[]> {
  const obstacles: string[] = [];
  for (const plane of await listed(client, K0smotronClusters, signal)) {
    const problems = releaseProblems(await foreignPlane(client, plane, signal));
    obstacles.push(...problems.map((problem) => `${placeOf(plane)}: ${problem}`));
  }
  return obstacles;
}

/**
 * Removes the StatefulSets of our controllers and leaves Pods and claims. k0smotron's own program selects Pods by other
 * labels, which cannot be changed in a StatefulSet; it creates its own, which adopt the Pods. Every step can be repeated.
 */
export async function handBackK0smotronPlanes(
  client: Client,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<number> {
  const planes = await listed(client, K0smotronClusters, signal);
  for (const plane of planes) await handBack(client, plane, { clock, signal });
  return planes.length;
}

async function handBack(
  client: Client,
  plane: K0smotronCluster,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const { namespace = '' } = plane.metadata;
  const names = k0smotronNames(plane);
  await labelPods(client, plane, signal);
  for (const name of [names.controllers, names.etcd]) {
    await removeOwned(client, StatefulSets, { plane, name }, { signal, propagationPolicy: 'Orphan' });
    await waitFor(
      async () => {
        const set = await found(client, StatefulSets, { namespace, name }, signal);
        return set && isOurs(plane, set) ? `StatefulSet ${namespace}/${name} is not gone yet` : undefined;
      },
      { clock, signal, patienceMs: 60_000, hint: 'run the same command again to continue' },
    );
    await removeOwned(client, PodDisruptionBudgets, { plane, name }, { signal });
  }
  // last: until then it says which claims belong to the members
  await removeOwned(client, ConfigMaps, { plane, name: names.etcdSettings }, { signal });
}

/** Puts the labels on the Pods that the next StatefulSets select them by. */
async function labelPods(client: Client, plane: K0smotronCluster, signal: AbortSignal): Promise<void> {
  const { namespace = '' } = plane.metadata;
  const names = k0smotronNames(plane);
  for (const part of ['etcd', 'controllers'] as const) {
    const name = names[part];
    const set = await found(client, StatefulSets, { namespace, name }, signal);
    if (!set || !isOurs(plane, set)) continue;
    const labels = names.selector(part);
    for (const pod of (await client.list(Pods, { namespace, signal })).items) {
      if (!pod.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid)) continue;
      if (Object.entries(labels).every(([key, value]) => pod.metadata.labels?.[key] === value)) continue;
      const patch = { metadata: { labels } };
      await client.patch(Pods, objectKey(pod), 'merge', patch, { ...by, signal }).catch(ignoreNotFound);
    }
  }
}

async function foreignPlane(client: Client, plane: K0smotronCluster, signal: AbortSignal): Promise<ForeignPlane> {
  const { namespace = '' } = plane.metadata;
  const names = k0smotronNames(plane);
  const secrets = new Map(
    await Promise.all(
      [...keptSecrets(plane), names.rotationState].map(
        async (name) => [name, await found(client, Secrets, { namespace, name }, signal)] as const,
      ),
    ),
  );
  return {
    plane,
    etcd: await found(client, StatefulSets, { namespace, name: names.etcd }, signal),
    controllers: await found(client, StatefulSets, { namespace, name: names.controllers }, signal),
    secret: (name) => secrets.get(name),
  };
}

async function removeOwned<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  { plane, name }: { plane: K0smotronCluster; name: string },
  { signal, propagationPolicy }: { signal: AbortSignal; propagationPolicy?: 'Orphan' },
): Promise<void> {
  const key = { namespace: plane.metadata.namespace ?? '', name };
  const object = await found(client, resource, key, signal);
  if (!object || !isOurs(plane, object)) return;
  const { uid } = object.metadata;
  const options = { signal, ...(propagationPolicy && { propagationPolicy }), ...(uid && { preconditions: { uid } }) };
  await client.delete(resource, key, options).catch(ignoreNotFound);
}

/** Controllers here mark what they apply; what k0smotron's own program made stays as it is. */
const isOurs = (plane: K0smotronCluster, { metadata }: KubeObject): boolean =>
  metadata.annotations?.[appliedAnnotation] !== undefined &&
  metadata.ownerReferences?.some(({ uid }) => uid === plane.metadata.uid) === true;

async function found<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<T | undefined> {
  return await client.get(resource, key, { signal }).catch(ignoreNotFound);
}

const placeOf = ({ metadata: { namespace, name } }: K0smotronCluster): string =>
  `control plane ${namespace}/${name} (k0smotron)`;
