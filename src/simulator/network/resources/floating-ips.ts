import { must } from '../../../machinery/index.ts';
import type { Caller } from '../../core/caller.ts';
import { knownIp } from '../addressing/ip.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toLowerCase } from '../attributes/converters.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { type AttributeRules, adminOnly } from '../policy.ts';
import { badRequest, floatingIpNotFound, networkNotFound, portNotFound, refuse } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { FloatingIpRow, PortRow, SubnetRow } from '../rows.ts';
import { forwardingsOf, refuseForwarding } from './forwarding-use.ts';
import { deletePort, insertPort } from './port-writes.ts';
import { readQosPolicy } from './qos-use.ts';
import { gatewayPort } from './router-gateway.ts';

const attributes: Attributes = {
  id: common.id,
  floating_ip_address: {
    create: true,
    default: null,
    check: checks.orNull(checks.ip),
    filter: true,
    sort: true,
    ruled: true,
  },
  subnet_id: { create: true, default: null, check: checks.orNull(checks.uuid) },
  floating_network_id: { create: true, required: true, check: checks.uuid, filter: true, sort: true },
  router_id: common.listable,
  port_id: { create: true, update: true, default: null, check: checks.orNull(checks.uuid), filter: true },
  fixed_ip_address: {
    create: true,
    update: true,
    default: null,
    check: checks.orNull(checks.ip),
    filter: true,
    sort: true,
  },
  tenant_id: common.owner,
  status: common.listable,
  qos_policy_id: { create: true, update: true, default: null, check: checks.orNull(checks.uuid), ruled: true },
  ...common.tagAttributes,
  ...common.standardAttributes,
  dns_name: { create: true, default: '', convert: toLowerCase, check: checks.dnsName(255, { isDomain: false }) },
  dns_domain: { create: true, default: '', convert: toLowerCase, check: checks.dnsName(255, { isDomain: true }) },
  port_details: common.readOnly,
  port_forwardings: common.readOnly,
  description: common.description,
};

const rules: AttributeRules = { floating_ip_address: adminOnly };

export function floatingIpResource(neutron: Neutron): Resource<FloatingIpRow> {
  const { floatingIps, ports } = neutron;
  return {
    name: 'floatingip',
    collection: 'floatingips',
    path: 'floatingips',
    quota: 'floatingip',
    attributes,
    rules,
    table: floatingIps,
    notFound: floatingIpNotFound,
    isVisibleTo: (row, caller) => row.tenant_id === caller.projectId,
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    candidates(filters, { isAdmin, projectId }) {
      const [port] = filters.get('port_id') ?? [];
      if (filters.get('port_id')?.length === 1 && port !== '') return floatingIps.by('port', port as string);
      const [address] = filters.get('floating_ip_address') ?? [];
      if (filters.get('floating_ip_address')?.length === 1) return floatingIps.by('address', address as string);
      return isAdmin || projectId === undefined ? undefined : floatingIps.by('project', projectId);
    },
    view: (row) => ({
      id: row.id,
      tenant_id: row.tenant_id,
      floating_ip_address: row.floating_ip_address,
      floating_network_id: row.floating_network_id,
      router_id: row.router_id,
      port_id: row.port_id,
      fixed_ip_address: row.fixed_ip_address,
      status: row.status,
      description: row.description,
      port_details: portDetails(row.port_id === null ? undefined : ports.get(row.port_id)),
      port_forwardings: forwardingsOf(neutron, row.id),
      qos_policy_id: row.qos_policy_id ?? null,
      dns_domain: row.dns_domain,
      dns_name: row.dns_name,
      tags: row.tags,
      ...standardView(row),
      project_id: row.tenant_id,
    }),
    create: (values, caller) => create(neutron, values, caller),
    update(row, values, caller) {
      const policy = readQosPolicy(neutron, values['qos_policy_id'], caller);
      // An empty body removes the port: older clients disassociate this way.
      const desired = Object.keys(values).length === 0 ? { port_id: null } : values;
      const association = associationOf(neutron, row, desired, caller);
      const description = values['description'] as string | undefined;
      const changed = neutron.change(floatingIps, row, {
        ...association,
        ...(description !== undefined && { description }),
        ...(policy !== undefined && { qos_policy_id: policy }),
      });
      neutron.settleFloatingIp(row.id);
      return changed;
    },
    delete(row) {
      refuseForwarding(neutron, row);
      deleteFloatingIp(neutron, row);
    },
  };
}

