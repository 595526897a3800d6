import type { Caller } from '../../core/caller.ts';
import type { Attributes } from '../attributes/attribute.ts';
import * as common from '../attributes/common.ts';
import { toBoolean } from '../attributes/converters.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { disallowed, qosPolicyNotFound, refuse } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { QosPolicyRow } from '../rows.ts';
import { qosRuleView } from './qos-rules.ts';
import { qosUsers } from './qos-use.ts';
import { canUse, dropSharings, isGranted, setShared } from './sharing.ts';

const flag = { create: true, update: true, default: false, convert: toBoolean, filter: true };

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  shared: flag,
  tenant_id: common.owner,
  rules: common.readOnly,
  is_default: flag,
  ...common.tagAttributes,
  ...common.standardAttributes,
  description: common.description,
};

/** QoS policies, which only operators change. */
export function qosPolicyResource(neutron: Neutron): Resource<QosPolicyRow> {
  const { qosPolicies, qosRules } = neutron;
  const mustBeOnlyDefault = (projectId: string, id?: string): void => {
    for (const other of qosPolicies.by('project', projectId)) {
      if (!other.is_default || other.id === id) continue;
      const message = `A default QoS policy exists for project ${projectId}.`;
      throw refuse(409, 'QoSPolicyDefaultAlreadyExists', message);
    }
  };
  return {
    name: 'policy',
    collection: 'policies',
    path: 'qos/policies',
    attributes,
    rules: {},
    table: qosPolicies,
    notFound: qosPolicyNotFound,
    isVisibleTo: (row, caller) => canUse(neutron, row, caller),
    isOwnedBy: () => false,
    read: (row, name) => (name === 'shared' ? isGranted(neutron, row.id, undefined) : undefined),
    view: (row, caller: Caller) => ({
      id: row.id,
      name: row.name,
      tenant_id: row.tenant_id,
      description: row.description,
      shared: isGranted(neutron, row.id, caller.isAdmin ? undefined : caller.projectId),
      is_default: row.is_default,
      rules: Array.from(qosRules.by('policy', row.id), (rule) => ({
        ...qosRuleView(rule),
        qos_policy_id: row.id,
        type: rule.type,
      })),
      tags: row.tags,
      ...standardView(row),
      project_id: row.tenant_id,
    }),
    checkOwner(_values, caller) {
      if (!caller.isAdmin) throw disallowed('rule:create_policy');
    },
    create(values) {
      if (values['is_default'] === true) mustBeOnlyDefault(values['tenant_id'] as string);
      const policy = qosPolicies.insert({
        ...neutron.standard(values),
        name: values['name'] as string,
        is_default: values['is_default'] as boolean,
      });
      setShared(neutron, 'qos_policy', policy, values['shared'] as boolean);
      return policy;
    },
    update(row, values) {
      const { shared, ...changes } = values as Partial<QosPolicyRow> & { shared?: boolean };
      if (changes.is_default === true) mustBeOnlyDefault(row.tenant_id, row.id);
      if (shared !== undefined) setShared(neutron, 'qos_policy', row, shared);
      return Object.keys(values).length === 0 ? row : neutron.change(qosPolicies, row, changes);
    },
    delete(row) {
      for (const { kind, id } of qosUsers(neutron, row.id)) {
        throw refuse(409, 'QosPolicyInUse', `QoS Policy ${row.id} is used by ${kind} ${id}.`);
      }
      for (const { id } of [...qosRules.by('policy', row.id)]) qosRules.delete(id);
      dropSharings(neutron, row.id);
      qosPolicies.delete(row.id);
    },
  };
}
