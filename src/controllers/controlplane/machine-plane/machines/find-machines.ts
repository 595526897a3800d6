import { type Cluster, type Machine, Machines, parseKubernetesVersion } from '../../../../api/index.ts';
import type { InformerFactory } from '../../../../client/index.ts';
import { CapstanError } from '../../../../machinery/index.ts';
import type { CacheReader } from '../../../../runtime/index.ts';
import { adoptMachine, controllerOf, controlPlaneLabel, isControlledBy, isDeleting } from '../../../shared/index.ts';
import { type ControlPlaneScope, nameOf } from '../scope.ts';
import { machineOwner } from './machine-owner.ts';

/** Index of control plane machines by cluster. */
const byClusterIndex = 'controlPlaneOf';

export const clusterValue = (namespace: string | undefined, cluster: string): string => `${namespace ?? ''}/${cluster}`;

export function registerMachineIndex(cache: InformerFactory): void {
  cache
    .informer(Machines)
    .addIndexer(byClusterIndex, ({ metadata, spec }: Machine) =>
      metadata.labels?.[controlPlaneLabel] === undefined ? [] : [clusterValue(metadata.namespace, spec.clusterName)],
    );
}

export function controlPlaneMachines(cache: CacheReader, { metadata }: Cluster): Machine[] {
  return cache.lister(Machines).byIndex(byClusterIndex, clusterValue(metadata.namespace, metadata.name ?? ''));
}

/** Thrown when a control plane has machines of other owners: two controllers would undo each other's changes. */
export class MixedOwnershipError extends CapstanError {
  constructor(kind: string, unknownMembers: readonly Machine[]) {
    super(
      'CAP_CONTROL_PLANE_MIXED',
      `not all control plane machines are owned by this ${kind}, refusing to operate in mixed management mode: ${unknownMembers.map(nameOf).join(', ')}`,
      { hint: 'delete the other machines, or the control plane object that does not own them' },
    );
    this.name = 'MixedOwnershipError';
  }
}

/** Lists the machines of the control plane, and adopts matching ones without a controller. */
export async function findMachines(scope: ControlPlaneScope): Promise<undefined> {
  const { context, provider, controlPlane, cluster } = scope;
  const all = controlPlaneMachines(context.cache, cluster);
  let found = all.filter((machine) => isControlledBy(machine, controlPlane));
  if (!isDeleting(controlPlane)) {
    const orphans = all.filter((machine) => !controllerOf(machine) && !isDeleting(machine));
    const others = all.filter((machine) => controllerOf(machine) && !isControlledBy(machine, controlPlane));
    if (others.length > 0) throw new MixedOwnershipError(provider.resource.kind, others);
    for (const machine of orphans) {
      refuseIncompatible(machine, provider.resource.kind, controlPlane.spec.version);
      found = [...found, await adoptMachine(machineOwner(scope), machine)];
    }
  }
  scope.machines = found.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Refuses to adopt machines more than one minor version away: a control plane upgrades one minor version at a time. */
function refuseIncompatible(machine: Machine, kind: string, version: string): void {
  const wanted = parseKubernetesVersion(version);
  const has = parseKubernetesVersion(machine.spec.version ?? '');
  if (wanted && has && has.major === wanted.major && Math.abs(wanted.minor - has.minor) <= 1) return;
  throw new CapstanError(
    'CAP_CONTROL_PLANE_ADOPTION',
    `Machine ${nameOf(machine)} of version ${machine.spec.version ?? 'unknown'} cannot be adopted by a ${kind} of version ${version}`,
    { hint: 'set spec.version to the version of the machines, or one minor version above' },
  );
}
