import {
  Gateways,
  ReferenceGrants,
  type RouteParentStatus,
  Services,
  type TLSRoute,
  TlsRoutes,
} from '../../api/index.ts';
import { type ObjectKey, objectKey } from '../../client/index.ts';
import { deepEqual, isNotFound } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../../runtime/index.ts';
import type { ServiceTable } from '../network/services.ts';
import { attach } from './attachment.ts';
import { type Finding, withFindings } from './conditions.ts';
import { parentsOf } from './gateway-controller.ts';
import { type GatewayView, gatewayControllerName } from './view.ts';

const fieldManager = 'gateway-controller';

/** Reports in the status of routes which Gateways accepted them, or why not. */
export function tlsRouteController(view: GatewayView, services: Pick<ServiceTable, 'get'>): ControllerDefinition {
  const routesTo = (matches: (route: TLSRoute) => boolean): ObjectKey[] => view.routes().filter(matches).map(objectKey);
  return defineController({
    name: 'tls-route',
    for: TlsRoutes,
    watches: [
      watchObjects(TlsRoutes),
      watchMapped(Gateways, ({ metadata }) =>
        routesTo((route) =>
          parentsOf(route).some(({ namespace, name }) => namespace === metadata.namespace && name === metadata.name),
        ),
      ),
      watchMapped(
        Services,
        ({ metadata }) => routesTo((route) => isBackend(route, metadata.namespace, metadata.name)),
        {
          predicates: [({ type }) => type !== 'update'],
        },
      ),
      watchMapped(ReferenceGrants, ({ metadata }) => routesTo((route) => isBackend(route, metadata.namespace))),
    ],
    async reconcile({ client, cache, clock, signal }, key) {
      const route = cache.lister(TlsRoutes).get(key);
      if (!route || route.metadata.deletionTimestamp !== undefined) return done();
      const before = route.status?.parents ?? [];
      const foreign = before.filter(({ controllerName }) => controllerName !== gatewayControllerName);
      const parents = [...foreign, ...ownParents(route, view, services, clock.now())];
      if (deepEqual(parents, before)) return done();
      const options = { fieldManager, subresource: 'status', signal };
      await client.update(TlsRoutes, { ...route, status: { parents } }, options).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      return done();
    },
  });
}

function isBackend({ spec, metadata }: TLSRoute, namespace: string | undefined, name?: string): boolean {
  return spec.rules.some(({ backendRefs }) =>
    backendRefs.some(
      (backend) =>
        (backend.namespace ?? metadata.namespace) === namespace && (name === undefined || backend.name === name),
    ),
  );
}

function ownParents(
  route: TLSRoute,
  view: GatewayView,
  services: Pick<ServiceTable, 'get'>,
  nowMs: number,
): RouteParentStatus[] {
  const parents: RouteParentStatus[] = [];
  for (const parentRef of route.spec.parentRefs ?? []) {
    const gateway = view.gateway(parentRef.namespace ?? route.metadata.namespace ?? '', parentRef.name);
    if (!gateway || !view.isOurs(gateway)) continue;
    const attached = attach(gateway, route, parentRef, (name) => view.namespace(name));
    const accepted: Finding =
      'reason' in attached
        ? { type: 'Accepted', isTrue: false, reason: attached.reason, message: attached.message }
        : { type: 'Accepted', isTrue: true, reason: 'Accepted' };
    const before = route.status?.parents.find(
      (parent) => parent.controllerName === gatewayControllerName && deepEqual(parent.parentRef, parentRef),
    );
    const findings = [accepted, resolvedBackends(route, view, services)];
    parents.push({
      parentRef,
      controllerName: gatewayControllerName,
      conditions: withFindings(before?.conditions, findings, route.metadata.generation, nowMs),
    });
  }
  return parents;
}

function resolvedBackends(route: TLSRoute, view: GatewayView, services: Pick<ServiceTable, 'get'>): Finding {
  const type = 'ResolvedRefs';
  for (const backend of route.spec.rules.flatMap(({ backendRefs }) => backendRefs)) {
    const namespace = backend.namespace ?? route.metadata.namespace ?? '';
    if ((backend.kind ?? 'Service') !== 'Service') {
      return { type, isTrue: false, reason: 'InvalidKind', message: `${backend.kind} ${backend.name} is no Service` };
    }
    if (!view.isGranted(route, backend)) {
      const message = `no ReferenceGrant of namespace ${namespace} lets the route use Service ${backend.name}`;
      return { type, isTrue: false, reason: 'RefNotPermitted', message };
    }
    if (!services.get(namespace, backend.name)) {
      const message = `Service ${namespace}/${backend.name} not found`;
      return { type, isTrue: false, reason: 'BackendNotFound', message };
    }
  }
  return { type, isTrue: true, reason: 'ResolvedRefs' };
}
