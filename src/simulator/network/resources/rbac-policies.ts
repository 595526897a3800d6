import { pythonText } from '../../core/checks/python.ts';
import type { Refusal } from '../../core/refusal.ts';
import { asTableOf, type Table } from '../../core/state/table.ts';
import type { Attributes } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import type { Neutron } from '../neutron.ts';
import type { AttributeRules } from '../policy.ts';
import {
  addressGroupNotFound,
  addressScopeNotFound,
  invalidInput,
  networkNotFound,
  qosPolicyNotFound,
  refuse,
  securityGroupNotFound,
  subnetPoolNotFound,
} from '../refusals.ts';
import type { Resource, StandardRow } from '../resource.ts';
import type { SharedType, SharingRow } from '../rows.ts';
import { sharingKey } from '../tables.ts';
import { qosUsers } from './qos-use.ts';
import { everybody, insertSharing, sharingInUse } from './sharing.ts';

/** A resource type that can be shared, and how its use is found. */
interface Shareable {
  readonly table: Table<StandardRow>;
  notFound(id: string): Refusal;
  /** projects of dependent resources, including the owner's */
  users(id: string): Iterable<string>;
  inUse(id: string): string;
}

function shareables(neutron: Neutron): Readonly<Record<SharedType, Shareable>> {
  const { networks, ports, securityGroups, securityGroupRules, subnetPools, subnets, addressScopes } = neutron;
  const owners = (rows: Iterable<{ readonly tenant_id: string }>): string[] =>
    Array.from(rows, ({ tenant_id }) => tenant_id);
  return {
    network: {
      table: asTableOf(networks),
      notFound: networkNotFound,
      users: (id) => owners(ports.by('network', id)),
      inUse: (id) => sharingInUse(networks.known(id)).message,
    },
    security_group: {
      table: asTableOf(securityGroups),
      notFound: securityGroupNotFound,
      users: (id) => owners([...ports.by('group', id), ...securityGroupRules.by('remote', id)]),
      inUse: (id) => `Security Group ${id} in use.`,
    },
    qos_policy: {
      table: asTableOf(neutron.qosPolicies),
      notFound: qosPolicyNotFound,
      users: (id) => Array.from(qosUsers(neutron, id), ({ projectId }) => projectId),
      inUse: (id) => `QoS policy ${id} is in use.`,
    },
    subnetpool: {
      table: asTableOf(subnetPools),
      notFound: subnetPoolNotFound,
      users: (id) => owners(subnets.by('pool', id)),
      inUse: (id) => `Subnet pool ${id} is in use.`,
    },
    address_scope: {
      table: asTableOf(addressScopes),
      notFound: addressScopeNotFound,
      users: (id) => owners(subnetPools.by('scope', id)),
      inUse: (id) => `Address scope ${id} is in use.`,
    },
    address_group: {
      table: asTableOf(neutron.addressGroups),
      notFound: addressGroupNotFound,
      users: (id) => owners(securityGroupRules.by('addressGroup', id)),
      inUse: (id) => `Address group ${id} is in use.`,
    },
  };
}

const types: readonly string[] = [
  'network',
  'qos_policy',
  'security_group',
  'address_scope',
  'subnetpool',
  'address_group',
] satisfies SharedType[];

function toObjectType(value: unknown): string {
  if (types.includes(value as string)) return value as string;
  throw invalidInput(`'${pythonText(value)}' is not a valid RBAC object type`);
}

const attributes: Attributes = {
  id: { ...common.filterable, check: checks.uuid },
  object_type: { create: true, default: null, convert: toObjectType, filter: true, ruled: true },
  object_id: { create: true, required: true, check: checks.uuid, filter: true, ruled: true },
  target_tenant: {
    create: true,
    update: true,
    required: true,
    check: checks.string(255),
    filter: true,
    ruled: true,
  },
  tenant_id: { ...common.owner, sort: false },
  action: { create: true, required: true, check: checks.string(255), filter: true, ruled: true },
};

/** Only operators may share with everybody. */
const rules: AttributeRules = { target_tenant: (_caller, values) => values['target_tenant'] !== everybody };

/** RBAC policies, which share resources with projects. */
export function rbacPolicyResource(neutron: Neutron): Resource<SharingRow> {
  const { sharings, networks } = neutron;
  const kinds = shareables(neutron);
  const duplicate = (): Error => refuse(409, 'DuplicateRbacPolicy', 'An RBAC policy already exists with those values.');
  /** Networks store whether they are shared with everybody. */
  const noteShared = (id: string): void => {
    const network = networks.get(id);
    const shared = sharings.count('grant', sharingKey(id, everybody)) > 0;
    if (network && network.shared !== shared) networks.update(id, { shared });
  };
  /** Refuses to revoke a right that is in use. */
  const mustBeUnused = (row: Readonly<SharingRow>): void => {
    const kind = kinds[row.object_type];
    const owner = kind.table.get(row.object_id)?.tenant_id;
    const isForAll = row.target_tenant === everybody;
    const hasOther = (user: string): boolean =>
      sharings.count('grant', sharingKey(row.object_id, isForAll ? user : everybody)) > 0;
    for (const user of kind.users(row.object_id)) {
      if (user === '' || user === owner || hasOther(user) || !(isForAll || user === row.target_tenant)) continue;
      const message = `RBAC policy on object ${row.object_id} cannot be removed because other objects depend on it.\nDetails: ${kind.inUse(row.object_id)}`;
      throw refuse(409, 'RbacPolicyInUse', message);
    }
  };
  return {
    name: 'rbac_policy',
    collection: 'rbac_policies',
    path: 'rbac-policies',
    quota: 'rbac_policy',
    attributes,
    rules,
    table: sharings,
    notFound: (id) => refuse(404, 'RbacPolicyNotFound', `RBAC policy of type unknown with ID ${id} not found`),
    isVisibleTo: (row, caller) => row.tenant_id === caller.projectId,
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    view: ({ id, tenant_id, target_tenant, action, object_id, object_type }) => ({
      id,
      project_id: tenant_id,
      action,
      object_id,
      target_tenant,
      object_type,
      tenant_id,
    }),
    create(values, caller) {
      const id = values['object_id'] as string;
      const type = values['object_type'] as SharedType;
      const kind = kinds[type];
      const object = kind.table.get(id);
      if (!object || !(caller.isAdmin || object.tenant_id === caller.projectId)) throw kind.notFound(id);
      const action = values['action'];
      if (action !== 'access_as_shared') {
        throw invalidInput(
          `Invalid action '${pythonText(action)}' for object type '${type}'. Valid actions: access_as_shared`,
        );
      }
      const target = values['target_tenant'] as string;
      if (sharings.count('grant', sharingKey(id, target)) > 0) throw duplicate();
      const made = insertSharing(neutron, {
        object_type: type,
        object_id: id,
        owner: values['tenant_id'] as string,
        target,
      });
      noteShared(id);
      return made;
    },
    update(row, values) {
      const target = values['target_tenant'] as string | undefined;
      if (target === undefined || target === row.target_tenant) return row;
      if (sharings.count('grant', sharingKey(row.object_id, target)) > 0) throw duplicate();
      mustBeUnused(row);
      const changed = neutron.change(sharings, row, { target_tenant: target });
      noteShared(row.object_id);
      return changed;
    },
    delete(row) {
      mustBeUnused(row);
      sharings.delete(row.id);
      noteShared(row.object_id);
    },
  };
}
