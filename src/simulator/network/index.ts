import { unauthenticatedAnswer } from '../core/http/fixed-answers.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Room } from '../core/room.ts';
import type { Answer, Route } from '../core/service.ts';
import { agentRoutes } from './agents.ts';
import { resourceRoutes } from './controller.ts';
import { extensionRoutes } from './extension-routes.ts';
import { fixedLists } from './fixed-lists.ts';
import { notFoundPage } from './html-page.ts';
import { ipAvailabilityRoutes } from './ip-availability.ts';
import { createNeutron, type Neutron } from './neutron.ts';
import { declareQuotas, quotaRoutes } from './quota-routes.ts';
import { badBody, disallowed, hiddenOrUnknown, refuse } from './refusals.ts';
import type { Resource, TaggedRow } from './resource.ts';
import { addressGroupActions, addressGroupResource } from './resources/address-groups.ts';
import { addressScopeResource } from './resources/address-scopes.ts';
import { floatingIpResource } from './resources/floating-ips.ts';
import { networkResource } from './resources/networks.ts';
import { portForwardingRoutes } from './resources/port-forwardings.ts';
import { portResource } from './resources/ports.ts';
import { qosPolicyResource } from './resources/qos-policies.ts';
import { qosRuleRoutes, qosRuleTypeRoutes } from './resources/qos-rules.ts';
import { rbacPolicyResource } from './resources/rbac-policies.ts';
import { routerActions, routerResource } from './resources/routers.ts';
import { securityGroupRuleResource } from './resources/security-group-rules.ts';
import { securityGroupResource } from './resources/security-groups.ts';
import { subnetPoolActions, subnetPoolResource } from './resources/subnet-pools.ts';
import { subnetResource } from './resources/subnets.ts';
import { trunkActions, trunkResource } from './resources/trunks.ts';
import { networkService } from './service.ts';
import { tagRoutes } from './tag-routes.ts';
import { versionRoutes } from './versions.ts';

export const networkRoom: Room = (core) => {
  const neutron = createNeutron(core);
  declareQuotas(neutron);
  core.provide('network', networkService(neutron));
  return {
    type: 'network',
    name: 'neutron',
    root: '/network',
    catalogPath: '',
    jsonContentType: 'application/json',
    routes: withJsonSuffix(allRoutes(neutron)),
    renderRefusal,
    renderUnauthenticated: ({ origin }) => unauthenticatedAnswer(`${origin}/identity`),
    renderUnknownPath: (context) =>
      context.path.startsWith('/v2.0') ? renderRefusal(hiddenOrUnknown()) : notFoundPage(),
    renderWrongMethod: () =>
      renderRefusal(
        refuse(
          405,
          'HTTPMethodNotAllowed',
          'The server could not comply with the request since it is either malformed or otherwise incorrect.',
        ),
      ),
    forbidden: ({ name }) => disallowed(`rule:${name}`),
    badJson: () => badBody('Body contains invalid data'),
    headers: (context): Record<string, string> =>
      context.optionalCaller ? { 'x-openstack-request-id': context.requestId } : {},
  };
};

function allRoutes(neutron: Neutron): Route[] {
  const routers = routerResource(neutron);
  const trunks = trunkResource(neutron);
  const networks = networkResource(neutron);
  const subnets = subnetResource(neutron);
  const ports = portResource(neutron);
  const groups = securityGroupResource(neutron);
  const floatingIps = floatingIpResource(neutron);
  const subnetPools = subnetPoolResource(neutron);
  const addressGroups = addressGroupResource(neutron);
  const qosPolicies = qosPolicyResource(neutron);
  const tagged = <R extends TaggedRow>(resource: Resource<R>): Route[] => [
    ...resourceRoutes(neutron, resource),
    ...tagRoutes(neutron, resource),
  ];
  return [
    ...versionRoutes,
    ...tagged(networks),
    ...tagged(subnets),
    ...tagged(ports),
    ...tagged(routers),
    ...routerActions(neutron, routers),
    ...tagged(groups),
    ...resourceRoutes(neutron, securityGroupRuleResource(neutron)),
    ...tagged(floatingIps),
    ...resourceRoutes(neutron, rbacPolicyResource(neutron)),
    ...tagged(trunks),
    ...trunkActions(neutron, trunks),
    ...tagged(subnetPools),
    ...subnetPoolActions(neutron, subnetPools),
    ...resourceRoutes(neutron, addressScopeResource(neutron)),
    ...resourceRoutes(neutron, addressGroups),
    ...addressGroupActions(neutron, addressGroups),
    ...tagged(qosPolicies),
    // Tags of policies are below `policies` in older releases and below their own path in newer ones.
    ...tagRoutes(neutron, qosPolicies, 'policies'),
    ...qosRuleRoutes(neutron),
    ...qosRuleTypeRoutes(),
    ...portForwardingRoutes(neutron),
    ...ipAvailabilityRoutes(neutron),
    ...extensionRoutes,
    ...quotaRoutes(neutron),
    ...agentRoutes(neutron),
    ...fixedLists(neutron),
  ];
}

/** Old clients append `.json` to collections. */
function withJsonSuffix(routes: readonly Route[]): Route[] {
  const collections = routes.filter(({ path }) => /^\/v2\.0\/[a-z_-]+$/.test(path));
  return [...routes, ...collections.map((route) => ({ ...route, path: `${route.path}.json` }))];
}

function renderRefusal(refusal: Refusal): Answer {
  return {
    status: refusal.status,
    ...(refusal.headers && { headers: refusal.headers }),
    body: { NeutronError: { type: refusal.type ?? 'HTTPBadRequest', message: refusal.message, detail: '' } },
  };
}
