import { must } from '../../../machinery/index.ts';
import type { Caller } from '../../core/caller.ts';
import type { RequestContext } from '../../core/http/context.ts';
import { resourceRoutes } from '../../core/resource.ts';
import type { Route } from '../../core/service.ts';
import { knownIp } from '../addressing/ip.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import { readCreateBody, readUpdateBody } from '../attributes/body.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toInteger } from '../attributes/converters.ts';
import type { Neutron } from '../neutron.ts';
import { badRequest, disallowed, floatingIpNotFound, portNotFound, refuse } from '../refusals.ts';
import type { FloatingIpRow, PortForwardingRow, PortRow } from '../rows.ts';
import { routerBetween } from './floating-ips.ts';

const portNumber = { create: true, update: true, convert: toInteger, check: checks.range(1, 65_535) };

/** Checks `first:last`. */
const portRange: checks.Check = (value) => {
  const [first = 0, last = first, ...more] = typeof value === 'string' ? value.split(':').map(Number) : [];
  const isGood =
    more.length === 0 && [first, last].every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535);
  return isGood && first <= last ? undefined : `'${String(value)}' is not a valid range of ports`;
};
const range = { create: true, update: true, check: portRange };

const shape: { readonly name: string; readonly collection: string; readonly attributes: Attributes } = {
  name: 'port_forwarding',
  collection: 'port_forwardings',
  attributes: {
    id: common.id,
    tenant_id: common.owner,
    external_port: portNumber,
    internal_port: portNumber,
    external_port_range: range,
    internal_port_range: range,
    internal_ip_address: { create: true, update: true, check: checks.ip },
    protocol: {
      create: true,
      update: true,
      required: true,
      check: checks.oneOf(['tcp', 'udp', 'icmp', 'icmp6', 'sctp', 'dccp']),
    },
    internal_port_id: { create: true, update: true, required: true, check: checks.uuid },
    description: common.description,
  },
};

type Content = Pick<
  PortForwardingRow,
  'protocol' | 'external_port_range' | 'internal_port_id' | 'internal_ip_address' | 'internal_port_range'
>;

/** Routes of port forwardings, with which several machines share a floating IP. */
export function portForwardingRoutes(neutron: Neutron): Route[] {
  const { portForwardings } = neutron;
  const find = (context: RequestContext): Readonly<PortForwardingRow> => {
    const floating = floatingOf(neutron, context);
    const row = portForwardings.get(context.param('id'));
    if (row?.floatingip_id !== floating.id) throw notFound(context.param('id'));
    return row;
  };
  return resourceRoutes<PortForwardingRow>({
    path: '/v2.0/floatingips/{floatingip}/port_forwardings',
    name: shape.name,
    find(context, operation) {
      if (operation === 'delete') mustWrite(context, operation);
      return find(context);
    },
    view,
    list(context) {
      const wanted = context.query.entries;
      const rows = Array.from(portForwardings.by('floatingIp', floatingOf(neutron, context).id), view).filter((row) =>
        wanted.every(([name, value]) => !(name in row) || String(row[name]) === value),
      );
      return { status: 200, body: { port_forwardings: rows } };
    },
    create(context) {
      const [values = {}] = readCreateBody(context, shape).items;
      mustWrite(context, 'create');
      const floating = floatingOf(neutron, context);
      const { content, routerId } = contentOf(neutron, floating, values, undefined, context.caller);
      const { tags: _untagged, ...standard } = neutron.standard({
        tenant_id: floating.tenant_id,
        description: values['description'],
      });
      const row = portForwardings.insert({ ...standard, floatingip_id: floating.id, ...content });
      settle(neutron, floating, routerId);
      return row;
    },
    update(context) {
      const values = readUpdateBody(context, shape);
      mustWrite(context, 'update');
      const row = find(context);
      const floating = floatingOf(neutron, context);
      const { content, routerId } = contentOf(neutron, floating, values, row, context.caller);
      const description = values['description'] as string | undefined;
      const changed = neutron.change(portForwardings, row, {
        ...content,
        ...(description !== undefined && { description }),
      });
      settle(neutron, floating, routerId);
      return changed;
    },
    delete(row, context) {
      portForwardings.delete(row.id);
      const floating = floatingOf(neutron, context);
      if (portForwardings.count('floatingIp', floating.id) === 0) settle(neutron, floating, null);
    },
  });
}

function notFound(id: string): Error {
  return refuse(404, 'PortForwardingNotFound', `Port Forwarding ${id} could not be found.`);
}

function mustWrite({ caller }: RequestContext, verb: string): void {
  if (!caller.isAdmin && !caller.canWrite) throw disallowed(`rule:${verb}_floatingip_port_forwarding`);
}

function floatingOf({ floatingIps }: Neutron, context: RequestContext): Readonly<FloatingIpRow> {
  const id = context.param('floatingip');
  const floating = floatingIps.get(id);
  if (!floating || !(context.caller.isAdmin || floating.tenant_id === context.caller.projectId)) {
    throw floatingIpNotFound(id);
  }
  return floating;
}

