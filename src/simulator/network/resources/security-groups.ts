import type { Attributes } from '../attributes/attribute.ts';
import { type Check, string } from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toBoolean } from '../attributes/converters.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { overQuota, refuse, securityGroupNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { SecurityGroupRow } from '../rows.ts';
import { ensureDefaultGroup, insertGroup } from './default-security-group.ts';
import { ruleView } from './security-group-rules.ts';
import { canUse, dropSharings, everybody, isGranted } from './sharing.ts';

/** Every project already has a group `default`. */
const nameNotDefault: Check = (value) => {
  const reason = string(255)(value);
  if (reason === undefined && (value as string).toLowerCase() === 'default') {
    throw refuse(409, 'SecurityGroupDefaultAlreadyExists', 'Default security group already exists.');
  }
  return reason;
};

const attributes: Attributes = {
  ...common.tagAttributes,
  ...common.standardAttributes,
  description: common.description,
  id: common.id,
  name: { ...common.name, check: nameNotDefault },
  tenant_id: common.owner,
  security_group_rules: common.readOnly,
  stateful: { create: true, update: true, default: true, convert: toBoolean },
  shared: { convert: toBoolean, filter: true },
};

export function securityGroupResource(neutron: Neutron): Resource<SecurityGroupRow> {
  const { securityGroups, securityGroupRules, ports, sharings } = neutron;
  const inUse = (id: string): Error => refuse(409, 'SecurityGroupInUse', `Security Group ${id} in use.`);
  return {
    name: 'security_group',
    collection: 'security_groups',
    path: 'security-groups',
    quota: 'security_group',
    attributes,
    rules: {},
    table: securityGroups,
    notFound: securityGroupNotFound,
    isVisibleTo: (row, caller) => canUse(neutron, row, caller),
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    candidates(_filters, { isAdmin, projectId }) {
      if (isAdmin || projectId === undefined) return undefined;
      const granted = [projectId, everybody].flatMap((target) =>
        Array.from(sharings.by('target', target), ({ object_id }) => securityGroups.get(object_id)),
      );
      return new Set([...securityGroups.by('project', projectId), ...granted.filter((group) => group !== undefined)]);
    },
    read: (row, name) => (name === 'shared' ? isGranted(neutron, row.id, undefined) : undefined),
    beforeList(filters, caller) {
      const project = (filters.get('tenant_id')?.[0] as string | undefined) ?? caller.projectId;
      if (project === undefined || !neutron.core.services.identity.projectExists(project)) return;
      if (!caller.isAdmin && project !== caller.projectId) return;
      neutron.core.state.transact(() => ensureDefaultGroup(neutron, project));
    },
    view: (row, caller) => ({
      id: row.id,
      name: row.name,
      stateful: row.stateful,
      tenant_id: row.tenant_id,
      description: row.description,
      shared: isGranted(neutron, row.id, caller.projectId),
      // Only rules inside a group show tags, and the list is always empty.
      security_group_rules: Array.from(securityGroupRules.by('group', row.id), (rule) => ({
        ...ruleView(rule),
        tags: [],
      })),
      tags: row.tags,
      ...standardView(row),
      project_id: row.tenant_id,
    }),
    create(values) {
      const projectId = values['tenant_id'] as string;
      ensureDefaultGroup(neutron, projectId);
      if (neutron.core.quotas.excess('network', projectId, { security_group_rule: 2 })) {
        throw overQuota(['security_group_rule']);
      }
      return insertGroup(neutron, {
        projectId,
        name: values['name'] as string,
        description: values['description'] as string,
        isDefault: false,
        stateful: values['stateful'] as boolean,
      });
    },
    update(row, values) {
      if (Object.keys(values).length === 0) return row;
      if ('stateful' in values && values['stateful'] !== row.stateful && ports.count('group', row.id) > 0) {
        throw inUse(row.id);
      }
      if (row.is_default && 'name' in values) {
        throw refuse(409, 'SecurityGroupCannotUpdateDefault', 'Updating default security group not allowed.');
      }
      return neutron.change(securityGroups, row, values as Partial<SecurityGroupRow>);
    },
    delete(row, caller) {
      if (ports.count('group', row.id) > 0) throw inUse(row.id);
      if (row.is_default && !caller.isAdmin) {
        const message = 'Insufficient rights for removing default security group.';
        throw refuse(409, 'SecurityGroupCannotRemoveDefault', message);
      }
      deleteGroup(neutron, row.id);
    },
  };
}

/** Deletes a group, its rules, and rules of other groups that refer to it. */
export function deleteGroup(neutron: Neutron, id: string): void {
  const { securityGroups, securityGroupRules } = neutron;
  for (const rule of [...securityGroupRules.by('group', id), ...securityGroupRules.by('remote', id)]) {
    securityGroupRules.delete(rule.id);
  }
  dropSharings(neutron, id);
  securityGroups.delete(id);
}
