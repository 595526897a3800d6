import { type CatalogEntry, endpointInterfaces } from '../core/catalog.ts';
import type { RequestContext } from '../core/http/context.ts';
import { resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import type { Identity } from './identity.ts';
import { notFound } from './refusals.ts';
import { listAnswer, selfLink } from './rendering.ts';
import { adminOnly } from './resource.ts';

export function renderCatalog(identity: Identity, context: RequestContext, projectId: string | undefined): unknown[] {
  const { region, catalog } = identity.core;
  return catalog.map((entry) => ({
    endpoints: endpointInterfaces.map((name) => ({
      id: entry.endpointIds[name],
      interface: name,
      region_id: region,
      url: endpointUrl(entry, context.origin, projectId),
      region,
    })),
    id: entry.id,
    type: entry.type,
    name: entry.name,
  }));
}

function endpointUrl(entry: CatalogEntry, origin: string, projectId: string | undefined): string {
  return origin + entry.root + entry.path.replace('{project}', projectId ?? '');
}

interface Endpoint {
  readonly id: string;
  readonly interface: string;
  readonly service_id: string;
}

interface Region {
  readonly id: string;
  readonly description: string;
  readonly parent_region_id: null;
  readonly links: object;
}

/** Routes of services, endpoints and regions. They are read-only. */
export function catalogRoutes(identity: Identity): Route[] {
  const { core } = identity;
  const service = (context: RequestContext, { id, type, name }: CatalogEntry): object => ({
    id,
    type,
    name,
    enabled: true,
    links: selfLink(context, `services/${id}`),
  });
  const endpoints = (context: RequestContext): Endpoint[] =>
    core.catalog.flatMap((entry) =>
      endpointInterfaces.map((name) => ({
        id: entry.endpointIds[name],
        interface: name,
        region_id: core.region,
        region: core.region,
        service_id: entry.id,
        enabled: true,
        // Endpoints are stored with a placeholder for the project. Only the catalogue replaces it.
        url: context.origin + entry.root + entry.path.replace('{project}', '%(project_id)s'),
        links: selfLink(context, `endpoints/${entry.endpointIds[name]}`),
      })),
    );
  const region = (context: RequestContext): Region => ({
    id: core.region,
    description: '',
    parent_region_id: null,
    links: selfLink(context, `regions/${core.region}`),
  });
  const find = <T extends { readonly id: string }>(rows: readonly T[], name: string, context: RequestContext): T => {
    const row = rows.find(({ id }) => id === context.param('id'));
    if (!row) throw notFound(name, context.param('id'));
    return row;
  };
  return [
    ...resourceRoutes<CatalogEntry>({
      path: '/v3/services',
      name: 'service',
      policy: (operation) => adminOnly(operation === 'list' ? 'list_services' : 'get_service'),
      find: (context) => find(core.catalog, 'service', context),
      view: (entry, context) => service(context, entry),
      list(context) {
        const [type, name] = [context.query.get('type'), context.query.get('name')];
        const found = core.catalog.filter(
          (entry) => (type === undefined || entry.type === type) && (name === undefined || entry.name === name),
        );
        const items = found.map((entry) => service(context, entry));
        return listAnswer(context, 'services', items);
      },
    }),
    ...resourceRoutes<Endpoint>({
      path: '/v3/endpoints',
      name: 'endpoint',
      policy: (operation) => adminOnly(operation === 'list' ? 'list_endpoints' : 'get_endpoint'),
      find: (context) => find(endpoints(context), 'endpoint', context),
      view: (endpoint) => endpoint,
      list(context) {
        const [wantedInterface, serviceId] = [context.query.get('interface'), context.query.get('service_id')];
        const found = endpoints(context).filter(
          (each) =>
            (wantedInterface === undefined || each.interface === wantedInterface) &&
            (serviceId === undefined || each.service_id === serviceId),
        );
        return listAnswer(context, 'endpoints', found);
      },
    }),
    ...resourceRoutes<Region>({
      path: '/v3/regions',
      name: 'region',
      find: (context) => find([region(context)], 'region', context),
      view: (row) => row,
      list: (context) => listAnswer(context, 'regions', [region(context)]),
    }),
  ];
}