/** Releases a floating IP. */
export function deleteFloatingIp(neutron: Neutron, row: Readonly<FloatingIpRow>): void {
  neutron.floatingIps.delete(row.id);
  const own = neutron.ports.get(row.own_port_id);
  if (own) deletePort(neutron, own);
}

function create(neutron: Neutron, values: Values, caller: Caller): Readonly<FloatingIpRow> {
  const policy = readQosPolicy(neutron, values['qos_policy_id'], caller);
  const networkId = values['floating_network_id'] as string;
  const network = neutron.networks.get(networkId);
  const isVisible =
    network &&
    (caller.isAdmin || network['router:external'] || network.tenant_id === caller.projectId || network.shared);
  if (!isVisible) throw networkNotFound(networkId);
  if (!network['router:external']) {
    throw badRequest('floatingip', `Network ${networkId} is not a valid external network`);
  }
  const subnets = [...neutron.subnets.by('network', networkId)];
  if (!subnets.some(({ ip_version }) => ip_version === 4)) {
    throw badRequest('floatingip', `Network ${networkId} does not contain any IPv4 subnet`);
  }
  const address = values['floating_ip_address'] as string | null;
  const subnetId = values['subnet_id'] as string | null;
  const standard = neutron.standard(values);
  const own = insertPort(neutron, {
    projectId: '',
    networkId,
    deviceId: standard.id,
    deviceOwner: 'network:floatingip',
    status: 'N/A',
    ...((address !== null || subnetId !== null) && {
      fixedIps: [
        { ...(subnetId !== null && { subnet_id: subnetId }), ...(address !== null && { ip_address: address }) },
      ],
    }),
  });
  const fixed = own.fixed_ips.find(({ ip_address }) => knownIp(ip_address).version === 4);
  if (!fixed) {
    const message = `Unable to find any IP address on external network ${networkId}.`;
    throw refuse(400, 'ExternalIpAddressExhausted', message);
  }
  const fresh: FloatingIpRow = {
    ...standard,
    floating_ip_address: fixed.ip_address,
    floating_network_id: networkId,
    own_port_id: own.id,
    qos_policy_id: policy ?? null,
    port_id: null,
    fixed_ip_address: null,
    router_id: null,
    status: 'DOWN',
    // Without an external DNS service neutron stores no names.
    dns_name: '',
    dns_domain: '',
  };
  const made = neutron.floatingIps.insert({ ...fresh, ...associationOf(neutron, fresh, values, caller) });
  neutron.settleFloatingIp(made.id);
  return made;
}

type Association = Pick<FloatingIpRow, 'port_id' | 'fixed_ip_address' | 'router_id'>;

/** Returns the association of a floating IP after a request. A port that is not mentioned stays. */
function associationOf(neutron: Neutron, row: Readonly<FloatingIpRow>, values: Values, caller: Caller): Association {
  const given = values['port_id'] as string | null | undefined;
  const desiredAddress = (values['fixed_ip_address'] as string | null | undefined) ?? undefined;
  if (desiredAddress !== undefined && !given) {
    throw badRequest('floatingip', 'fixed_ip_address cannot be specified without a port_id');
  }
  const portId = given === undefined ? row.port_id : given;
  if (given) refuseForwarding(neutron, row);
  if (portId === null) return { port_id: null, fixed_ip_address: null, router_id: null };
  const { port, address, subnet } = innerSide(neutron, row, { portId, wanted: desiredAddress }, caller);
  const routerId = routerBetween(neutron, port, subnet, row.floating_network_id);
  if (portId !== row.port_id) {
    for (const other of neutron.floatingIps.by('port', portId)) {
      if (other.fixed_ip_address !== address || other.floating_network_id !== row.floating_network_id) continue;
      const message = `Cannot associate floating IP ${row.floating_ip_address} (${row.id}) with port ${portId} using fixed IP ${address}, as that fixed IP already has a floating IP on external network ${row.floating_network_id}.`;
      throw refuse(409, 'FloatingIPPortAlreadyAssociated', message);
    }
  }
  return { port_id: portId, fixed_ip_address: address, router_id: routerId };
}

