import { must } from '../../../machinery/index.ts';
import type { Caller } from '../../core/caller.ts';
import { zulu } from '../../core/time-formats.ts';
import { parseCidr } from '../addressing/cidr.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { nullToEmptyList, toBoolean, toLowerCase } from '../attributes/converters.ts';
import type { Neutron } from '../neutron.ts';
import { type AttributeRules, adminOnly } from '../policy.ts';
import { badRequest, invalidInput, portNotFound, refuse, securityGroupNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { PortRow } from '../rows.ts';
import { addressKey, macKey } from '../tables.ts';
import { addressPairs, readPairs } from './address-pairs.ts';
import { extraDhcpOptions } from './dhcp-options.ts';
import { dnsAssignment } from './dns.ts';
import { checkNetworkOwner } from './network-owner.ts';
import { type FixedIpSpec, reallocate } from './port-addresses.ts';
import { chooseMac, deletePort, insertPort, isService, macInUse, securityGroupsOf } from './port-writes.ts';
import { readQosPolicy } from './qos-use.ts';
import { canUse } from './sharing.ts';
import { refuseTrunkUse, trunkDetails } from './trunk-use.ts';

const vnicTypes = [
  'normal',
  'direct',
  'macvtap',
  'baremetal',
  'direct-physical',
  'virtio-forwarder',
  'smart-nic',
  'vdpa',
  'accelerator-direct',
  'accelerator-direct-physical',
  'remote-managed',
];

/** A filter value has the form `key=value`, for a part of an address. */
function fixedIpFilter(value: unknown): unknown {
  if (typeof value === 'string' && !/^[^=]+=/.test(value))
    throw invalidInput(`'${value}' is not of the form <key>=[value]`);
  return value;
}

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  network_id: { create: true, required: true, check: checks.uuid, filter: true, sort: true },
  admin_state_up: common.adminStateUp,
  mac_address: { create: true, update: true, check: checks.orNull(checks.mac), filter: true, sort: true, ruled: true },
  fixed_ips: {
    create: true,
    update: true,
    convertFilter: fixedIpFilter,
    check: checks.fixedIps,
    filter: true,
    ruled: true,
  },
  device_id: { ...common.name },
  device_owner: { ...common.name, ruled: true },
  tenant_id: common.owner,
  status: common.listable,
  allowed_address_pairs: {
    create: true,
    update: true,
    convert: nullToEmptyList,
    check: addressPairs,
    ruled: true,
  },
  extra_dhcp_opts: { create: true, update: true, default: null, check: extraDhcpOptions },
  numa_affinity_policy: {
    create: true,
    update: true,
    default: null,
    check: checks.oneOf(['required', 'preferred', 'legacy', null]),
  },
  'binding:vif_type': common.readOnly,
  'binding:vif_details': common.readOnly,
  'binding:vnic_type': { create: true, update: true, default: 'normal', check: checks.oneOf(vnicTypes), ruled: true },
  'binding:host_id': { create: true, update: true, filter: true, ruled: true },
  'binding:profile': { create: true, update: true, check: checks.dictionaryOrNull, ruled: true },
  port_security_enabled: { create: true, update: true, convert: toBoolean, ruled: true },
  qos_policy_id: { create: true, update: true, default: null, check: checks.orNull(checks.uuid), ruled: true },
  qos_network_policy_id: common.readOnly,
  revision_number: common.filterable,
  tags: { create: true, default: [], check: checks.listOf(checks.string(255)), filter: true },
  'tags-any': common.filterable,
  'not-tags': common.filterable,
  'not-tags-any': common.filterable,
  created_at: common.readOnly,
  updated_at: common.readOnly,
  trunk_details: common.readOnly,
  dns_name: {
    create: true,
    update: true,
    default: '',
    convert: toLowerCase,
    check: checks.dnsName(255, { isDomain: false }),
  },
  dns_assignment: common.readOnly,
  dns_domain: {
    create: true,
    update: true,
    default: '',
    convert: toLowerCase,
    check: checks.dnsName(255, { isDomain: true }),
  },
  description: common.description,
  security_groups: {
    create: true,
    update: true,
    convert: nullToEmptyList,
    check: checks.listOf(checks.uuid),
    filter: true,
  },
};

