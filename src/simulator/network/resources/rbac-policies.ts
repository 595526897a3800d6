import { pythonText } from '../../core/checks/python.ts';
import type { Attributes } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import type { Neutron } from '../neutron.ts';
import type { AttributeRules } from '../policy.ts';
import { invalidInput, networkNotFound, refuse } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { SharingRow } from '../rows.ts';
import { sharingKey } from '../tables.ts';
import { everybody, hasUsers, insertSharing, isSharedWith, shareWithEverybody, sharingInUse } from './sharing.ts';

/** Only networks are shared here. */
function toObjectType(value: unknown): string {
  if (value === 'network') return value;
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

/** Sharing with everybody is the operator's to decide. */
const rules: AttributeRules = { target_tenant: (_caller, values) => values['target_tenant'] !== everybody };

/** Which network is shared with which project. */
export function rbacPolicyResource(neutron: Neutron): Resource<SharingRow> {
  const { sharings, networks } = neutron;
  const withdraw = (row: Readonly<SharingRow>): void => {
    const network = networks.get(row.object_id)!;
    const isForAll = row.target_tenant === everybody;
    const isLeftOut = (user: string): boolean =>
      isForAll
        ? sharings.count('grant', sharingKey(network.id, user)) === 0
        : !network.shared && user === row.target_tenant;
    if (hasUsers(neutron, network, isLeftOut)) {
      const details = sharingInUse(network).message;
      const message = `RBAC policy on object ${network.id} cannot be removed because other objects depend on it.\nDetails: ${details}`;
      throw refuse(409, 'RbacPolicyInUse', message);
    }
    if (isForAll) shareWithEverybody(neutron, network, false);
    else sharings.delete(row.id);
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
      const network = networks.get(id);
      const isVisible = network && (caller.isAdmin || network.tenant_id === caller.projectId);
      if (!isVisible) throw networkNotFound(id);
      const action = values['action'];
      if (action !== 'access_as_shared') {
        throw invalidInput(
          `Invalid action '${pythonText(action)}' for object type 'network'. Valid actions: access_as_shared`,
        );
      }
      const target = values['target_tenant'] as string;
      if (sharings.count('grant', sharingKey(id, target)) > 0) {
        throw refuse(409, 'DuplicateRbacPolicy', 'An RBAC policy already exists with those values.');
      }
      if (target !== everybody) return insertSharing(neutron, network, values['tenant_id'] as string, target);
      shareWithEverybody(neutron, network, true);
      return sharings.first('grant', sharingKey(id, everybody))!;
    },
    update(row, values) {
      const target = values['target_tenant'] as string | undefined;
      const network = networks.get(row.object_id);
      if (target === undefined || target === row.target_tenant || !network) return row;
      withdraw(row);
      if (target === everybody) shareWithEverybody(neutron, network, true);
      else if (!isSharedWith(neutron, network, target)) insertSharing(neutron, network, row.tenant_id, target);
      return sharings.first('grant', sharingKey(network.id, target))!;
    },
    delete: withdraw,
  };
}