/** Validates the content of a port forwarding. */
function contentOf(
  neutron: Neutron,
  floating: Readonly<FloatingIpRow>,
  values: Values,
  current: Readonly<PortForwardingRow> | undefined,
  caller: Caller,
): { content: Content; routerId: string } {
  const wanted = { ...current, ...values } as Partial<Content>;
  const portId = must(wanted.internal_port_id, 'wanted.internal_port_id');
  const port = neutron.ports.get(portId);
  if (!port || !(caller.isAdmin || port.tenant_id === caller.projectId)) throw portNotFound(portId);
  const isMoved = current !== undefined && portId !== current.internal_port_id && !('internal_ip_address' in values);
  const address = addressOf(port, isMoved ? undefined : wanted.internal_ip_address);
  if (floating.port_id !== null) {
    const message = `Cannot associate floating IP ${floating.floating_ip_address} (${floating.id}) with port ${portId} using fixed IP ${address}, as that floating IP already has a port on external network ${floating.floating_network_id}.`;
    throw refuse(409, 'FloatingIPPortAlreadyAssociated', message);
  }
  for (const other of neutron.floatingIps.by('port', portId)) {
    const message = `Cannot create port forwarding to floating IP ${floating.floating_ip_address} (${other.id}) with port ${portId} using fixed IP ${address}, as that port already has a binding floating IP.`;
    throw refuse(409, 'PortHasBindingFloatingIP', message);
  }
  const content: Content = {
    protocol: must(wanted.protocol, 'wanted.protocol'),
    external_port_range: rangeOf(values, 'external', current),
    internal_port_id: portId,
    internal_ip_address: address,
    internal_port_range: rangeOf(values, 'internal', current),
  };
  refuseUneven(content);
  refuseTwice(neutron, floating, content, current?.id);
  const fixed = must(
    port.fixed_ips.find(({ ip_address }) => ip_address === address),
    'fixed',
  );
  const routerId = routerBetween(neutron, port, neutron.subnets.known(fixed.subnet_id), floating.floating_network_id);
  if (floating.router_id !== null && floating.router_id !== routerId) {
    throw badRequest(
      shape.name,
      `The Floating IP ${floating.id} had been set on router ${floating.router_id}, the internal Neutron port ${portId} can not reach it`,
    );
  }
  return { content, routerId };
}

/** Reads a range, or a single port as a range. */
function rangeOf(
  values: Values,
  side: 'external' | 'internal',
  current: Readonly<PortForwardingRow> | undefined,
): string {
  const [port, given] = [values[`${side}_port`], values[`${side}_port_range`]];
  if (port !== undefined && given !== undefined) {
    throw badRequest(shape.name, `The ${side}_port and ${side}_port_range cannot be used together`);
  }
  if (port !== undefined) return `${String(port)}:${String(port)}`;
  if (given !== undefined) return String(given).includes(':') ? String(given) : `${String(given)}:${String(given)}`;
  if (current) return current[`${side}_port_range`];
  throw badRequest(shape.name, `Either ${side}_port or ${side}_port_range must be given`);
}

/** Ranges must have the same size, or the internal range must be a single port. */
function refuseUneven({ external_port_range, internal_port_range }: Content): void {
  const size = (text: string): number => boundsOf(text).last - boundsOf(text).first;
  if (size(internal_port_range) === 0 || size(internal_port_range) === size(external_port_range)) return;
  throw badRequest(
    shape.name,
    `Invalid ports ranges: external ${external_port_range} and internal ${internal_port_range} are not of the same size`,
  );
}

function boundsOf(text: string): { readonly first: number; readonly last: number } {
  const [first = 0, last = first] = text.split(':').map(Number);
  return { first, last };
}

function overlaps(some: string, others: string): boolean {
  const [left, right] = [boundsOf(some), boundsOf(others)];
  return left.first <= right.last && right.first <= left.last;
}

function addressOf(port: Readonly<PortRow>, wanted: string | undefined): string {
  const addresses = port.fixed_ips.map(({ ip_address }) => ip_address).filter((ip) => knownIp(ip).version === 4);
  const [first] = addresses;
  if (first === undefined) {
    throw badRequest(shape.name, `Requested internal port ${port.id} must allocate an IPv4 address at least.`);
  }
  if (wanted === undefined) return first;
  if (!addresses.includes(wanted)) {
    throw badRequest(
      shape.name,
      `Requested internal IP address ${wanted} is not suitable for internal neutron port ${port.id}, as its fixed_ips are ${addresses.join(', ')}`,
    );
  }
  return wanted;
}

/** Ranges of forwardings with the same address and protocol must not overlap. */
function refuseTwice(
  { portForwardings }: Neutron,
  floating: Readonly<FloatingIpRow>,
  content: Content,
  own: string | undefined,
): void {
  for (const other of portForwardings.by('floatingIp', floating.id)) {
    if (other.id === own || other.protocol !== content.protocol) continue;
    const isOutside = overlaps(other.external_port_range, content.external_port_range);
    const isInside =
      other.internal_port_id === content.internal_port_id &&
      other.internal_ip_address === content.internal_ip_address &&
      overlaps(other.internal_port_range, content.internal_port_range);
    if (!isOutside && !isInside) continue;
    const values = isOutside
      ? `external_port ${content.external_port_range}`
      : `internal_port ${content.internal_port_range}`;
    throw badRequest(
      shape.name,
      `A duplicate port forwarding entry with same attributes already exists, conflicting values are ${values}`,
    );
  }
}

/** A floating IP with forwardings belongs to their router and is ACTIVE. */
function settle(neutron: Neutron, floating: Readonly<FloatingIpRow>, routerId: string | null): void {
  if (floating.router_id !== routerId) neutron.change(neutron.floatingIps, floating, { router_id: routerId });
  neutron.settleFloatingIp(floating.id);
}

/** Renders a range of one also as a single port. */
function portsOf(row: Readonly<PortForwardingRow>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const side of ['external', 'internal'] as const) {
    const text = row[`${side}_port_range`];
    const { first, last } = boundsOf(text);
    if (first === last) shown[`${side}_port`] = first;
    shown[`${side}_port_range`] = text;
  }
  return shown;
}

function view(row: Readonly<PortForwardingRow>): Record<string, unknown> {
  return {
    id: row.id,
    ...portsOf(row),
    internal_ip_address: row.internal_ip_address,
    internal_port_id: row.internal_port_id,
    protocol: row.protocol,
    description: row.description,
  };
}
