import type { Caller } from '../../core/caller.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import { dnsName, listOf, nonNegative, orNull, string, uuid } from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toBoolean, toInteger, toLowerCase } from '../attributes/converters.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { type AttributeRules, adminOnly } from '../policy.ts';
import { availabilityZoneNotFound, invalidInput, networkNotFound, refuse } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { NetworkRow } from '../rows.ts';
import { sharingKey } from '../tables.ts';
import { deleteFloatingIp } from './floating-ips.ts';
import { autoDeletedOwners, deletePort } from './port-writes.ts';
import { defaultQosPolicy, readQosPolicy } from './qos-use.ts';
import { dropSharings, hasUsers, isSharedWith, shareWithEverybody, sharingInUse } from './sharing.ts';
import { deleteSubnet } from './subnets.ts';

/** Encapsulation overhead of overlay networks in bytes. */
const overlayOverhead: Readonly<Record<string, number>> = { vxlan: 50, geneve: 58, gre: 42 };
const physicalMtu = 1500;

const flag = { create: true, update: true, default: false, convert: toBoolean, filter: true, ruled: true };
const provider = { create: true, update: true, filter: true, ruled: true };

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  subnets: common.readOnly,
  admin_state_up: common.adminStateUp,
  status: common.listable,
  tenant_id: common.owner,
  shared: flag,
  ipv4_address_scope: common.readOnly,
  ipv6_address_scope: common.readOnly,
  'router:external': flag,
  mtu: {
    create: true,
    update: true,
    default: 0,
    convert: toInteger,
    check: nonNegative,
    filter: true,
    sort: true,
    ruled: true,
  },
  availability_zones: common.readOnly,
  availability_zone_hints: { create: true, default: [], check: listOf(string(255)), sort: true },
  port_security_enabled: { create: true, update: true, default: true, convert: toBoolean, ruled: true },
  'provider:network_type': { ...provider, check: string(32) },
  'provider:physical_network': { ...provider, check: string(64) },
  'provider:segmentation_id': { ...provider, convert: toInteger },
  qos_policy_id: { create: true, update: true, default: null, check: orNull(uuid), ruled: true },
  ...common.tagAttributes,
  ...common.standardAttributes,
  is_default: flag,
  dns_domain: {
    create: true,
    update: true,
    default: '',
    convert: toLowerCase,
    check: dnsName(255, { isDomain: true }),
  },
  description: common.description,
};

const rules: AttributeRules = {
  shared: adminOnly,
  'router:external': adminOnly,
  is_default: adminOnly,
  'provider:network_type': adminOnly,
  'provider:physical_network': adminOnly,
  'provider:segmentation_id': adminOnly,
};