export function portResource(neutron: Neutron): Resource<PortRow> {
  const { ports, networks } = neutron;
  const isNetworkOwner = (caller: Caller, networkId: string): boolean =>
    networks.get(networkId)?.tenant_id === caller.projectId;
  const netOwner = (caller: Caller, values: Values): boolean =>
    isNetworkOwner(caller, (values['network_id'] as string | undefined) ?? '');
  const rules: AttributeRules = {
    mac_address: (caller, values) => values['id'] === undefined && netOwner(caller, values),
    'fixed_ips:ip_address': netOwner,
    allowed_address_pairs: netOwner,
    port_security_enabled: netOwner,
    device_owner: (caller, values) => !isService(values['device_owner'] as string) || netOwner(caller, values),
    'binding:host_id': adminOnly,
    'binding:profile': adminOnly,
  };
  return {
    name: 'port',
    collection: 'ports',
    path: 'ports',
    quota: 'port',
    attributes,
    rules,
    table: ports,
    matchers,
    notFound: portNotFound,
    isVisibleTo: (row, caller) =>
      row.tenant_id === caller.projectId || (row.tenant_id !== '' && isNetworkOwner(caller, row.network_id)),
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId || isNetworkOwner(caller, row.network_id),
    policyValues: (row) => ({ id: row.id, network_id: row.network_id }),
    candidates: (filters, caller) => candidates(neutron, filters, caller),
    view: (row, caller) => view(neutron, row, caller),
    checkOwner: (values, caller) => checkNetworkOwner(neutron, values, caller, 'port'),
    create(values, caller, isBulk) {
      const policy = readQosPolicy(neutron, values['qos_policy_id'], caller);
      const groups = readGroups(neutron, values, caller);
      const isSecure = values['port_security_enabled'] as boolean | undefined;
      const network = networks.known(values['network_id'] as string);
      const pairs = readPairs(values);
      if (pairs && pairs.length > 0 && !(isSecure ?? network.port_security_enabled)) throw pairsNeedSecurity();
      return insertPort(neutron, {
        projectId: values['tenant_id'] as string,
        networkId: network.id,
        name: values['name'] as string,
        description: values['description'] as string,
        adminStateUp: values['admin_state_up'] as boolean,
        deviceId: values['device_id'] as string,
        deviceOwner: values['device_owner'] as string,
        macAddress: (values['mac_address'] as string | null | undefined) ?? undefined,
        fixedIps: values['fixed_ips'] as FixedIpSpec[] | undefined,
        securityGroups: groups,
        portSecurityEnabled: isSecure,
        // In bulk requests neutron validates address pairs but does not store them.
        allowedAddressPairs: isBulk ? [] : pairs,
        host: (values['binding:host_id'] as string | null | undefined) ?? '',
        // Neutron accepts tags on creation only in bulk requests.
        tags: isBulk ? (values['tags'] as string[]) : [],
        rest: {
          'binding:vnic_type': values['binding:vnic_type'] as string,
          'binding:profile': (values['binding:profile'] as Record<string, unknown> | null | undefined) ?? {},
          dns_name: values['dns_name'] as string,
          dns_domain: values['dns_domain'] as string,
          qos_policy_id: policy ?? null,
          numa_affinity_policy: values['numa_affinity_policy'] as string | null,
          extra_dhcp_opts: isBulk ? [] : mergeOptions([], values),
        },
      });
    },
    update: (row, values, caller) => update(neutron, row, values, caller),
    delete(row) {
      refuseTrunkUse(neutron, row.id);
      refuseServicePort(neutron, row);
      deletePort(neutron, row);
    },
  };
}

function candidates(
  neutron: Neutron,
  filters: ReadonlyMap<string, readonly unknown[]>,
  caller: Caller,
): Iterable<Readonly<PortRow>> | undefined {
  const { ports } = neutron;
  const only = (name: string): string | undefined => {
    const values = filters.get(name);
    return values?.length === 1 && values[0] !== '' ? (values[0] as string) : undefined;
  };
  const device = only('device_id');
  if (device !== undefined) return ports.by('device', device);
  const network = only('network_id');
  const mac = only('mac_address');
  if (network !== undefined && mac !== undefined) return ports.by('mac', macKey(network, mac));
  const fixed = filters.get('fixed_ips') as string[] | undefined;
  const subnet = fixed?.find((each) => each.startsWith('subnet_id='))?.slice('subnet_id='.length);
  const address = fixed?.find((each) => each.startsWith('ip_address='))?.slice('ip_address='.length);
  if (subnet !== undefined && address !== undefined && must(fixed, 'fixed').length === 2) {
    return ports.by('address', addressKey(subnet, address.toLowerCase()));
  }
  if (subnet !== undefined && must(fixed, 'fixed').length === 1) return ports.by('subnet', subnet);
  const group = only('security_groups');
  if (group !== undefined) return ports.by('group', group);
  const name = only('name');
  if (name !== undefined) return ports.by('name', name.toLowerCase());
  if (network !== undefined) return ports.by('network', network);
  return caller.isAdmin || caller.projectId === undefined ? undefined : visibleIn(neutron, caller.projectId);
}

