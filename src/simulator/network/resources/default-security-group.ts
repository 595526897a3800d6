import type { Neutron } from '../neutron.ts';
import type { SecurityGroupRow, SecurityGroupRuleRow } from '../rows.ts';

/** Returns the group `default` of a project, and creates it on first use. */
export function ensureDefaultGroup(neutron: Neutron, projectId: string): Readonly<SecurityGroupRow> {
  const found = neutron.securityGroups.first('default', projectId);
  if (found) return found;
  return insertGroup(neutron, {
    projectId,
    name: 'default',
    description: 'Default security group',
    isDefault: true,
    stateful: true,
  });
}

export interface GroupSpec {
  readonly projectId: string;
  readonly name: string;
  readonly description: string;
  readonly isDefault: boolean;
  readonly stateful: boolean;
}

/** Creates a group that allows all egress. The default group also allows ingress from its own members. */
export function insertGroup(neutron: Neutron, desired: GroupSpec): Readonly<SecurityGroupRow> {
  const group = neutron.securityGroups.insert({
    ...neutron.standard({ tenant_id: desired.projectId, description: desired.description }),
    revision_number: 1,
    name: desired.name,
    stateful: desired.stateful,
    is_default: desired.isDefault,
  });
  for (const ethertype of ['IPv4', 'IPv6'] as const) {
    if (desired.isDefault) insertRule(neutron, group, { direction: 'ingress', ethertype, remote_group_id: group.id });
    insertRule(neutron, group, { direction: 'egress', ethertype });
  }
  return group;
}

export type RuleSpec = Pick<SecurityGroupRuleRow, 'direction' | 'ethertype'> &
  Partial<Omit<SecurityGroupRuleRow, 'id' | 'tenant_id' | 'security_group_id'>>;

export function insertRule(
  neutron: Neutron,
  group: Readonly<SecurityGroupRow>,
  desired: RuleSpec,
): Readonly<SecurityGroupRuleRow> {
  const { tags: _untagged, ...standard } = neutron.standard({
    tenant_id: group.tenant_id,
    description: desired.description ?? null,
  });
  return neutron.securityGroupRules.insert({
    ...standard,
    security_group_id: group.id,
    protocol: null,
    port_range_min: null,
    port_range_max: null,
    remote_ip_prefix: null,
    remote_group_id: null,
    remote_address_group_id: null,
    ...desired,
  });
}
