import { type Cluster, Clusters, clusterNameLabel, type Machine, Machines } from '../../../api/index.ts';
import type { InformerFactory, ObjectKey } from '../../../client/index.ts';
import type { KubeObject, Resource } from '../../../machinery/index.ts';
import type { CacheReader, Predicate } from '../../../runtime/index.ts';
import { clusterChanged, controlPlaneLabel } from '../../shared/index.ts';

const indexName = ({ plural }: Resource): string => `${plural}-by-cluster`;

/** Registers the informers of bootstrap controllers and an index of configurations by cluster. */
export function registerConfigIndex<T extends KubeObject>(resource: Resource<T>): (cache: InformerFactory) => void {
  return (cache) => {
    cache.informer(Machines);
    cache.informer(Clusters);
    cache.informer(resource).addIndexer(indexName(resource), ({ metadata }) => {
      const name = metadata.labels?.[clusterNameLabel];
      return name === undefined ? [] : [`${metadata.namespace ?? ''}/${name}`];
    });
  };
}

export function configsOfCluster<T extends KubeObject>(
  cache: CacheReader,
  resource: Resource<T>,
  { namespace, name }: ObjectKey,
): T[] {
  return cache.lister(resource).byIndex(indexName(resource), `${namespace ?? ''}/${name}`);
}

export const clusterOfMachine = ({ metadata, spec }: Machine): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: spec.clusterName,
});

/** Maps a machine to its configuration if that is of this kind. */
export function configOfMachine({ metadata, spec }: Machine, resource: Resource): ObjectKey[] {
  const reference = spec.bootstrap.configRef;
  if (reference?.kind !== resource.kind || reference.apiGroup !== resource.group) return [];
  return [{ namespace: metadata.namespace ?? '', name: reference.name }];
}

/** Machine changes that affect its configuration. */
export const machineChanged: Predicate<Machine> = (event) => {
  // a deleted control plane machine may have held the init lock
  if (event.type === 'delete') return event.object.metadata.labels?.[controlPlaneLabel] !== undefined;
  if (event.type !== 'update') return true;
  const { object: now, old } = event;
  return (
    now.spec.version !== old.spec.version ||
    now.spec.bootstrap.dataSecretName !== old.spec.bootstrap.dataSecretName ||
    now.status?.nodeRef?.name !== old.status?.nodeRef?.name ||
    now.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    now.metadata.labels?.[controlPlaneLabel] !== old.metadata.labels?.[controlPlaneLabel]
  );
};

/** Cluster changes that affect the configurations of its machines. */
export const relevantClusterChange: Predicate<Cluster> = clusterChanged(
  'paused',
  'endpoint',
  'infrastructureProvisioned',
  'controlPlaneInitialized',
);
