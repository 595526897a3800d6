import {
  controlPlaneLabel,
  deploymentNameLabel,
  type OpenStackMachine,
  OpenStackMachines,
  setNameLabel,
} from '../../../api/index.ts';
import { collect, type ServerGroup, type ServerGroupPolicy } from '../../../openstack/index.ts';
import { controlPlaneNameLabel, managedServerGroupAnnotation } from '../../shared/index.ts';
import { clusterBase, networkName } from '../common/names.ts';
import { attempt, UnusableInput } from '../common/outcomes.ts';
import { ownerId } from '../common/ownership.ts';
import { dependencyFailedReason, instanceDeleteFailedReason, invalidMachineSpecReason } from '../server/conditions.ts';
import type { MachineScope, WholeScope } from './scope.ts';

const policies: readonly string[] = ['anti-affinity', 'soft-anti-affinity', 'affinity', 'soft-affinity'];

export function wantsServerGroup({ metadata, spec }: OpenStackMachine): boolean {
  return metadata.annotations?.[managedServerGroupAnnotation] !== undefined && spec.serverGroup === undefined;
}

/** Ensures the server group of the machine's set; undefined if none is requested. */
export async function managedServerGroup(scope: WholeScope): Promise<string | undefined> {
  const policy = scope.machine.metadata.annotations?.[managedServerGroupAnnotation];
  if (policy === undefined || scope.machine.spec.serverGroup) return undefined;
  if (!policies.includes(policy)) {
    throw new UnusableInput(
      `Annotation ${managedServerGroupAnnotation} is ${JSON.stringify(policy)}; give one of ${policies.join(', ')}`,
      { reason: invalidMachineSpecReason },
    );
  }
  const name = groupName(scope);
  const { serverGroups: inFlight } = scope.memories.of(scope.openStackCluster.metadata.uid ?? '');
  let group = inFlight.get(name);
  if (!group) {
    group = ensureGroup(scope, name, policy as ServerGroupPolicy);
    inFlight.set(name, group);
    const end = (): void => void inFlight.delete(name);
    group.then(end, end);
  }
  return await group;
}

async function ensureGroup(scope: WholeScope, name: string, policy: ServerGroupPolicy): Promise<string> {
  const { openstack } = await scope.cloud();
  return await attempt(`Server group ${name} cannot be created`, dependencyFailedReason, async () => {
    const [found] = await findGroups(scope, name);
    return (found ?? (await openstack.compute.serverGroups.create({ name, policy }))).id;
  });
}

async function findGroups(scope: MachineScope, name: string): Promise<ServerGroup[]> {
  const { openstack } = await scope.cloud();
  const all = await collect(openstack.compute.serverGroups.list());
  return all.filter((group) => group.name === name).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Server groups have neither description nor tags, so the owner is part of the name. */
function groupName({ cluster, openStackCluster, machine }: WholeScope): string {
  const base = clusterBase(cluster.metadata.namespace ?? '', cluster.metadata.name ?? '');
  return `${networkName(base)}-${setOf(machine)}-${ownerId(openStackCluster).slice(0, 8)}`;
}

/** Identifies the machines that share a server group. */
function setOf({ metadata }: OpenStackMachine): string {
  const labels = metadata.labels ?? {};
  if (labels[controlPlaneLabel] !== undefined) return labels[controlPlaneNameLabel] || 'control-plane';
  return labels[deploymentNameLabel] ?? labels[setNameLabel] ?? 'machines';
}

/** Deletes the group with the last machine of its set. */
export async function releaseServerGroup(scope: WholeScope): Promise<void> {
  const { machine, context } = scope;
  if (!wantsServerGroup(machine)) return;
  const others = context.cache.lister(OpenStackMachines).list({
    namespace: machine.metadata.namespace ?? '',
    filter: (other) =>
      other.metadata.uid !== machine.metadata.uid &&
      other.metadata.annotations?.[managedServerGroupAnnotation] !== undefined &&
      setOf(other) === setOf(machine),
  });
  if (others.length > 0) return;
  const name = groupName(scope);
  const { openstack } = await scope.cloud();
  await attempt(`Server group ${name} cannot be deleted`, instanceDeleteFailedReason, async () => {
    for (const { id, members } of await findGroups(scope, name)) {
      if (members.length === 0) await openstack.compute.serverGroups.delete(id, { signal: context.signal });
    }
  });
}
