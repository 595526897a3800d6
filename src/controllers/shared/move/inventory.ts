import { ConfigMaps, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../../machinery/index.ts';
import { hostedPlaneKinds, movableKinds } from './movable-kinds.ts';
import { moveLabel } from './names.ts';
import type { MovedObject } from './ownership-levels.ts';
import { type UsedObjects, usedObjects } from './references.ts';

export interface Inventory {
  readonly objects: readonly MovedObject[];
  readonly hostedPlanes: readonly KubeObject[];
  readonly used: UsedObjects;
}

const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

/**
 * Lists what is moved with the clusters of a namespace: all objects of our kinds, and the Secrets and ConfigMaps they
 * need.
 */
export async function takeInventory(source: Client, namespace: string, signal: AbortSignal): Promise<Inventory> {
  const list = async (resource: Resource<KubeObject>): Promise<MovedObject[]> =>
    (await listOf(source, resource, namespace, signal)).map((object) => ({ resource, object, isCopied: false }));
  const moved = (await Promise.all(movableKinds.map(list))).flat();
  const hostedPlanes = (
    await Promise.all(hostedPlaneKinds.map((resource) => listOf(source, resource, namespace, signal)))
  ).flat();
  const used = usedObjects(moved.map(({ object }) => object));
  const uids = new Set(moved.map(({ object }) => object.metadata.uid));
  const clusters = moved
    .filter(({ object }) => object.kind === 'Cluster')
    .map(({ object }) => object.metadata.name ?? '');

  const belongs = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[moveLabel] !== undefined ||
    (metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid)) ||
    clusters.includes(metadata.labels?.[clusterNameLabel] ?? '') ||
    clusters.some((name) => clusterSecrets.some((ending) => metadata.name === `${name}-${ending}`));
  const others = async (resource: Resource<KubeObject>, names: ReadonlySet<string>): Promise<MovedObject[]> =>
    (await listOf(source, resource, namespace, signal)).flatMap((object): MovedObject[] => {
      if (belongs(object)) return [{ resource, object, isCopied: false }];
      return names.has(object.metadata.name ?? '') ? [{ resource, object, isCopied: true }] : [];
    });
  const plain = await Promise.all([
    others(Secrets as Resource<KubeObject>, used.secrets),
    others(ConfigMaps as Resource<KubeObject>, used.configMaps),
  ]);
  return { objects: [...moved, ...plain.flat()], hostedPlanes, used };
}

/** Suffixes of cluster Secrets, which users may have created without an owner reference. */
const clusterSecrets = ['ca', 'etcd', 'sa', 'proxy', 'kubeconfig'];

/** Returns an empty list if the kind is not served. */
export async function listOf(
  client: Client,
  resource: Resource<KubeObject>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  try {
    const { items } = await client.list(resource, { namespace, signal });
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    // list items of typed APIs lack apiVersion and kind
    return items.map((item) => ({ ...item, apiVersion, kind: resource.kind }));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
