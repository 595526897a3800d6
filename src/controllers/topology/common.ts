import {
  type Cluster,
  type ClusterClass,
  ClusterClasses,
  Clusters,
  type TemplateReference,
  type Topology,
} from '../../api/index.ts';
import type { InformerFactory, ObjectKey } from '../../client/index.ts';
import { type Clock, deepEqual, type KubeObject, parseApiVersion } from '../../machinery/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { type ExternalObjects, type HookCaller, objectIndexValue, referenceIndexValue } from '../shared/index.ts';

/** Field manager of all topology objects, the same as upstream's. */
export const topologyManager = 'capi-topology';

export interface TopologyDependencies {
  clock: Clock;
  cache: CacheReader;
  externals: ExternalObjects;
  hooks: HookCaller;
  watchFilter?: string;
  concurrency?: number;
}

export type TopologyCluster = Cluster & { spec: { topology: Topology } };

export const hasTopology = (cluster: Cluster): cluster is TopologyCluster => cluster.spec.topology !== undefined;

export function classKeyOf({ metadata, spec }: TopologyCluster): { namespace: string; name: string } {
  const { name, namespace = metadata.namespace ?? '' } = spec.topology.classRef;
  return { namespace, name };
}

/** index of Clusters by class */
export const byClass = 'topology-class';
/** index of objects by their cluster label */
export const byTopologyCluster = 'topology-cluster';

export const indexValue = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

/** index of ClusterClasses by template */
const byTemplate = 'topology-template';

/** Registers indexes that several controllers here use. */
export function registerClassIndex(cache: InformerFactory): void {
  cache
    .informer(Clusters)
    .addIndexer(byClass, (cluster: Cluster) => (hasTopology(cluster) ? [indexValue(classKeyOf(cluster))] : []));
  cache
    .informer(ClusterClasses)
    .addIndexer(byTemplate, (clusterClass: ClusterClass) =>
      templatesOf(clusterClass).map(({ apiVersion, kind, name }) =>
        referenceIndexValue(
          { apiGroup: parseApiVersion(apiVersion).group, kind, name },
          clusterClass.metadata.namespace ?? '',
        ),
      ),
    );
}

/** Lists classes that refer to a template, even if it does not exist. */
export function classesWith(cache: CacheReader, template: KubeObject): ClusterClass[] {
  return cache.lister(ClusterClasses).byIndex(byTemplate, objectIndexValue(template));
}

/** Lists all templates of a class without duplicates. */
export function templatesOf({ spec }: ClusterClass): TemplateReference[] {
  const all: (TemplateReference | undefined)[] = [
    spec.infrastructure.templateRef,
    spec.controlPlane.templateRef,
    spec.controlPlane.machineInfrastructure?.templateRef,
    spec.controlPlane.healthCheck?.remediation?.templateRef,
  ];
  for (const worker of spec.workers?.machineDeployments ?? []) {
    all.push(
      worker.bootstrap.templateRef,
      worker.infrastructure.templateRef,
      worker.healthCheck?.remediation?.templateRef,
    );
  }
  for (const pool of spec.workers?.machinePools ?? []) {
    all.push(pool.bootstrap.templateRef, pool.infrastructure.templateRef);
  }
  const found = all.filter((reference) => reference !== undefined);
  return found.filter((reference, i) => found.findIndex((other) => deepEqual(other, reference)) === i);
}

export function clustersOf(cache: CacheReader, { metadata }: Pick<ClusterClass & KubeObject, 'metadata'>): Cluster[] {
  return cache
    .lister(Clusters)
    .byIndex(byClass, indexValue({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
}
