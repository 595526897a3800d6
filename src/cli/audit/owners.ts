import {
  Clusters,
  Images,
  type LatticeCluster,
  LatticeClusters,
  OpenStackClusters,
  OpenStackFloatingIPPools,
  OpenStackServers,
  Secrets,
} from '../../api/index.ts';
import { type Client, httpClient } from '../../client/index.ts';
import {
  accessName,
  accessNamespace,
  latticeParentConfigKey,
  managementAnnotation,
  type OwnersOnRecord,
  parentAnnotation,
  workloadConnection,
} from '../../controllers/index.ts';
import { errorMessage, ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import type { CloudUser } from '../clouds-in-use.ts';

const requestTimeoutMs = 20_000;

/** Opens a connection to another management API. */
export type OpenApi = (kubeconfig: string, name: string) => { readonly client: Client; close(): Promise<void> };

export interface KnownOwners extends OwnersOnRecord {
  /** objects of the API that was asked first; its credentials lead to their clouds */
  readonly users: readonly CloudUser[];
  /** clusters that may own resources but did not answer, with the reason */
  readonly unasked: readonly string[];
  /** the cluster that runs the API that was asked first, if it has a parent, whose objects cannot be read from here */
  readonly childOfParent?: string;
}

export interface OwnersOptions {
  readonly signal: AbortSignal;
  readonly open?: OpenApi;
}

export const openByKubeconfig: OpenApi = (kubeconfig, name) => {
  const client = httpClient(workloadConnection(kubeconfig, `of cluster ${name}`), { maxAttempts: 2, requestTimeoutMs });
  return { client, close: () => client.close() };
};

/**
 * Reads everything that may own cloud resources, in all namespaces. An owner that cannot be seen would make its
 * resources look orphaned.
 */
export async function ownersOf(
  client: Client,
  { signal, open = openByKubeconfig }: OwnersOptions,
): Promise<KnownOwners> {
  const known = await collectOwners(client, { signal, open }, new Set());
  const childOfParent = await ownLattice(client, signal);
  return { ...known, ...(childOfParent !== undefined && { childOfParent }) };
}

/** Returns the name of the cluster that runs this API, if it is connected to a parent. */
async function ownLattice(client: Client, signal: AbortSignal): Promise<string | undefined> {
  const own = (await listIfServed(client, LatticeClusters, signal)).find(
    ({ metadata }) => metadata.annotations?.[parentAnnotation] !== undefined,
  );
  if (own === undefined) return undefined;
  const parent = await client.get(Secrets, latticeParentConfigKey, { signal }).catch(ignoreNotFound);
  return parent && own.metadata.name;
}

async function collectOwners(
  client: Client,
  options: Required<OwnersOptions>,
  /** kubeconfigs that were already asked */
  asked: Set<string>,
): Promise<KnownOwners> {
  const { signal } = options;
  const then = await elsewhere(client, signal);
  const before = await ownersHere(client, signal);
  // read twice: objects may have moved there or back in between
  const clusters = new Map([...then, ...(await elsewhere(client, signal))].map((one) => [one.metadata.name, one]));
  if (clusters.size === 0) return { ...before, unasked: [] };
  const inside: KnownOwners[] = [];
  for (const cluster of clusters.values()) inside.push(await ownersInside(client, cluster, options, asked));
  const after = await ownersHere(client, signal);
  const all: OwnersOnRecord[] = [before, ...inside, after];
  return {
    users: after.users,
    objects: all.flatMap(({ objects }) => objects),
    clusters: all.flatMap((one) => one.clusters),
    unasked: inside.flatMap(({ unasked }) => unasked),
  };
}

/** Returns the LatticeClusters whose objects are in the cluster itself, or on their way. */
async function elsewhere(client: Client, signal: AbortSignal): Promise<LatticeCluster[]> {
  return (await listIfServed(client, LatticeClusters, signal)).filter(
    ({ metadata }) => metadata.annotations?.[managementAnnotation] !== undefined,
  );
}

async function ownersInside(
  client: Client,
  { metadata: { name = '' } }: LatticeCluster,
  options: Required<OwnersOptions>,
  asked: Set<string>,
): Promise<KnownOwners> {
  const { open, signal } = options;
  const nothing: KnownOwners = { users: [], objects: [], clusters: [], unasked: [] };
  try {
    const key = { namespace: accessNamespace, name: accessName(name) };
    const value = (await client.get(Secrets, key, { signal }).catch(ignoreNotFound))?.data?.['value'];
    if (value === undefined) throw new Error(`there is no Secret ${key.namespace}/${key.name} with its kubeconfig`);
    const kubeconfig = Buffer.from(value, 'base64').toString();
    if (asked.has(kubeconfig)) return nothing;
    asked.add(kubeconfig);
    const api = open(kubeconfig, name);
    try {
      return await collectOwners(api.client, options, asked);
    } finally {
      await api.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    return { ...nothing, unasked: [`LatticeCluster ${name}, which manages itself: ${errorMessage(error)}`] };
  }
}

async function ownersHere(client: Client, signal: AbortSignal): Promise<Omit<KnownOwners, 'unasked'>> {
  const [clusters, servers, pools, images, whole] = await Promise.all([
    client.list(OpenStackClusters, { signal }),
    client.list(OpenStackServers, { signal }),
    client.list(OpenStackFloatingIPPools, { signal }),
    listIfServed(client, Images, signal),
    client.list(Clusters, { signal }),
  ]);
  const users: CloudUser[] = [
    ...clusters.items.map((one) => ({ ...one, kind: 'OpenStackCluster' })),
    ...servers.items.map((one) => ({ ...one, kind: 'OpenStackServer' })),
    ...pools.items.map((one) => ({ ...one, kind: 'OpenStackFloatingIPPool' })),
  ];
  return {
    users,
    objects: [...(users as readonly KubeObject[]), ...images],
    clusters: whole.items.map(({ metadata: { namespace = '', name = '' } }) => ({ namespace, name })),
  };
}

/** Lists a kind that a management cluster may not serve. */
async function listIfServed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  return (await client.list(resource, { signal }).catch(ignoreNotFound))?.items ?? [];
}
