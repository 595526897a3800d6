import {
  Clusters,
  type ContractReference,
  clusterNameLabel,
  Images,
  IPAddressClaims,
  IPAddresses,
  KubeadmConfigs,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  MachineDeployments,
  MachineSets,
  Machines,
  Namespaces,
  OpenStackClusterIdentities,
  OpenStackClusters,
  OpenStackFloatingIPPools,
  OpenStackMachines,
  OpenStackMachineTemplates,
  OpenStackServers,
  ownDefinitions,
  RKE2Configs,
  RKE2ConfigTemplates,
  RKE2ControlPlanes,
  Secrets,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import type { RehearsedObjects } from '../../controllers/index.ts';
import {
  asUnstructured,
  formatApiVersion,
  isJsonObject,
  isNotFound,
  type KubeObject,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';

/** Kinds of a cluster that determine its infrastructure. */
const kinds: readonly Resource<KubeObject>[] = [
  Clusters,
  OpenStackClusters,
  KubeadmControlPlanes,
  RKE2ControlPlanes,
  MachineDeployments,
  MachineSets,
  Machines,
  OpenStackMachines,
  OpenStackServers,
  OpenStackMachineTemplates,
  KubeadmConfigs,
  KubeadmConfigTemplates,
  RKE2Configs,
  RKE2ConfigTemplates,
  IPAddressClaims,
  IPAddresses,
  OpenStackFloatingIPPools,
  Images,
];

/** Objects by kind, namespace and name, in the version that the controllers read. */
export class ObjectSet {
  readonly #objects = new Map<string, UnstructuredObject>();
  #known: Index | undefined;

  static async of(objects: readonly UnstructuredObject[]): Promise<ObjectSet> {
    const set = new ObjectSet();
    for (const object of objects) set.#objects.set(idOf(object), await inHubVersion(object));
    return set;
  }

  /** Returns these objects, and those of `others` that are missing here. */
  over(others: ObjectSet): ObjectSet {
    const set = new ObjectSet();
    for (const [id, object] of [...others.#objects, ...this.#objects]) set.#objects.set(id, object);
    return set;
  }

  all(): UnstructuredObject[] {
    return [...this.#objects.values()];
  }

  find(
    kind: string,
    { namespace, name }: { namespace?: string | undefined; name: string },
  ): UnstructuredObject | undefined {
    return this.#index().byName.get(nameKey(namespace, kind, name));
  }

  /** Returns the objects that refer to this one. */
  usersOf({ kind, metadata }: UnstructuredObject): readonly UnstructuredObject[] {
    return this.#index().users.get(nameKey(metadata.namespace, kind, metadata.name ?? '')) ?? [];
  }

  /** Returns the objects that name this cluster as theirs. */
  ofCluster({ namespace, name }: { namespace: string; name: string }): readonly UnstructuredObject[] {
    return this.#index().ofCluster.get(`${namespace}/${name}`) ?? [];
  }

  /** Returns objects that all clusters of a namespace may use. */
  sharedIn(namespace: string): readonly UnstructuredObject[] {
    return this.#index().shared.get(namespace) ?? [];
  }

  has(object: UnstructuredObject): boolean {
    return this.#objects.has(idOf(object));
  }

  #index(): Index {
    this.#known ??= indexOf(this.all());
    return this.#known;
  }
}

interface Index {
  readonly byName: ReadonlyMap<string, UnstructuredObject>;
  readonly users: ReadonlyMap<string, readonly UnstructuredObject[]>;
  readonly ofCluster: ReadonlyMap<string, readonly UnstructuredObject[]>;
  readonly shared: ReadonlyMap<string, readonly UnstructuredObject[]>;
}

const nameKey = (namespace: string | undefined, kind: string, name: string): string =>
  `${namespace ?? ''}/${kind}/${name}`;

function indexOf(objects: readonly UnstructuredObject[]): Index {
  const byName = new Map<string, UnstructuredObject>();
  const users = new Map<string, UnstructuredObject[]>();
  const ofCluster = new Map<string, UnstructuredObject[]>();
  const shared = new Map<string, UnstructuredObject[]>();
  const add = (index: Map<string, UnstructuredObject[]>, key: string, object: UnstructuredObject): void => {
    const known = index.get(key);
    if (known) known.push(object);
    else index.set(key, [object]);
  };
  for (const object of objects) {
    const { namespace, name = '' } = object.metadata;
    byName.set(nameKey(namespace, object.kind, name), object);
    for (const { reference } of referencesOf(object)) {
      add(users, nameKey(namespace, reference.kind, reference.name), object);
    }
    const cluster = clusterNameOf(object);
    if (cluster !== undefined) add(ofCluster, `${namespace}/${cluster}`, object);
    if (sharedKinds.includes(object.kind)) add(shared, namespace ?? '', object);
  }
  return { byName, users, ofCluster, shared };
}

const idOf = ({ apiVersion, kind, metadata }: UnstructuredObject): string =>
  [parseApiVersion(apiVersion).group, kind, metadata.namespace ?? '', metadata.name ?? ''].join('\n');

async function inHubVersion(object: UnstructuredObject): Promise<UnstructuredObject> {
  const { group, version } = parseApiVersion(object.apiVersion);
  const definition = ownDefinitions.find((one) => one.group === group && one.kind === object.kind);
  if (!definition?.convert || version === definition.storageVersion) return object;
  return await definition.convert(object, definition.storageVersion);
}

/** Reads the objects of the kinds above in these namespaces. Kinds that are not served have none. */
export async function readStored(
  client: Client,
  namespaces: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ObjectSet> {
  const lists = await Promise.all(
    [...namespaces].flatMap((namespace) =>
      kinds.map(async (resource) => {
        const list = await client.list(resource, { namespace, signal }).catch(orNothing);
        // list items may lack apiVersion and kind
        return (list?.items ?? []).map((item) =>
          asUnstructured({
            ...item,
            apiVersion: formatApiVersion(resource.group, resource.version),
            kind: resource.kind,
          }),
        );
      }),
    ),
  );
  return await ObjectSet.of(lists.flat());
}

function orNothing(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}

const valueAt = (object: UnstructuredObject, ...path: readonly string[]): unknown => {
  let node: unknown = object;
  for (const step of path) node = isJsonObject(node) ? node[step] : undefined;
  return node;
};

const textAt = (object: UnstructuredObject, ...path: readonly string[]): string | undefined => {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : undefined;
};

type Reference = Pick<ContractReference, 'kind' | 'name'>;

const referenceAt = (object: UnstructuredObject, ...path: readonly string[]): Reference[] => {
  const value = valueAt(object, ...path);
  const { kind, name } = isJsonObject(value) ? value : {};
  return typeof kind === 'string' && typeof name === 'string' ? [{ kind, name }] : [];
};

/** Reference fields between objects of the same cluster. */
const referenceFields: readonly (readonly string[])[] = [
  ['spec', 'infrastructureRef'],
  ['spec', 'controlPlaneRef'],
  ['spec', 'bootstrap', 'configRef'],
  ['spec', 'machineTemplate', 'spec', 'infrastructureRef'],
  ['spec', 'template', 'spec', 'infrastructureRef'],
  ['spec', 'template', 'spec', 'bootstrap', 'configRef'],
];

/** Returns the references of an object with their fields. */
export function referencesOf(object: UnstructuredObject): { field: string; reference: Reference }[] {
  return referenceFields.flatMap((path) =>
    referenceAt(object, ...path).map((reference) => ({ field: path.join('.'), reference })),
  );
}

/** Returns the cluster that an object names as its own. */
export function clusterNameOf(object: UnstructuredObject): string | undefined {
  return textAt(object, 'spec', 'clusterName') ?? object.metadata.labels?.[clusterNameLabel];
}

/** Kinds that all clusters of a namespace may use. */
const sharedKinds: readonly string[] = [OpenStackFloatingIPPools.kind, Images.kind, IPAddresses.kind];

/** Returns the objects of a cluster: its own, those it refers to, and those shared in its namespace. */
export function objectsOfCluster(all: ObjectSet, key: { namespace: string; name: string }): UnstructuredObject[] {
  const found = new Map<string, UnstructuredObject>();
  const take = (object: UnstructuredObject | undefined): void => {
    if (!object || found.has(idOf(object))) return;
    found.set(idOf(object), object);
    const { namespace } = key;
    for (const { reference } of referencesOf(object))
      take(all.find(reference.kind, { namespace, name: reference.name }));
  };
  take(all.find(Clusters.kind, key));
  for (const object of all.ofCluster(key)) take(object);
  for (const object of all.sharedIn(key.namespace)) take(object);
  return [...found.values()];
}

/** Returns the names of clusters that an object belongs to, or that refer to it. */
export function clustersOf(
  all: ObjectSet,
  object: UnstructuredObject,
  seen: ReadonlySet<UnstructuredObject> = new Set(),
): string[] {
  if (object.kind === Clusters.kind) return [object.metadata.name ?? ''];
  const own = clusterNameOf(object);
  if (own !== undefined) return [own];
  // Manifests may contain circular references.
  const asked = new Set([...seen, object]);
  const users = all.usersOf(object).filter((user) => !asked.has(user));
  return [...new Set(users.flatMap((user) => clustersOf(all, user, asked)))];
}

/** Returns the Secrets, and the identities that refer to them, for all identityRefs of the objects. */
export async function credentialsOf(
  objects: readonly UnstructuredObject[],
  edited: ObjectSet,
  client: Client,
  signal: AbortSignal,
): Promise<UnstructuredObject[]> {
  const found = new Map<string, UnstructuredObject>();
  const read = async (
    resource: Resource<KubeObject>,
    key: { namespace?: string; name: string },
  ): Promise<UnstructuredObject | undefined> => {
    const given = edited.find(resource.kind, key);
    const object = given ?? (await client.get(resource, key, { signal }).catch(orNothing));
    if (!object) return undefined;
    const whole = asUnstructured({
      ...object,
      apiVersion: formatApiVersion(resource.group, resource.version),
      kind: resource.kind,
    });
    found.set(idOf(whole), whole);
    return whole;
  };
  for (const object of objects) {
    const { namespace } = object.metadata;
    for (const path of [['spec'], ['spec', 'template', 'spec']]) {
      const name = textAt(object, ...path, 'identityRef', 'name');
      if (name === undefined || namespace === undefined) continue;
      const type = textAt(object, ...path, 'identityRef', 'type');
      if (type !== 'ClusterIdentity') {
        await read(Secrets, { namespace, name });
        continue;
      }
      await read(Namespaces, { name: namespace });
      const identity = await read(OpenStackClusterIdentities, { name });
      const secret = identity && textAt(identity, 'spec', 'secretRef', 'name');
      const where = identity && textAt(identity, 'spec', 'secretRef', 'namespace');
      if (secret !== undefined && where !== undefined) await read(Secrets, { namespace: where, name: secret });
    }
  }
  return [...found.values()];
}

/** Kinds that must exist before anything is created. */
const needed: ReadonlySet<string> = new Set([
  OpenStackClusters.kind,
  OpenStackMachineTemplates.kind,
  KubeadmControlPlanes.kind,
  KubeadmConfigTemplates.kind,
  RKE2ControlPlanes.kind,
  RKE2ConfigTemplates.kind,
]);

/**
 * Finds objects with dangling references. MachineSets are skipped: their deployment is responsible, and old ones may
 * have lost their template.
 */
export function objectsWithoutTemplates({ get, list }: Pick<RehearsedObjects, 'get' | 'list'>): {
  object: UnstructuredObject;
  field: string;
  reference: Reference;
}[] {
  const makers = [Clusters, KubeadmControlPlanes, RKE2ControlPlanes, MachineDeployments];
  return makers
    .flatMap((resource) => list<KubeObject>(resource))
    .map(asUnstructured)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((object) => referencesOf(object).map((found) => ({ object, ...found })))
    .filter(({ object, reference }) => {
      const resource = kinds.find(({ kind }) => kind === reference.kind);
      const { namespace = '' } = object.metadata;
      return needed.has(reference.kind) && resource && !get(resource, { namespace, name: reference.name });
    });
}
