import {
  Clusters,
  clusterNameLabel,
  deploymentNameLabel,
  type Machine,
  type MachineSet,
  Machines,
} from '../../../api/index.ts';
import { labelSelectorFromObject } from '../../../machinery/index.ts';
import {
  adoptMachine,
  controllerOf,
  isControlledBy,
  isDeleting,
  ownerReference,
  withOwner,
} from '../../shared/index.ts';
import { byCluster, clusterIndexValue } from '../common/indexes.ts';
import { machineOwner } from './machine-owner.ts';
import type { MachineSetScope } from './scope.ts';

/** Sets the Cluster as owner of standalone sets, and the cluster name label on all. */
export function adoptAndLabel({ set, cluster }: MachineSetScope): undefined {
  const { metadata } = set;
  const ofDeployment = metadata.labels?.[deploymentNameLabel] !== undefined;
  if (cluster && !ofDeployment && controllerOf(set) === undefined) {
    metadata.ownerReferences = [...withOwner(metadata.ownerReferences, ownerReference(cluster, Clusters))];
  }
  metadata.labels = { ...metadata.labels, [clusterNameLabel]: set.spec.clusterName };
}

type Selector = Parameters<typeof labelSelectorFromObject>[0];

export function selects(set: MachineSet, machine: Machine): boolean {
  return labelSelectorFromObject(set.spec.selector as Selector).matches(machine.metadata.labels ?? {});
}

/** Lists the machines of the set, and adopts matching ones without a controller. */
export async function findMachines(scope: MachineSetScope): Promise<undefined> {
  const { context, set } = scope;
  const inCluster = context.cache
    .lister(Machines)
    .byIndex(byCluster, clusterIndexValue(set.metadata.namespace, set.spec.clusterName));
  const found: Machine[] = [];
  for (const machine of inCluster) {
    if (isControlledBy(machine, set)) {
      found.push(machine);
      continue;
    }
    if (isDeleting(set) || isDeleting(machine) || controllerOf(machine) || !selects(set, machine)) continue;
    found.push(await adoptMachine(machineOwner(scope), machine));
  }
  scope.machines = found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return undefined;
}
