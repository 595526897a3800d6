import type { Attributes } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toBoolean, toInteger } from '../attributes/converters.ts';
import type { Neutron } from '../neutron.ts';
import { type AttributeRules, adminOnly } from '../policy.ts';
import { addressScopeNotFound, refuse } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { AddressScopeRow } from '../rows.ts';
import { canUse, dropSharings, isGranted, setShared } from './sharing.ts';

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  tenant_id: common.owner,
  shared: { create: true, update: true, default: false, convert: toBoolean, filter: true, sort: true, ruled: true },
  ip_version: {
    create: true,
    required: true,
    convert: toInteger,
    check: checks.oneOf([4, 6]),
    filter: true,
    sort: true,
  },
};

const rules: AttributeRules = { shared: adminOnly };

/** Address scopes: groups of subnet pools whose addresses must not overlap. */
export function addressScopeResource(neutron: Neutron): Resource<AddressScopeRow> {
  const { addressScopes, subnetPools } = neutron;
  return {
    name: 'address_scope',
    collection: 'address_scopes',
    path: 'address-scopes',
    attributes,
    rules,
    table: addressScopes,
    notFound: addressScopeNotFound,
    isVisibleTo: (row, caller) => canUse(neutron, row, caller),
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    read: (row, name) => (name === 'shared' ? isGranted(neutron, row.id, undefined) : undefined),
    view: (row, caller) => ({
      id: row.id,
      name: row.name,
      tenant_id: row.tenant_id,
      shared: isGranted(neutron, row.id, caller.isAdmin ? undefined : caller.projectId),
      ip_version: row.ip_version,
      project_id: row.tenant_id,
    }),
    create(values) {
      const { tags: _untagged, ...standard } = neutron.standard(values);
      const scope = addressScopes.insert({
        ...standard,
        name: values['name'] as string,
        ip_version: values['ip_version'] as 4 | 6,
      });
      setShared(neutron, 'address_scope', scope, values['shared'] as boolean);
      return scope;
    },
    update(row, values) {
      const { shared, ...changes } = values as Partial<AddressScopeRow> & { shared?: boolean };
      if (shared === false && isGranted(neutron, row.id, undefined)) {
        const message = `Unable to update address scope ${row.id} : Shared address scope can't be unshared.`;
        throw refuse(400, 'AddressScopeUpdateError', message);
      }
      if (shared === true) setShared(neutron, 'address_scope', row, true);
      return Object.keys(values).length === 0 ? row : neutron.change(addressScopes, row, changes);
    },
    delete(row) {
      if (subnetPools.count('scope', row.id) > 0) {
        const message = `Unable to complete operation on address scope ${row.id}. There are one or more subnet pools in use on the address scope.`;
        throw refuse(409, 'AddressScopeInUse', message);
      }
      dropSharings(neutron, row.id);
      addressScopes.delete(row.id);
    },
  };
}
