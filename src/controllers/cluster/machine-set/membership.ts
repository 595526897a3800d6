import {
  clusterNameLabel,
  clusters,
  deploymentNameLabel,
  type Machine,
  type MachineSet,
  machineSets,
  machines,
} from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { type JsonValue, labelSelectorFromObject } from '../../../machinery/index.ts';
import {
  controllerOf,
  fieldManager,
  isControlledBy,
  isDeleting,
  ownerReference,
  withOwner,
} from '../../shared/index.ts';
import { byCluster, clusterIndexValue } from '../common/indexes.ts';
import type { MachineSetScope } from './scope.ts';

/** Sets nobody made belong to the cluster; all carry its name. */
export function adoptAndLabel({ set, cluster }: MachineSetScope): undefined {
  const { metadata } = set;
  const ofDeployment = metadata.labels?.[deploymentNameLabel] !== undefined;
  if (cluster && !ofDeployment && controllerOf(set) === undefined) {
    metadata.ownerReferences = [...withOwner(metadata.ownerReferences, ownerReference(cluster, clusters))];
  }
  metadata.labels = { ...metadata.labels, [clusterNameLabel]: set.spec.clusterName };
}

type Selector = Parameters<typeof labelSelectorFromObject>[0];

export function selects(set: MachineSet, machine: Machine): boolean {
  return labelSelectorFromObject(set.spec.selector as Selector).matches(machine.metadata.labels ?? {});
}

/** Finds the machines of the set, and takes in those that match and belong to nobody. */
export async function findMachines(scope: MachineSetScope): Promise<undefined> {
  const { context, set } = scope;
  const inCluster = context.cache
    .lister(machines)
    .byIndex(byCluster, clusterIndexValue(set.metadata.namespace, set.spec.clusterName));
  const found: Machine[] = [];
  for (const machine of inCluster) {
    if (isControlledBy(machine, set)) {
      found.push(machine);
      continue;
    }
    if (isDeleting(set) || isDeleting(machine) || controllerOf(machine) || !selects(set, machine)) continue;
    const owners = withOwner(machine.metadata.ownerReferences, ownerReference(set, machineSets, { controller: true }));
    const patch = { metadata: { ownerReferences: owners as unknown as JsonValue } };
    found.push(
      await context.client.patch(machines, objectKey(machine), 'merge', withOptimisticLock(patch, machine), {
        fieldManager,
        signal: context.signal,
      }),
    );
    context.events.event(set, 'Normal', 'SuccessfulAdopt', `Adopted Machine "${machine.metadata.name}"`);
  }
  scope.machines = found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return undefined;
}
