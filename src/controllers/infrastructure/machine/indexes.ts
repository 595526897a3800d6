import { controlPlaneLabel, type Machine, Machines, OpenStackClusters, OpenStackMachines } from '../../../api/index.ts';
import type { InformerFactory } from '../../../client/index.ts';
import { indexByIdentity } from '../common/watches.ts';

/** Index of control plane Machines by namespace and name of their Cluster. */
export const byControlPlaneOf = 'openStackControlPlaneOf';
/** Index of Machines with an OpenStackMachine by namespace and name of their Cluster. */
export const byOpenStackClusterOf = 'openStackMachinesOf';

const clusterOf = ({ metadata, spec }: Machine): string => `${metadata.namespace}/${spec.clusterName}`;
const isOpenStack = ({ spec }: Machine): boolean => spec.infrastructureRef.kind === OpenStackMachines.kind;

export const isControlPlane = ({ metadata }: Machine): boolean => metadata.labels?.[controlPlaneLabel] !== undefined;

export function registerIndexes(cache: InformerFactory): void {
  const machineCache = cache.informer(Machines);
  machineCache.addIndexer(byOpenStackClusterOf, (machine) => (isOpenStack(machine) ? [clusterOf(machine)] : []));
  machineCache.addIndexer(byControlPlaneOf, (machine) =>
    isOpenStack(machine) && isControlPlane(machine) ? [clusterOf(machine)] : [],
  );
  indexByIdentity(cache, OpenStackMachines, ({ spec }) => spec.identityRef);
  indexByIdentity(cache, OpenStackClusters, ({ spec }) => spec.identityRef);
}