export function networkResource(neutron: Neutron): Resource<NetworkRow> {
  const { networks, subnets, ports, sharings } = neutron;
  const view = (row: Readonly<NetworkRow>, caller: Caller): Record<string, unknown> => ({
    id: row.id,
    name: row.name,
    tenant_id: row.tenant_id,
    admin_state_up: row.admin_state_up,
    mtu: row.mtu,
    status: row.status,
    subnets: Array.from(subnets.by('network', row.id), ({ id }) => id),
    shared: row.shared || (!caller.isAdmin && isSharedWith(neutron, row, caller.projectId)),
    availability_zone_hints: row.availability_zone_hints,
    availability_zones: [],
    ipv4_address_scope: scopeOf(neutron, row.id, 4),
    ipv6_address_scope: scopeOf(neutron, row.id, 6),
    'router:external': row['router:external'],
    description: row.description,
    port_security_enabled: row.port_security_enabled,
    qos_policy_id: row.qos_policy_id ?? null,
    dns_domain: row.dns_domain,
    tags: row.tags,
    ...standardView(row),
    project_id: row.tenant_id,
    ...(row['router:external'] && { is_default: row.is_default }),
  });
  return {
    name: 'network',
    collection: 'networks',
    path: 'networks',
    quota: 'network',
    attributes,
    rules,
    table: networks,
    notFound: networkNotFound,
    isVisibleTo: (row, caller) =>
      row['router:external'] || row.tenant_id === caller.projectId || isSharedWith(neutron, row, caller.projectId),
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    candidates(filters, caller) {
      if (filters.get('router:external')?.[0] === true) return networks.by('open', 'yes');
      if (caller.isAdmin || caller.projectId === undefined) return undefined;
      const granted = [...sharings.by('target', caller.projectId)].map(({ object_id }) => networks.known(object_id));
      return new Set([...networks.by('project', caller.projectId), ...networks.by('open', 'yes'), ...granted]);
    },
    view: (row, caller) => ({
      ...view(row, caller),
      ...(caller.isAdmin && {
        'provider:network_type': row['provider:network_type'],
        'provider:physical_network': row['provider:physical_network'],
        'provider:segmentation_id': row['provider:segmentation_id'],
      }),
    }),
    viewCreated: (row) => ({ is_default: row.is_default }),
    create(values, caller) {
      refuseUnsupported(values);
      const policy = readQosPolicy(neutron, values['qos_policy_id'], caller);
      const segment = segmentOf(neutron, values);
      const network = networks.insert({
        ...neutron.standard(values),
        revision_number: 1,
        name: values['name'] as string,
        admin_state_up: values['admin_state_up'] as boolean,
        status: 'ACTIVE',
        mtu: mtuOf(values['mtu'] as number, segment['provider:network_type']),
        shared: false,
        'router:external': values['router:external'] as boolean,
        is_default: values['is_default'] as boolean,
        port_security_enabled: values['port_security_enabled'] as boolean,
        dns_domain: values['dns_domain'] as string,
        availability_zone_hints: values['availability_zone_hints'] as string[],
        ...segment,
        qos_policy_id: policy ?? defaultQosPolicy(neutron, values['tenant_id'] as string),
      });
      shareWithEverybody(neutron, network, values['shared'] as boolean);
      return network;
    },
    update(row, values, caller) {
      refuseUnsupported(values);
      readQosPolicy(neutron, values['qos_policy_id'], caller);
      if ('provider:network_type' in values || 'provider:physical_network' in values) {
        throw invalidInput(
          'Plugin does not support updating the following provider network attributes: ' +
            Object.keys(values)
              .filter((key) => key.startsWith('provider:'))
              .join(', '),
        );
      }
      if (values['router:external'] === false && row['router:external'] && hasGateways(neutron, row.id)) {
        const message = `External network ${row.id} cannot be updated to be made non-external, since it has existing gateway ports.`;
        throw refuse(409, 'ExternalNetworkInUse', message);
      }
      if (Object.keys(values).length === 0) return row;
      if (values['shared'] !== undefined) share(neutron, row, values['shared'] as boolean);
      const changes = values as Partial<NetworkRow>;
      const mtu = changes.mtu === undefined ? undefined : mtuOf(changes.mtu, row['provider:network_type']);
      return neutron.change(networks, row, { ...changes, ...(mtu !== undefined && { mtu }) });
    },
    delete(row) {
      // Unassociated floating IPs are deleted with their network.
      const free = [...ports.by('network', row.id)].flatMap(({ device_owner, device_id }) => {
        const floating = device_owner === 'network:floatingip' ? neutron.floatingIps.get(device_id) : undefined;
        return floating && floating.port_id === null && floating.router_id === null ? [floating] : [];
      });
      for (const floating of free) deleteFloatingIp(neutron, floating);
      const used = [...ports.by('network', row.id)].filter((port) => !autoDeletedOwners.has(port.device_owner));
      if (used.length > 0) {
        const ids = used.map(({ id }) => id).join(',');
        const reason = `There are one or more ports still in use on the network, id for these ports is: ${ids}`;
        throw refuse(409, 'NetworkInUse', `Unable to complete operation on network ${row.id}. ${reason}.`);
      }
      for (const port of [...ports.by('network', row.id)]) deletePort(neutron, port);
      for (const subnet of [...subnets.by('network', row.id)]) deleteSubnet(neutron, subnet);
      dropSharings(neutron, row.id);
      networks.delete(row.id);
    },
  };
}

/** Refuses features that this cloud does not have. */
function refuseUnsupported(values: Values): void {
  const zones = values['availability_zone_hints'] as string[] | undefined;
  if (zones && zones.length > 0) throw availabilityZoneNotFound(zones[0]);
}

function mtuOf(desired: number, networkType: string): number {
  const most = physicalMtu - (overlayOverhead[networkType] ?? 0);
  if (desired > most) throw invalidInput(`Requested MTU is too big, maximum is ${most}`);
  return desired === 0 ? most : desired;
}

type Segment = Pick<NetworkRow, 'provider:network_type' | 'provider:physical_network' | 'provider:segmentation_id'>;

function segmentOf({ core }: Neutron, values: Values): Segment {
  const type = values['provider:network_type'] as string | undefined;
  const physical = (values['provider:physical_network'] as string | undefined) ?? null;
  const given = (values['provider:segmentation_id'] as number | undefined) ?? null;
  const isOverlay = type === undefined || type in overlayOverhead;
  return {
    'provider:network_type': type ?? 'vxlan',
    'provider:physical_network': physical,
    'provider:segmentation_id': given ?? (isOverlay ? 1 + Math.floor(core.random.next() * 100_000) : null),
  };
}

/** Reports whether a network has router gateways or floating IPs, associated or not. */
function hasGateways({ ports }: Neutron, networkId: string): boolean {
  for (const { device_owner } of ports.by('network', networkId)) {
    if (device_owner === 'network:router_gateway' || device_owner === 'network:floatingip') return true;
  }
  return false;
}

/** Returns the address scope of the subnet pools of a network. */
function scopeOf({ subnets, subnetPools }: Neutron, networkId: string, version: 4 | 6): string | null {
  for (const { ip_version, subnetpool_id } of subnets.by('network', networkId)) {
    if (ip_version !== version || !subnetpool_id) continue;
    return subnetPools.get(subnetpool_id)?.address_scope_id ?? null;
  }
  return null;
}

function share(neutron: Neutron, network: Readonly<NetworkRow>, isShared: boolean): void {
  const { sharings } = neutron;
  const isLeftOut = (user: string): boolean => sharings.count('grant', sharingKey(network.id, user)) === 0;
  if (!isShared && network.shared && hasUsers(neutron, network, isLeftOut)) throw sharingInUse(network);
  shareWithEverybody(neutron, network, isShared);
}