function innerSide(
  { ports, networks, subnets }: Neutron,
  row: Readonly<FloatingIpRow>,
  { portId, wanted }: { portId: string; wanted: string | undefined },
  caller: Caller,
): { port: Readonly<PortRow>; address: string; subnet: Readonly<SubnetRow> } {
  const port = ports.get(portId);
  const isVisible =
    port &&
    (caller.isAdmin ||
      port.tenant_id === caller.projectId ||
      networks.get(port.network_id)?.tenant_id === caller.projectId);
  if (!isVisible) throw portNotFound(portId);
  if (port.tenant_id !== row.tenant_id && !caller.isAdmin) {
    throw badRequest(
      'floatingip',
      `Cannot process floating IP association with Port ${portId}, since that port is owned by a different tenant`,
    );
  }
  if (wanted !== undefined) {
    if (knownIp(wanted).version !== 4) {
      throw badRequest(
        'floatingip',
        `Cannot process floating IP association with ${wanted}, since that is not an IPv4 address`,
      );
    }
    const fixed = port.fixed_ips.find(({ ip_address }) => ip_address === wanted);
    if (!fixed) throw badRequest('floatingip', `Port ${portId} does not have fixed ip ${wanted}`);
    return { port, address: wanted, subnet: subnets.known(fixed.subnet_id) };
  }
  const candidates = port.fixed_ips.filter(({ ip_address }) => knownIp(ip_address).version === 4);
  if (candidates.length === 0) {
    throw badRequest('floatingip', `Cannot add floating IP to port ${portId} that has no fixed IPv4 addresses`);
  }
  if (candidates.length > 1) {
    throw badRequest(
      'floatingip',
      `Port ${portId} has multiple fixed IPv4 addresses.  Must provide a specific IPv4 address when assigning a floating IP`,
    );
  }
  return {
    port,
    address: must(candidates[0], 'the first of candidates').ip_address,
    subnet: subnets.known(must(candidates[0], 'the first of candidates').subnet_id),
  };
}

/** Finds a router that connects the subnet to the external network. Prefers the router that is the subnet's gateway. */
export function routerBetween(
  neutron: Neutron,
  port: Readonly<PortRow>,
  subnet: Readonly<SubnetRow>,
  externalId: string,
): string {
  let found: string | undefined;
  for (const inner of neutron.ports.by('subnet', subnet.id)) {
    if (inner.device_owner !== 'network:router_interface') continue;
    const router = neutron.routers.get(inner.device_id);
    if (!router || gatewayPort(neutron, router)?.network_id !== externalId) continue;
    if (inner.fixed_ips.some(({ ip_address }) => ip_address === subnet.gateway_ip)) return router.id;
    found ??= router.id;
  }
  if (found !== undefined) return found;
  const message = `External network ${externalId} is not reachable from subnet ${subnet.id}.  Therefore, cannot associate Port ${port.id} with a Floating IP.`;
  throw refuse(404, 'ExternalGatewayForFloatingIPNotFound', message);
}

function portDetails(port: Readonly<PortRow> | undefined): object | null {
  if (!port) return null;
  const { name, network_id, mac_address, admin_state_up, status, device_id, device_owner } = port;
  return { name, network_id, mac_address, admin_state_up, status, device_id, device_owner };
}
