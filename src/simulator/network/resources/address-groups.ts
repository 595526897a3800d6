import { pythonRepr } from '../../core/checks/python.ts';
import type { RequestContext } from '../../core/http/context.ts';
import type { Answer, Route } from '../../core/service.ts';
import { formatCidr, knownCidr } from '../addressing/cidr.ts';
import type { Attributes } from '../attributes/attribute.ts';
import { readObject } from '../attributes/body.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { nullToEmptyList, toBoolean } from '../attributes/converters.ts';
import { ownRow } from '../controller.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { addressGroupNotFound, badBody, refuse } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { AddressGroupRow } from '../rows.ts';
import { canUse, dropSharings, isGranted } from './sharing.ts';

const checkAddresses = checks.listOf(checks.subnet);

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  description: common.description,
  tenant_id: common.owner,
  addresses: { create: true, default: [], convert: nullToEmptyList, check: checkAddresses },
  shared: { convert: toBoolean },
  ...common.standardAttributes,
};

/** Address groups, which security group rules refer to. */
export function addressGroupResource(neutron: Neutron): Resource<AddressGroupRow> {
  const { addressGroups, securityGroupRules } = neutron;
  return {
    name: 'address_group',
    collection: 'address_groups',
    path: 'address-groups',
    attributes,
    rules: {},
    table: addressGroups,
    notFound: addressGroupNotFound,
    isVisibleTo: (row, caller) => canUse(neutron, row, caller),
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    read: (row, name) => (name === 'shared' ? isGranted(neutron, row.id, undefined) : undefined),
    view: (row) => ({
      id: row.id,
      name: row.name,
      description: row.description,
      project_id: row.tenant_id,
      addresses: row.addresses,
      ...standardView(row),
      tenant_id: row.tenant_id,
    }),
    create(values) {
      const { tags: _untagged, ...standard } = neutron.standard(values);
      return addressGroups.insert({
        ...standard,
        name: values['name'] as string,
        addresses: normalized(values['addresses'] as string[]),
      });
    },
    update: (row, values) =>
      Object.keys(values).length === 0 ? row : neutron.change(addressGroups, row, values as Partial<AddressGroupRow>),
    delete(row) {
      if (securityGroupRules.count('addressGroup', row.id) > 0) {
        const message = `Address group ${row.id} is in use on one or more security group rules.`;
        throw refuse(409, 'AddressGroupInUse', message);
      }
      dropSharings(neutron, row.id);
      addressGroups.delete(row.id);
    },
  };
}

/** Actions to add and remove individual addresses. */
export function addressGroupActions(neutron: Neutron, resource: Resource<AddressGroupRow>): Route[] {
  const action = (
    name: 'add_addresses' | 'remove_addresses',
    change: (row: Readonly<AddressGroupRow>, given: readonly string[]) => readonly string[],
  ): Route => ({
    method: 'PUT',
    path: `/v2.0/address-groups/{id}/${name}`,
    handle(context: RequestContext): Answer {
      const row = ownRow(resource, context.param('id'), context.caller, name);
      const body = readObject(context);
      const inner = checks.isDictionary(body['address_group']) ? body['address_group'] : body;
      const reason = checkAddresses(inner['addresses']);
      if (reason !== undefined) throw badBody(`Invalid input for addresses. Reason: ${reason}.`);
      const addresses = change(row, normalized(inner['addresses'] as string[]));
      const changed = neutron.change(neutron.addressGroups, row, { addresses });
      return { status: 200, body: { address_group: resource.view(changed, context.caller) } };
    },
  });
  return [
    action('add_addresses', (row, given) => {
      const present = given.filter((address) => row.addresses.includes(address));
      if (present.length > 0) {
        const message = `Addresses ${pythonRepr(present)} already exist in the address group ${row.id}.`;
        throw refuse(400, 'AddressesAlreadyExist', message);
      }
      return [...row.addresses, ...given];
    }),
    action('remove_addresses', (row, given) => {
      const absent = given.filter((address) => !row.addresses.includes(address));
      if (absent.length > 0) {
        const message = `Addresses ${pythonRepr(absent)} not found in the address group ${row.id}.`;
        throw refuse(404, 'AddressesNotFound', message);
      }
      return row.addresses.filter((address) => !given.includes(address));
    }),
  ];
}

function normalized(addresses: readonly string[]): string[] {
  return [...new Set(addresses.map((address) => formatCidr(knownCidr(address))))];
}
