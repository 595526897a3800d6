import type { RestMapper } from '../../client/index.ts';
import {
  isForbidden,
  isNotFound,
  type KubeObject,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import { noSuchCluster } from '../no-such-cluster.ts';
import { type AnyObject, type ObjectReference, referenceAt, referenceKey, referenceOf, textAt } from './fields.ts';

/** A cluster and its objects, as shown in the tree. */
export interface ClusterObjects {
  cluster: AnyObject;
  objects: AnyObject[];
  /** references to objects that do not exist */
  missing?: readonly ObjectReference[];
}

export const clusterGroup = 'cluster.x-k8s.io';
const addonsGroup = 'addons.cluster.x-k8s.io';
const stacksGroup = 'clusterstack.x-k8s.io';

/** Kinds whose objects have the cluster name label. */
const labelledKinds = ['Machine', 'MachineSet', 'MachineDeployment', 'MachinePool'];

export function clusterSelector(cluster: string): string {
  return `cluster.x-k8s.io/cluster-name=${cluster}`;
}

/** Returns the kinds of the tree that the API serves. */
export async function servedKinds(mapper: RestMapper, signal: AbortSignal): Promise<Resource[]> {
  const found = await Promise.all(
    labelledKinds.map((kind) => mapper.forKind({ group: clusterGroup, kind }, { signal })),
  );
  return found.filter((resource) => resource !== undefined);
}

/** Returns the references of the tree besides the labelled kinds. */
export function referencesOf({ cluster, objects }: ClusterObjects): ObjectReference[] {
  const references = new Map<string, ObjectReference>();
  const add = (reference: ObjectReference | undefined): void => {
    if (reference) references.set(referenceKey(reference), reference);
  };
  add(referenceAt(cluster, 'spec', 'infrastructureRef'));
  add(referenceAt(cluster, 'spec', 'controlPlaneRef'));
  for (const object of objects) {
    if (object.kind === 'Machine') {
      add(referenceAt(object, 'spec', 'infrastructureRef'));
      add(referenceAt(object, 'spec', 'bootstrap', 'configRef'));
    } else if (object.kind === 'MachinePool') {
      add(referenceAt(object, 'spec', 'template', 'spec', 'infrastructureRef'));
      add(referenceAt(object, 'spec', 'template', 'spec', 'bootstrap', 'configRef'));
    }
  }
  return [...references.values()];
}

/** Reads a cluster with all objects of its tree: one list per kind, and single objects that the lists miss. */
export async function readCluster(
  { client, mapper, namespace }: Connection,
  name: string,
  options: { resourceSets: boolean; signal: AbortSignal },
): Promise<ClusterObjects> {
  const { signal } = options;
  const clusters = await mapper.forKind({ group: clusterGroup, kind: 'Cluster' }, { signal });
  if (!clusters) throw noSuchCluster(name, namespace);
  const kinds = await servedKinds(mapper, signal);
  const list = async (resource: Resource): Promise<UnstructuredObject[]> =>
    (await client.list<UnstructuredObject>(resource as Resource<UnstructuredObject>, selected)).items;
  const selected = { namespace, labelSelector: clusterSelector(name), signal };
  const [cluster, ...lists] = await Promise.all([
    client.get<KubeObject>(clusters, { namespace, name }, { signal }).catch((error: unknown) => {
      throw isNotFound(error) ? noSuchCluster(name, namespace) : error;
    }),
    ...kinds.map(list),
  ]);
  const missing: ObjectReference[] = [];
  const found: ClusterObjects = { cluster, objects: lists.flat(), missing };
  if (options.resourceSets) found.objects.push(...(await readResourceSets()));
  found.objects.push(...(await readAddons()));

  const wanted = new Map<string, ObjectReference[]>();
  for (const reference of referencesOf(found)) {
    const id = `${reference.group}/${reference.kind}`;
    wanted.set(id, [...(wanted.get(id) ?? []), reference]);
  }
  const referred = await Promise.all([...wanted.values()].map(readReferred));
  found.objects.push(...referred.flat());
  return found;

  /** Reads the add-ons of a stack; without permission the cluster is shown without them. */
  async function readAddons(): Promise<AnyObject[]> {
    const resource = await mapper.forKind({ group: stacksGroup, kind: 'ClusterAddon' }, { signal });
    if (!resource) return [];
    try {
      const { items } = await client.list(resource, { namespace, signal });
      return items.filter((addon) => textAt(addon, 'spec', 'clusterRef', 'name') === name);
    } catch (error) {
      if (isForbidden(error)) return [];
      throw error;
    }
  }

  async function readReferred(references: readonly ObjectReference[]): Promise<AnyObject[]> {
    const [{ group, kind }] = references as [ObjectReference];
    const resource = await mapper.forKind({ group, kind }, { signal });
    if (!resource) {
      missing.push(...references);
      return [];
    }
    const objects: AnyObject[] = references.length > 1 ? await list(resource) : [];
    const known = new Set(objects.map((object) => referenceKey(referenceOf(object))));
    const unlisted = references.filter((reference) => !known.has(referenceKey(reference)));
    const single = await Promise.all(unlisted.map((reference) => readOptional(resource, reference.name)));
    missing.push(...unlisted.filter((_reference, index) => single[index] === undefined));
    return [...objects, ...single.filter((object) => object !== undefined)];
  }

  async function readResourceSets(): Promise<AnyObject[]> {
    const [bindings, sets] = await Promise.all(
      ['ClusterResourceSetBinding', 'ClusterResourceSet'].map((kind) =>
        mapper.forKind({ group: addonsGroup, kind }, { signal }),
      ),
    );
    const binding = bindings && (await readOptional(bindings, name));
    const items = sets ? (await client.list(sets, { namespace, signal })).items : [];
    return binding ? [binding, ...items] : [];
  }

  async function readOptional(resource: Resource, objectName: string): Promise<AnyObject | undefined> {
    try {
      return await client.get(resource, { namespace, name: objectName }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