/** Yields a project's ports, and ports of others on its networks. */
function* visibleIn({ ports, networks }: Neutron, projectId: string): Generator<Readonly<PortRow>> {
  yield* ports.by('project', projectId);
  for (const { id } of networks.by('project', projectId)) {
    for (const port of ports.by('network', id)) if (port.tenant_id !== projectId) yield port;
  }
}

const matchers: NonNullable<Resource<PortRow>['matchers']> = {
  fixed_ips: (row, wanted) => {
    const groups = new Map<string, string[]>();
    for (const each of wanted as string[]) {
      const at = each.indexOf('=');
      const key = each.slice(0, at);
      groups.set(key, [...(groups.get(key) ?? []), each.slice(at + 1)]);
    }
    const addresses = (groups.get('ip_address') ?? []).map((address) => address.toLowerCase());
    const parts = groups.get('ip_address_substr') ?? [];
    const subnets = groups.get('subnet_id') ?? [];
    return row.fixed_ips.some(
      ({ ip_address, subnet_id }) =>
        (addresses.length === 0 || addresses.includes(ip_address)) &&
        (parts.length === 0 || parts.some((part) => ip_address.includes(part))) &&
        (subnets.length === 0 || subnets.includes(subnet_id)),
    );
  },
  security_groups: (row, wanted) => wanted.flat().some((id) => row.security_groups.includes(id as string)),
};

function view(neutron: Neutron, row: Readonly<PortRow>, caller: Caller): Record<string, unknown> {
  const trunk = trunkDetails(neutron, row.id);
  const host = row['binding:host_id'];
  // Assigned one by one for speed: lists render thousands of ports, and an object literal with spreads is several times
  // slower.
  const shown: Record<string, unknown> = {
    id: row.id,
    name: row.name,
    network_id: row.network_id,
    tenant_id: row.tenant_id,
    mac_address: row.mac_address,
    admin_state_up: row.admin_state_up,
    status: row.status,
    device_id: row.device_id,
    device_owner: row.device_owner,
    fixed_ips: row.fixed_ips,
    allowed_address_pairs: row.allowed_address_pairs,
    extra_dhcp_opts: row.extra_dhcp_opts,
    security_groups: row.security_groups,
    description: row.description,
    'binding:vnic_type': row['binding:vnic_type'],
    port_security_enabled: row.port_security_enabled,
    qos_policy_id: row.qos_policy_id ?? null,
    qos_network_policy_id: neutron.networks.get(row.network_id)?.qos_policy_id ?? null,
    dns_name: row.dns_name,
    dns_assignment: dnsAssignment(row),
    dns_domain: row.dns_domain,
    tags: row.tags,
    created_at: zulu(row.created_at),
    updated_at: zulu(row.updated_at),
    revision_number: row.revision_number,
    project_id: row.tenant_id,
  };
  if (trunk) shown['trunk_details'] = trunk;
  if (!caller.isAdmin) return shown;
  shown['binding:profile'] = row['binding:profile'];
  shown['binding:host_id'] = host;
  shown['binding:vif_type'] = host === '' ? 'unbound' : 'ovs';
  shown['binding:vif_details'] =
    host === '' ? {} : { port_filter: true, ovs_hybrid_plug: false, bridge_name: 'br-int' };
  shown['numa_affinity_policy'] = row.numa_affinity_policy ?? null;
  return shown;
}

function update(neutron: Neutron, row: Readonly<PortRow>, values: Values, caller: Caller): Readonly<PortRow> {
  if (Object.keys(values).length === 0) return row;
  readQosPolicy(neutron, values['qos_policy_id'], caller);
  const changes: Record<string, unknown> = { ...values };
  if ('mac_address' in values) changes['mac_address'] = newMac(neutron, row, values['mac_address'] as string | null);
  if ('fixed_ips' in values) {
    const request = { networkId: row.network_id, mac: row.mac_address, deviceOwner: row.device_owner };
    const fixedIps = reallocate(neutron, request, row.fixed_ips, values['fixed_ips'] as FixedIpSpec[]);
    refuseRouterChange(neutron, row, fixedIps);
    changes['fixed_ips'] = fixedIps;
  }
  updateSecurity(neutron, row, values, changes, caller);
  if ('extra_dhcp_opts' in values) changes['extra_dhcp_opts'] = mergeOptions(row.extra_dhcp_opts, values);
  if (changes['binding:profile'] === null) changes['binding:profile'] = {};
  if ('binding:host_id' in values) {
    const host = (values['binding:host_id'] as string | null) ?? '';
    changes['binding:host_id'] = host;
    changes['status'] = host === '' ? 'DOWN' : 'ACTIVE';
  }
  return neutron.change(neutron.ports, row, changes as Partial<PortRow>);
}

