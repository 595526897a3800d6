import {
  type Cluster,
  type ContractReference,
  clusterNameLabel,
  type MachineDeployment,
  MachineDeployments,
  MachineHealthChecks,
  type MachineSet,
  MachineSets,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import { formatKey, type ObjectKey, objectKey } from '../../../client/index.ts';
import { ignoreNotFound, type KubeObject, type Resource, type UnstructuredObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { isDeleting, isOwnedBy } from '../../shared/index.ts';
import { byTopologyCluster, indexValue } from '../common.ts';

type Context = Pick<ReconcileContext, 'client' | 'cache' | 'signal'>;

async function remove({ client, signal }: Context, resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
  const { uid } = object.metadata;
  await client
    .delete(resource, objectKey(object), { signal, ...(uid !== undefined && { preconditions: { uid } }) })
    .catch(ignoreNotFound);
}

/** Deletes MachineDeployments that the topology no longer has. */
export async function removeSurplusDeployments(
  context: Context,
  existing: readonly MachineDeployment[],
  isWanted: (deployment: MachineDeployment) => boolean,
): Promise<string[]> {
  const removed: string[] = [];
  for (const deployment of existing) {
    if (isDeleting(deployment) || isWanted(deployment)) continue;
    await remove(context, MachineDeployments, deployment);
    removed.push(deployment.metadata.name ?? '');
  }
  return removed;
}

/** Deletes the topology's health checks that are no longer wanted. */
export async function removeSurplusHealthChecks(
  context: Context,
  cluster: Cluster,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const checks = context.cache.lister(MachineHealthChecks).byIndex(byTopologyCluster, keyOf(cluster));
  for (const check of checks) {
    const isOurs = check.metadata.labels?.[topologyOwnedLabel] !== undefined && isOwnedBy(check, cluster);
    if (!isOurs || isDeleting(check) || wanted.has(check.metadata.name ?? '')) continue;
    await remove(context, MachineHealthChecks, check);
  }
}

const keyOf = ({ metadata }: Cluster): string =>
  indexValue({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });

/** A kind of templates with the names in use. */
export interface TemplatesInUse {
  readonly resource: Resource<UnstructuredObject>;
  readonly names: Set<string>;
}

export interface TemplateSweep {
  forget(cluster: ObjectKey): void;
  /** kinds of templates that the cluster had before; workers may have changed to another kind */
  formerKinds(cluster: Cluster): Iterable<Resource<UnstructuredObject>>;
  /** notes that templates are about to be created, which an interrupted reconcile may leave without a user */
  expect(cluster: Cluster): void;
  /**
   * Deletes unreferenced templates of the cluster: replaced ones once their last MachineSet is gone, and those of an
   * interrupted reconcile. Runs only after all references are written.
   */
  removeUnused(
    context: Context,
    cluster: Cluster,
    kinds: ReadonlyMap<string, TemplatesInUse>,
    templatesOf: (resource: Resource<UnstructuredObject>) => Promise<readonly UnstructuredObject[]>,
  ): Promise<void>;
}

/** Searches only if the set of used templates changed since the last search. */
export function createTemplateSweep(): TemplateSweep {
  /** by Cluster: templates in use when nothing was left to delete */
  const clean = new Map<string, string>();
  /** by Cluster: kinds of which templates may be left */
  const former = new Map<string, readonly Resource<UnstructuredObject>[]>();
  return {
    forget(cluster) {
      clean.delete(formatKey(cluster));
      former.delete(formatKey(cluster));
    },
    formerKinds: (cluster) => former.get(formatKey(objectKey(cluster))) ?? [],
    expect: (cluster) => void clean.delete(formatKey(objectKey(cluster))),
    async removeUnused(context, cluster, kinds, templatesOf) {
      addReferences(context, cluster, kinds);
      const id = formatKey(objectKey(cluster));
      const used = [...kinds].map(([kind, { names }]) => `${kind}: ${[...names].sort().join(' ')}`);
      const inUse = [`Cluster ${cluster.metadata.uid}`, ...used.sort()].join('\n');
      if (clean.get(id) === inUse) return;
      former.set(
        id,
        [...kinds.values()].map(({ resource }) => resource),
      );
      for (const { resource, names } of kinds.values()) {
        for (const template of await templatesOf(resource)) {
          if (!isOurs(template, cluster) || names.has(template.metadata.name ?? '') || isDeleting(template)) continue;
          await remove(context, resource, template);
        }
      }
      clean.set(id, inUse);
      former.set(
        id,
        [...kinds.values()].flatMap(({ resource, names }) => (names.size > 0 ? resource : [])),
      );
    },
  };
}

function isOurs(template: UnstructuredObject, cluster: Cluster): boolean {
  const { labels } = template.metadata;
  return (
    labels?.[topologyOwnedLabel] !== undefined &&
    labels[clusterNameLabel] === cluster.metadata.name &&
    isOwnedBy(template, cluster)
  );
}

function addReferences(context: Context, cluster: Cluster, kinds: ReadonlyMap<string, TemplatesInUse>): void {
  for (const reference of templateReferences(context, cluster)) kinds.get(kindId(reference))?.names.add(reference.name);
}

export const kindId = ({ kind, apiGroup }: Pick<ContractReference, 'kind' | 'apiGroup'>): string =>
  `${kind}.${apiGroup}`;

/** Lists the templates that MachineDeployments and MachineSets of the topology use, also those being replaced. */
export function* templateReferences({ cache }: Pick<Context, 'cache'>, cluster: Cluster): Iterable<ContractReference> {
  const sets: MachineSet[] = cache.lister(MachineSets).byIndex(byTopologyCluster, keyOf(cluster));
  const deployments = cache.lister(MachineDeployments).byIndex(byTopologyCluster, keyOf(cluster));
  for (const { spec } of [...sets, ...deployments]) {
    const { bootstrap, infrastructureRef } = spec.template.spec;
    if (bootstrap.configRef) yield bootstrap.configRef;
    yield infrastructureRef;
  }
}
