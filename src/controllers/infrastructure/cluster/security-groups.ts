import type { NamedResource } from '../../../api/index.ts';
import { collect, isNotFound, isOpenStackError, type SecurityGroup } from '../../../openstack/index.ts';
import {
  type GroupRole,
  groupRoles,
  securityGroupDescription,
  securityGroupName,
  upstreamGroupDescription,
} from '../common/names.ts';
import { attempt, type Wait } from '../common/outcomes.ts';
import { ownerMark } from '../common/ownership.ts';
import { apiPortOf, isServedByRKE2 } from '../common/served-ports.ts';
import { hasBastion, isLoadBalanced } from './desired.ts';
import { record } from './events.ts';
import { diffRules, rulesOf } from './group-rules.ts';
import { type ClusterScope, follow, look, statusOf } from './scope.ts';
import { ensureTags, oldest } from './tags.ts';

const reason = 'SecurityGroupCreateFailed';

/** Status field of each group. */
const noted = {
  controlplane: 'controlPlaneSecurityGroup',
  worker: 'workerSecurityGroup',
  bastion: 'bastionSecurityGroup',
} as const;

/** Reconciles the security groups of nodes and bastion, with exactly the wanted rules. */
export async function reconcileSecurityGroups(scope: ClusterScope): Promise<Wait | undefined> {
  const { spec } = scope.draft;
  if (!spec.managedSecurityGroups) return undefined;
  const roles = groupRoles.filter((role) => role !== 'bastion' || hasBastion(spec));
  const groups = await ensureGroups(scope, roles);
  const status = statusOf(scope);
  const ids: Partial<Record<GroupRole, string>> = {};
  for (const [role, { name, id }] of groups) {
    status[noted[role]] = { name, id };
    ids[role] = id;
  }
  const around = {
    groups: spec.managedSecurityGroups,
    ids,
    apiPort: apiPortOf(spec),
    additionalPorts: isLoadBalanced(spec) ? (spec.apiServer?.managedLoadBalancer?.additionalPorts ?? []) : [],
    supervisor: isServedByRKE2(scope.cluster),
    cidrs: (status.network?.subnets ?? []).map(({ cidr }) => cidr),
  };
  for (const [role, group] of groups) {
    await attempt(`rules of security group ${group.name} could not be set`, reason, () =>
      ensureRules(scope, group, rulesOf(role, around)),
    );
  }
  return undefined;
}

async function ensureGroups(scope: ClusterScope, roles: readonly GroupRole[]): Promise<Map<GroupRole, SecurityGroup>> {
  const groups = new Map<GroupRole, SecurityGroup>();
  const status = statusOf(scope);
  for (const role of roles) {
    const recorded = status[noted[role]]?.id;
    const known = recorded
      ? await attempt('security groups could not be read', reason, () => look(scope, 'securityGroup', recorded))
      : undefined;
    if (known) groups.set(role, known);
  }
  if (groups.size < roles.length) {
    const found = await attempt('security groups could not be listed', reason, () => findOwnGroups(scope));
    for (const role of roles) {
      if (groups.has(role)) continue;
      const name = securityGroupName(scope.base, role);
      const group = await attempt(`security group ${name} could not be created`, reason, async () => {
        return oldest(found.filter((candidate) => candidate.name === name)) ?? (await createGroup(scope, role));
      });
      follow(scope, 'securityGroup', group.id);
      groups.set(role, group);
    }
  }
  const { securityGroups } = scope.access.openstack.network;
  for (const [role, group] of groups) {
    const tagged = await attempt(`security group ${group.name} could not be tagged`, reason, () =>
      ensureTags(scope, group, securityGroups),
    );
    scope.access.view.remember('securityGroup', tagged);
    groups.set(role, tagged);
  }
  return groups;
}

/**
 * Lists all groups with the cluster's names that have our mark, or upstream's description if those count. One request
 * per list, whatever the roles.
 */
