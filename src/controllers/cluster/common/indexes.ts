import {
  type Cluster,
  Clusters,
  type ContractReference,
  type Machine,
  type MachineDeployment,
  MachineDeployments,
  type MachineSet,
  MachineSets,
  Machines,
} from '../../../api/index.ts';
import type { InformerFactory } from '../../../client/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import { comparableProviderId, controllerOf, referenceIndexValue } from '../../shared/index.ts';

// Names of indexes on the shared caches.
export const byCluster = 'cluster';
export const byReference = 'reference';
export const byController = 'controller';
export const byProviderId = 'providerID';
export const byNodeName = 'nodeName';

/** Builds the index value of `byCluster`. */
export function clusterIndexValue(namespace: string | undefined, clusterName: string): string {
  return `${namespace ?? ''}/${clusterName}`;
}

const clusterOf = (object: KubeObject & { spec: { clusterName: string } }): string[] => [
  clusterIndexValue(object.metadata.namespace, object.spec.clusterName),
];
const controllerUid = (object: KubeObject): string[] => {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : [];
};
const references = (object: KubeObject, ...list: readonly (ContractReference | undefined)[]): string[] =>
  list.flatMap((reference) => (reference ? [referenceIndexValue(reference, object.metadata.namespace ?? '')] : []));

/** Registers the indexes that these controllers use; safe to call repeatedly. */
export function registerIndexes(cache: InformerFactory): void {
  const machineCache = cache.informer(Machines);
  machineCache.addIndexer(byCluster, clusterOf);
  machineCache.addIndexer(byController, controllerUid);
  machineCache.addIndexer(byReference, (machine: Machine) =>
    references(machine, machine.spec.bootstrap?.configRef, machine.spec.infrastructureRef),
  );
  machineCache.addIndexer(byProviderId, ({ spec }: Machine) =>
    spec.providerID ? [comparableProviderId(spec.providerID)] : [],
  );
  machineCache.addIndexer(byNodeName, ({ status }: Machine) => (status?.nodeRef ? [status.nodeRef.name] : []));

  const setCache = cache.informer(MachineSets);
  setCache.addIndexer(byCluster, clusterOf);
  setCache.addIndexer(byController, controllerUid);
  setCache.addIndexer(byReference, (set: MachineSet) =>
    references(set, set.spec.template.spec.bootstrap?.configRef, set.spec.template.spec.infrastructureRef),
  );

  const deploymentCache = cache.informer(MachineDeployments);
  deploymentCache.addIndexer(byCluster, clusterOf);
  deploymentCache.addIndexer(byReference, ({ metadata, spec, apiVersion, kind }: MachineDeployment) =>
    references(
      { metadata, apiVersion, kind },
      spec.template.spec.bootstrap?.configRef,
      spec.template.spec.infrastructureRef,
    ),
  );

  cache
    .informer(Clusters)
    .addIndexer(byReference, (cluster: Cluster) =>
      references(cluster, cluster.spec.infrastructureRef, cluster.spec.controlPlaneRef),
    );
}
