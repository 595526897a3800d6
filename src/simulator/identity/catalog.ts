import { type CatalogEntry, endpointInterfaces } from '../core/catalog.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import type { Identity } from './identity.ts';
import { notFound } from './refusals.ts';
import { listAnswer, selfLink } from './rendering.ts';

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

/** Routes of services, endpoints and regions. They are read-only. */
export function catalogRoutes(identity: Identity): Route[] {
  const { core } = identity;
  const admin = (name: string): NonNullable<Route['policy']> => ({ name: `identity:${name}`, level: 'admin' });
  const service = (context: RequestContext, { id, type, name }: CatalogEntry): object => ({
    id,
    type,
    name,
    enabled: true,
    links: selfLink(context, `services/${id}`),
  });
  const endpoints = (context: RequestContext): { id: string; service_id: string; interface: string }[] =>
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
  const region = (context: RequestContext): object => ({
    id: core.region,
    description: '',
    parent_region_id: null,
    links: selfLink(context, `regions/${core.region}`),
  });
  return [
    {
      method: 'GET',
      path: '/v3/services',
      policy: admin('list_services'),
      handle: (context) => {
        const [type, name] = [context.query.get('type'), context.query.get('name')];
        const found = core.catalog.filter(
          (entry) => (type === undefined || entry.type === type) && (name === undefined || entry.name === name),
        );
        return listAnswer(
          context,
          'services',
          found.map((entry) => service(context, entry)),
        );
      },
    },
    {
      method: 'GET',
      path: '/v3/services/{id}',
      policy: admin('get_service'),
      handle: (context) => {
        const entry = core.catalog.find(({ id }) => id === context.param('id'));
        if (!entry) throw notFound('service', context.param('id'));
        return { status: 200, body: { service: service(context, entry) } };
      },
    },
    {
      method: 'GET',
      path: '/v3/endpoints',
      policy: admin('list_endpoints'),
      handle: (context) => {
        const [wantedInterface, serviceId] = [context.query.get('interface'), context.query.get('service_id')];
        const found = endpoints(context).filter(
          (each) =>
            (wantedInterface === undefined || each.interface === wantedInterface) &&
            (serviceId === undefined || each.service_id === serviceId),
        );
        return listAnswer(context, 'endpoints', found);
      },
    },
    {
      method: 'GET',
      path: '/v3/endpoints/{id}',
      policy: admin('get_endpoint'),
      handle: (context) => {
        const endpoint = endpoints(context).find(({ id }) => id === context.param('id'));
        if (!endpoint) throw notFound('endpoint', context.param('id'));
        return { status: 200, body: { endpoint } };
      },
    },
    { method: 'GET', path: '/v3/regions', handle: (context) => listAnswer(context, 'regions', [region(context)]) },
    {
      method: 'GET',
      path: '/v3/regions/{id}',
      handle: (context) => {
        if (context.param('id') !== core.region) throw notFound('region', context.param('id'));
        return { status: 200, body: { region: region(context) } };
      },
    },
  ];
}