export async function findOwnGroups(scope: ClusterScope): Promise<SecurityGroup[]> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const list = (description: string): Promise<SecurityGroup[]> =>
    collect(openstack.network.securityGroups.list({ description, projectId }, { signal }));
  const marked = await list(securityGroupDescription(ownerMark(scope.owner)));
  const upstreams = scope.isBegunByUpstream ? await list(upstreamGroupDescription) : [];
  // an object copied with its annotations has the mark of another; the name distinguishes them
  const names = new Set(groupRoles.map((role) => securityGroupName(scope.base, role)));
  return [...marked, ...upstreams].filter(({ name }) => names.has(name));
}

async function createGroup(scope: ClusterScope, role: GroupRole): Promise<SecurityGroup> {
  const group = await scope.access.openstack.network.securityGroups.create(
    {
      name: securityGroupName(scope.base, role),
      description: securityGroupDescription(ownerMark(scope.owner)),
    },
    { signal: scope.context.signal },
  );
  record(scope, 'SuccessfulCreateSecurityGroup', `Created security group ${group.name} with id ${group.id}`);
  return group;
}

async function ensureRules(
  scope: ClusterScope,
  group: SecurityGroup,
  wanted: ReturnType<typeof rulesOf>,
): Promise<void> {
  const { access, context } = scope;
  const { signal } = context;
  const { securityGroupRules, securityGroups } = access.openstack.network;
  const { missing, unwanted } = diffRules(group.rules, wanted);
  if (missing.length === 0 && unwanted.length === 0) return;
  let rules = [...group.rules];
  try {
    if (missing.length > 0) {
      const specs = missing.map((rule) => ({ ...rule, securityGroupId: group.id }));
      rules.push(...(await securityGroupRules.createMany(specs, { signal })));
    }
    for (const { id } of unwanted) {
      await securityGroupRules.delete(id, { signal });
      rules = rules.filter((rule) => rule.id !== id);
    }
  } catch (error) {
    // the cached group was outdated, so the next attempt uses the cloud's state
    if (isNotFound(error)) access.view.forget('securityGroup', group.id);
    else access.view.remember('securityGroup', await securityGroups.get(group.id, { signal }).catch(() => group));
    throw error;
  }
  access.view.remember('securityGroup', { ...group, rules });
}

/** Deletes the bastion's group once nothing uses it. */
export async function dropBastionGroup(scope: ClusterScope): Promise<Wait | undefined> {
  const status = statusOf(scope);
  const group = status.bastionSecurityGroup;
  if (!group) return undefined;
  const gone = await deleteGroup(scope, group);
  if (gone) {
    delete status.bastionSecurityGroup;
    return undefined;
  }
  return {
    ms: 15_000,
    reason: 'WaitingForBastion',
    message: `security group ${group.name} of the bastion is still in use`,
  };
}

/** Deletes an own group; false while it is in use. */
export async function deleteGroup(scope: ClusterScope, group: NamedResource): Promise<boolean> {
  const { securityGroups } = scope.access.openstack.network;
  const { signal } = scope.context;
  try {
    if (await securityGroups.delete(group.id, { signal })) {
      record(scope, 'SuccessfulDeleteSecurityGroup', `Deleted security group ${group.name} with id ${group.id}`);
    }
    scope.access.view.forget('securityGroup', group.id);
    return true;
  } catch (error) {
    if (isOpenStackError(error, 'conflict')) return false;
    throw error;
  }
}

/** Lists the groups to delete with the cluster: recorded, or found by mark. */
export async function groupsToDelete(scope: ClusterScope): Promise<NamedResource[]> {
  const recorded = groupRoles.flatMap((role) => scope.draft.status?.[noted[role]] ?? []);
  const found = await findOwnGroups(scope);
  const more = found.filter(({ id }) => !recorded.some((group) => group.id === id));
  return [...recorded, ...more.map(({ name, id }) => ({ name, id }))];
}

/** Removes a deleted group from the status. */
export function dropNotedGroup(scope: ClusterScope, id: string): void {
  const status = statusOf(scope);
  for (const role of groupRoles) if (status[noted[role]]?.id === id) delete status[noted[role]];
}