/** Updates port security, groups and address pairs, which depend on each other. */
function updateSecurity(
  neutron: Neutron,
  row: Readonly<PortRow>,
  values: Values,
  changes: Record<string, unknown>,
  caller: Caller,
): void {
  const isSecure = (values['port_security_enabled'] as boolean | undefined) ?? row.port_security_enabled;
  const groups = readGroups(neutron, values, caller);
  const pairs = readPairs(values);
  const mac = (changes['mac_address'] as string | undefined) ?? row.mac_address;
  if (pairs) changes['allowed_address_pairs'] = pairs.map((pair) => ({ mac_address: mac, ...pair }));
  if (!isSecure) {
    if ((pairs ?? row.allowed_address_pairs).length > 0) throw pairsNeedSecurity();
    if ((groups ?? row.security_groups).length > 0) {
      if (groups) securityGroupsOf(neutron, { projectId: row.tenant_id, securityGroups: groups }, false);
      const message =
        'Port has security group associated. Cannot disable port security or IP address until security group is removed.';
      throw refuse(409, 'PortSecurityPortHasSecurityGroup', message);
    }
  }
  if (groups) changes['security_groups'] = groups;
}

function readGroups(neutron: Neutron, values: Values, caller: Caller): string[] | undefined {
  const groups = values['security_groups'] as string[] | undefined;
  const stateful = new Set<boolean>();
  for (const id of groups ?? []) {
    const group = neutron.securityGroups.get(id);
    if (!group || !canUse(neutron, group, caller)) throw securityGroupNotFound(id);
    stateful.add(group.stateful);
  }
  if (stateful.size > 1) {
    const reason = 'Cannot apply both stateful and stateless security groups on the same port at the same time';
    throw refuse(409, 'SecurityGroupConflict', `Error ${reason} while attempting the operation.`);
  }
  return groups;
}

/** Null requests a new random address. */
function newMac(neutron: Neutron, row: Readonly<PortRow>, given: string | null): string {
  const desired = given ?? chooseMac(neutron, row.network_id, undefined);
  if (desired.toLowerCase() === row.mac_address.toLowerCase()) return desired;
  if (row['binding:host_id'] !== '') {
    const message = `Unable to complete operation on port ${row.id}, port is already bound, port type: ovs, old_mac ${row.mac_address}, new_mac ${desired}.`;
    throw refuse(409, 'PortBound', message);
  }
  if (neutron.ports.count('mac', macKey(row.network_id, desired)) > 0) throw macInUse(row.network_id, desired);
  return desired;
}

function mergeOptions(current: readonly object[], values: Values): object[] {
  const given = (values['extra_dhcp_opts'] as Record<string, unknown>[] | null) ?? [];
  const key = (option: Record<string, unknown>): string => `${option['opt_name']} ${option['ip_version'] ?? 4}`;
  const merged = new Map(current.map((option) => [key(option as Record<string, unknown>), option]));
  for (const option of given) {
    // An option without a value is removed.
    if (option['opt_value'] === null) merged.delete(key(option));
    else merged.set(key(option), { ip_version: 4, ...option });
  }
  return [...merged.values()];
}

function pairsNeedSecurity(): Error {
  const message = 'Port Security must be enabled in order to have allowed address pairs on a port.';
  return refuse(409, 'AddressPairAndPortSecurityRequired', message);
}

/** The IPv4 address of a router port cannot change. */
function refuseRouterChange(neutron: Neutron, row: Readonly<PortRow>, fixedIps: PortRow['fixed_ips']): void {
  const same = row.fixed_ips.every(({ ip_address }) => fixedIps.some((each) => each.ip_address === ip_address));
  if (same && fixedIps.length === row.fixed_ips.length) return;
  if (row.device_owner !== 'network:router_interface' || !neutron.routers.has(row.device_id)) return;
  if (!row.fixed_ips.some(({ ip_address }) => parseCidr(ip_address)?.version === 4)) return;
  throw badRequest('ports', `IP updates for port ${row.id} are not allowed`);
}

const serviceOwners = new Set(['network:router_interface', 'network:router_gateway', 'network:floatingip']);

/** Ports of routers and floating IPs are deleted only with their owner. */
function refuseServicePort({ routers, floatingIps }: Neutron, row: Readonly<PortRow>): void {
  if (!serviceOwners.has(row.device_owner)) return;
  if (!routers.has(row.device_id) && !floatingIps.has(row.device_id)) return;
  const message = `Port ${row.id} cannot be deleted directly via the port API: has device owner ${row.device_owner}.`;
  throw refuse(409, 'ServicePortInUse', message);
}
