import { pythonRepr, pythonText } from '../../core/checks/python.ts';
import type { RequestContext } from '../../core/http/context.ts';
import type { Answer, Route } from '../../core/service.ts';
import { contains, knownCidr } from '../addressing/cidr.ts';
import { knownIp } from '../addressing/ip.ts';
import type { Attributes } from '../attributes/attribute.ts';
import { readObject } from '../attributes/body.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { nullToEmptyList, toBoolean, toBooleanOrNull } from '../attributes/converters.ts';
import { ownRow } from '../controller.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { type AttributeRules, adminOnly } from '../policy.ts';
import { availabilityZoneNotFound, badBody, refuse, routerNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { HostRoute, RouterRow } from '../rows.ts';
import { deletePort } from './port-writes.ts';
import { type GatewaySpec, gatewayPort, setGateway } from './router-gateway.ts';
import { addInterface, interfacePorts, readInterfaceSpec, removeInterface } from './router-interfaces.ts';

const maxRoutes = 30;

/** An empty object removes the gateway, like null. */
const gatewayInfo: checks.Check = (value) => {
  if (value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  if (!checks.isDictionary(value)) return `'${pythonText(value)}' is not a dictionary`;
  const names = Object.keys(value);
  if (names.length === 0) return undefined;
  if (!('network_id' in value)) {
    return `Validation of dictionary's keys failed. Expected keys: {'network_id'} Provided keys: {${names.map(pythonRepr).join(', ')}}`;
  }
  const known = ['network_id', 'enable_snat', 'external_fixed_ips', 'qos_policy_id'];
  const unexpected = names.filter((name) => !known.includes(name));
  if (unexpected.length > 0) return `Unexpected keys supplied: ${unexpected.join(', ')}`;
  if ('enable_snat' in value) value['enable_snat'] = toBoolean(value['enable_snat']);
  return (
    checks.uuid(value['network_id']) ??
    ('external_fixed_ips' in value ? checks.fixedIps(value['external_fixed_ips']) : undefined) ??
    ('qos_policy_id' in value ? checks.orNull(checks.uuid)(value['qos_policy_id']) : undefined)
  );
};

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  admin_state_up: common.adminStateUp,
  status: { sort: true },
  tenant_id: common.owner,
  external_gateway_info: {
    create: true,
    update: true,
    default: null,
    check: gatewayInfo,
    ruled: true,
    hasRuledParts: true,
  },
  ha: { create: true, update: true, convert: toBooleanOrNull, ruled: true },
  flavor_id: { create: true, sort: true, ruled: true },
  ...common.tagAttributes,
  ...common.standardAttributes,
  availability_zones: common.readOnly,
  availability_zone_hints: { create: true, default: [], check: checks.listOf(checks.string(255)) },
  distributed: { create: true, update: true, convert: toBooleanOrNull, ruled: true },
  routes: { update: true, convert: nullToEmptyList, check: checks.routes },
  description: common.description,
};

const rules: AttributeRules = {
  ha: adminOnly,
  distributed: adminOnly,
  'external_gateway_info:enable_snat': adminOnly,
  'external_gateway_info:external_fixed_ips': adminOnly,
};

export function routerResource(neutron: Neutron): Resource<RouterRow> {
  const { routers } = neutron;
  return {
    name: 'router',
    collection: 'routers',
    path: 'routers',
    quota: 'router',
    attributes,
    rules,
    table: routers,
    notFound: routerNotFound,
    isVisibleTo: (row, caller) => row.tenant_id === caller.projectId,
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    candidates: (_filters, { isAdmin, projectId }) =>
      isAdmin || projectId === undefined ? undefined : routers.by('project', projectId),
    view: (row, caller) => ({
      id: row.id,
      name: row.name,
      tenant_id: row.tenant_id,
      admin_state_up: row.admin_state_up,
      status: row.status,
      external_gateway_info: gatewayView(neutron, row),
      description: row.description,
      availability_zones: [],
      availability_zone_hints: row.availability_zone_hints,
      routes: row.routes,
      flavor_id: null,
      tags: row.tags,
      ...standardView(row),
      project_id: row.tenant_id,
      ...(caller.isAdmin && { distributed: row.distributed, ha: row.ha }),
    }),
    create(values, caller) {
      const flavor = values['flavor_id'];
      if (flavor !== undefined) throw refuse(404, 'FlavorNotFound', `Flavor ${pythonText(flavor)} could not be found.`);
      const zones = values['availability_zone_hints'] as string[];
      if (zones.length > 0) throw availabilityZoneNotFound(zones[0]);
      const router = routers.insert({
        ...neutron.standard(values),
        revision_number: 1,
        name: values['name'] as string,
        admin_state_up: values['admin_state_up'] as boolean,
        status: 'ACTIVE',
        gateway_port_id: null,
        enable_snat: true,
        routes: [],
        availability_zone_hints: [],
        ha: values['ha'] === true,
        distributed: values['distributed'] === true,
      });
      const desired = gatewaySpec(values['external_gateway_info']);
      if (desired) {
        setGateway(neutron, router, desired, caller);
        neutron.change(routers, router, {});
        neutron.change(routers, router, {});
      }
      return routers.known(router.id);
    },
    update(row, values, caller) {
      const { external_gateway_info: info, ...rest } = values;
      if (Object.keys(values).length === 0) return row;
      if ('external_gateway_info' in values) setGateway(neutron, row, gatewaySpec(info), caller);
      if ('routes' in rest) checkRoutes(neutron, row, rest['routes'] as HostRoute[]);
      return neutron.change(routers, row, rest as Partial<RouterRow>);
    },
    delete(row) {
      const attached = interfacePorts(neutron, row.id);
      if (attached.length > 0) {
        const ids = attached.map(({ id }) => id).join(', ');
        throw refuse(409, 'RouterInUse', `Router ${row.id} has ports still attached: ${ids}`);
      }
      const gateway = gatewayPort(neutron, row);
      if (gateway) deletePort(neutron, gateway);
      routers.delete(row.id);
    },
  };
}

/** Actions to add and remove interfaces and extra routes. */
export function routerActions(neutron: Neutron, routers: Resource<RouterRow>): Route[] {
  const action = (name: string, handle: (router: Readonly<RouterRow>, context: RequestContext) => object): Route => ({
    method: 'PUT',
    path: `/v2.0/routers/{id}/${name}`,
    handle(context): Answer {
      const router = ownRow(routers, context.param('id'), context.caller, name);
      return { status: 200, body: handle(router, context) };
    },
  });
  return [
    action('add_router_interface', (router, context) =>
      addInterface(neutron, router, readInterfaceSpec(readAction(context), 'add'), context.caller),
    ),
    action('remove_router_interface', (router, context) =>
      removeInterface(neutron, router, readInterfaceSpec(readAction(context), 'remove')),
    ),
    action('add_extraroutes', (router, context) => {
      const known = new Set(router.routes.map(keyOf));
      const added = readRoutes(context).filter((route) => !known.has(keyOf(route)));
      return changeRoutes(neutron, routers, router, [...router.routes, ...added], context);
    }),
    action('remove_extraroutes', (router, context) => {
      const removed = new Set(readRoutes(context).map(keyOf));
      const left = router.routes.filter((route) => !removed.has(keyOf(route)));
      return changeRoutes(neutron, routers, router, left, context);
    }),
  ];
}

function readAction(context: RequestContext): Record<string, unknown> {
  return context.json === undefined ? {} : readObject(context);
}

function keyOf({ destination, nexthop }: HostRoute): string {
  return `${destination} ${nexthop}`;
}

function readRoutes(context: RequestContext): HostRoute[] {
  const { router } = readObject(context);
  const routes = checks.isDictionary(router) ? router['routes'] : undefined;
  const reason = checks.routes(routes ?? []);
  if (reason !== undefined) throw badBody(`Invalid input for routes. Reason: ${reason}.`);
  return (routes as HostRoute[] | undefined) ?? [];
}

function changeRoutes(
  neutron: Neutron,
  routers: Resource<RouterRow>,
  router: Readonly<RouterRow>,
  routes: readonly HostRoute[],
  { caller }: RequestContext,
): object {
  checkRoutes(neutron, router, routes);
  const sorted = [...routes].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const changed = neutron.change(neutron.routers, router, { routes: sorted });
  return { router: routers.view(changed, caller) };
}

/** The next hop of a route must be directly reachable and not the router itself. */
function checkRoutes(neutron: Neutron, router: Readonly<RouterRow>, routes: readonly HostRoute[]): void {
  if (routes.length > maxRoutes) {
    const message = `Unable to complete operation for ${router.id}. The number of routes exceeds the maximum ${maxRoutes}.`;
    throw refuse(400, 'RoutesExhausted', message);
  }
  const gateway = gatewayPort(neutron, router);
  const fixed = [...interfacePorts(neutron, router.id), ...(gateway ? [gateway] : [])].flatMap(
    ({ fixed_ips }) => fixed_ips,
  );
  const cidrs = fixed.map(({ subnet_id }) => knownCidr(neutron.subnets.known(subnet_id).cidr));
  const refusal = (reason: string): Error =>
    refuse(400, 'InvalidRoutes', `Invalid format for routes: ${pythonText(routes)}, ${reason}`);
  for (const { nexthop } of routes) {
    const ip = knownIp(nexthop);
    if (!cidrs.some((cidr) => contains(cidr, ip))) throw refusal('the nexthop is not connected with router');
    if (fixed.some(({ ip_address }) => ip_address === nexthop)) throw refusal('the nexthop is used by router');
  }
}

function gatewaySpec(info: unknown): GatewaySpec | undefined {
  return checks.isDictionary(info) && Object.keys(info).length > 0 ? (info as unknown as GatewaySpec) : undefined;
}

function gatewayView(neutron: Neutron, row: Readonly<RouterRow>): object | null {
  const port = gatewayPort(neutron, row);
  if (!port) return null;
  return {
    network_id: port.network_id,
    external_fixed_ips: port.fixed_ips,
    enable_snat: row.enable_snat,
    ...(row.qos_policy_id && { qos_policy_id: row.qos_policy_id }),
  };
}
