import type { Caller } from '../../core/caller.ts';
import type { RequestContext } from '../../core/http/context.ts';
import type { Answer, Route } from '../../core/service.ts';
import { type Cidr, knownCidr } from '../addressing/cidr.ts';
import { bitsOf } from '../addressing/ip.ts';
import { mergePrefixes, overlapAny, removePrefixes } from '../addressing/prefixes.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import { readObject } from '../attributes/body.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toBoolean, toInteger } from '../attributes/converters.ts';
import { ownRow } from '../controller.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { type AttributeRules, adminOnly } from '../policy.ts';
import { addressScopeNotFound, badBody, refuse, subnetPoolNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { SubnetPoolRow } from '../rows.ts';
import { canUse, dropSharings, isGranted, setShared } from './sharing.ts';

const checkPrefixes = checks.listOf(checks.subnet);
const length = { create: true, update: true, convert: toInteger, check: checks.nonNegative, filter: true, sort: true };
const flag = { create: true, default: false, convert: toBoolean, filter: true, sort: true, ruled: true };

const attributes: Attributes = {
  id: common.id,
  name: common.requiredName,
  tenant_id: common.owner,
  prefixes: { create: true, update: true, required: true, check: checkPrefixes },
  default_quota: length,
  ip_version: common.listable,
  default_prefixlen: length,
  min_prefixlen: length,
  max_prefixlen: length,
  is_default: { ...flag, update: true },
  shared: flag,
  address_scope_id: {
    create: true,
    update: true,
    default: null,
    check: checks.orNull(checks.uuid),
    filter: true,
    sort: true,
  },
  ...common.tagAttributes,
  ...common.standardAttributes,
  description: common.description,
};

const rules: AttributeRules = { shared: adminOnly, is_default: adminOnly };

/** Subnet pools. */
export function subnetPoolResource(neutron: Neutron): Resource<SubnetPoolRow> {
  const { subnetPools, subnets } = neutron;
  return {
    name: 'subnetpool',
    collection: 'subnetpools',
    path: 'subnetpools',
    quota: 'subnetpool',
    attributes,
    rules,
    table: subnetPools,
    notFound: subnetPoolNotFound,
    isVisibleTo: (row, caller) => canUse(neutron, row, caller),
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    read: (row, name) => (name === 'shared' ? isGranted(neutron, row.id, undefined) : undefined),
    view: (row, caller) => ({
      id: row.id,
      name: row.name,
      tenant_id: row.tenant_id,
      prefixes: row.prefixes,
      min_prefixlen: row.min_prefixlen,
      max_prefixlen: row.max_prefixlen,
      default_prefixlen: row.default_prefixlen,
      ip_version: row.ip_version,
      is_default: row.is_default,
      shared: isGranted(neutron, row.id, caller.isAdmin ? undefined : caller.projectId),
      default_quota: row.default_quota,
      address_scope_id: row.address_scope_id,
      description: row.description,
      tags: row.tags,
      ...standardView(row),
      project_id: row.tenant_id,
    }),
    create(values, caller) {
      const { prefixes, version } = readPrefixes(values['prefixes'] as string[]);
      const lengths = readLengths(values, version, undefined);
      refuseSecondDefault(neutron, values, version, undefined);
      checkScope(neutron, values['address_scope_id'] as string | null, { id: '', version, prefixes }, caller);
      const pool = subnetPools.insert({
        ...neutron.standard(values),
        name: values['name'] as string,
        prefixes,
        ip_version: version,
        default_quota: (values['default_quota'] as number | undefined) ?? null,
        ...lengths,
        is_default: values['is_default'] as boolean,
        address_scope_id: values['address_scope_id'] as string | null,
      });
      setShared(neutron, 'subnetpool', pool, values['shared'] as boolean);
      return pool;
    },
    update(row, values, caller) {
      if (Object.keys(values).length === 0) return row;
      const given = values['prefixes'] as string[] | undefined;
      const prefixes = given ? widened(row, given) : row.prefixes;
      const lengths = readLengths(values, row.ip_version, row);
      refuseSecondDefault(neutron, values, row.ip_version, row.id);
      const scope = 'address_scope_id' in values ? (values['address_scope_id'] as string | null) : row.address_scope_id;
      checkScope(neutron, scope, { id: row.id, version: row.ip_version, prefixes }, caller);
      return neutron.change(subnetPools, row, { ...(values as Partial<SubnetPoolRow>), ...lengths, prefixes });
    },
    delete(row) {
      if (subnets.count('pool', row.id) > 0) {
        const message = 'Unable to delete subnet pool: Subnet pool has existing allocations.';
        throw refuse(400, 'SubnetPoolDeleteError', message);
      }
      dropSharings(neutron, row.id);
      subnetPools.delete(row.id);
    },
  };
}

/** Actions to add and remove individual prefixes. */
export function subnetPoolActions(neutron: Neutron, resource: Resource<SubnetPoolRow>): Route[] {
  const action = (
    name: 'add_prefixes' | 'remove_prefixes',
    change: (row: Readonly<SubnetPoolRow>, given: readonly string[], caller: Caller) => readonly string[],
  ): Route => ({
    method: 'PUT',
    path: `/v2.0/subnetpools/{id}/${name}`,
    handle(context: RequestContext): Answer {
      const row = ownRow(resource, context.param('id'), context.caller, name);
      const given = readObject(context)['prefixes'];
      const reason = checkPrefixes(given);
      if (reason !== undefined) throw badBody(`Invalid input for prefixes. Reason: ${reason}.`);
      const prefixes = change(row, given as string[], context.caller);
      neutron.change(neutron.subnetPools, row, { prefixes });
      return { status: 200, body: { prefixes } };
    },
  });
  return [
    action('add_prefixes', (row, given, caller) => {
      const { prefixes } = readPrefixes([...row.prefixes, ...given]);
      checkScope(neutron, row.address_scope_id, { id: row.id, version: row.ip_version, prefixes }, caller);
      return prefixes;
    }),
    action('remove_prefixes', (row, given) => {
      const removed = readPrefixes(given);
      if (removed.version !== row.ip_version) throw mixedVersions();
      const gone = cidrsOf(removed.prefixes);
      const used = Array.from(neutron.subnets.by('pool', row.id), ({ cidr }) => cidr);
      if (overlapAny(gone, cidrsOf(used))) {
        throw updateRefused('One or more prefixes to be removed is in use by a subnet');
      }
      const rest = removePrefixes(cidrsOf(row.prefixes), gone);
      if (rest.length === 0) throw refuse(400, 'EmptySubnetPoolPrefixList', 'Empty subnet pool prefix list.');
      return rest;
    }),
  ];
}

interface Prefixes {
  readonly prefixes: readonly string[];
  readonly version: 4 | 6;
}

function readPrefixes(given: readonly string[]): Prefixes {
  const cidrs = given.map((text) => knownCidr(text));
  const version = cidrs[0]?.version;
  if (version === undefined) throw refuse(400, 'EmptySubnetPoolPrefixList', 'Empty subnet pool prefix list.');
  if (cidrs.some((cidr) => cidr.version !== version)) throw mixedVersions();
  return { prefixes: mergePrefixes(cidrs), version };
}

function cidrsOf(prefixes: readonly string[]): Cidr[] {
  return prefixes.map((prefix) => knownCidr(prefix));
}

function mixedVersions(): Error {
  return refuse(400, 'PrefixVersionMismatch', 'Cannot mix IPv4 and IPv6 prefixes in a subnet pool.');
}

function updateRefused(problem: string): Error {
  return refuse(400, 'IllegalSubnetPoolPrefixUpdate', `Illegal update to prefixes: ${problem}.`);
}

/** The prefixes of a pool may only grow. */
function widened(row: Readonly<SubnetPoolRow>, given: readonly string[]): readonly string[] {
  const { prefixes, version } = readPrefixes(given);
  if (version !== row.ip_version) throw mixedVersions();
  if (removePrefixes(cidrsOf(row.prefixes), cidrsOf(prefixes)).length > 0) {
    throw updateRefused('Existing prefixes must be a subset of the new prefixes');
  }
  return prefixes;
}

type Lengths = Pick<SubnetPoolRow, 'min_prefixlen' | 'max_prefixlen' | 'default_prefixlen'>;

function readLengths(values: Values, version: 4 | 6, current: Lengths | undefined): Lengths {
  const given = values as Partial<Lengths>;
  const most = bitsOf[version];
  const min = given.min_prefixlen ?? current?.min_prefixlen ?? (version === 4 ? 8 : 64);
  const max = given.max_prefixlen ?? current?.max_prefixlen ?? most;
  const usual = given.default_prefixlen ?? current?.default_prefixlen ?? min;
  const bounds = (type: string, value: number, base: string, limit: number): Error => {
    const message = `Illegal prefix bounds: ${type}=${value}, ${base}=${limit}.`;
    return refuse(400, 'IllegalSubnetPoolPrefixBounds', message);
  };
  if (given.min_prefixlen !== undefined && min < (version === 4 ? 8 : 64) && min === 0) {
    throw refuse(400, 'UnsupportedMinSubnetPoolPrefix', `Prefix '${min}' not supported in IPv${version} pool.`);
  }
  if (max > most) throw bounds('max_prefixlen', max, 'default_maximum', most);
  if (min > max) throw bounds('min_prefixlen', min, 'max_prefixlen', max);
  if (usual < min) throw bounds('default_prefixlen', usual, 'min_prefixlen', min);
  if (usual > max) throw bounds('default_prefixlen', usual, 'max_prefixlen', max);
  return { min_prefixlen: min, max_prefixlen: max, default_prefixlen: usual };
}

function refuseSecondDefault(neutron: Neutron, values: Values, version: 4 | 6, own: string | undefined): void {
  if (values['is_default'] !== true) return;
  for (const { id, is_default, ip_version } of neutron.subnetPools.all()) {
    if (!is_default || ip_version !== version || id === own) continue;
    const message = `A default subnetpool for this IP family has already been set. Only one default may exist per IP family`;
    throw refuse(400, 'InvalidInput', `Invalid input for operation: ${message}.`);
  }
}

function checkScope(
  neutron: Neutron,
  scopeId: string | null,
  pool: { readonly id: string; readonly version: 4 | 6; readonly prefixes: readonly string[] },
  caller: Caller,
): void {
  if (scopeId === null) return;
  const scope = neutron.addressScopes.get(scopeId);
  if (!scope || !canUse(neutron, scope, caller)) throw addressScopeNotFound(scopeId);
  if (scope.ip_version !== pool.version) {
    const message = `Illegal subnetpool association: subnetpool ${pool.id} cannot associate with address scope ${scopeId} because subnetpool ip_version is not ${scope.ip_version}.`;
    throw refuse(400, 'IllegalSubnetPoolIpVersionAssociationToAddressScope', message);
  }
  const cidrs = cidrsOf(pool.prefixes);
  for (const other of neutron.subnetPools.by('scope', scopeId)) {
    if (other.id === pool.id || !overlapAny(cidrs, cidrsOf(other.prefixes))) continue;
    const message = 'Failed to associate address scope: subnetpools within an address scope must have unique prefixes.';
    throw refuse(409, 'AddressScopePrefixConflict', message);
  }
}
