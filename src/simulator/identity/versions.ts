import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';

function version(context: RequestContext): object {
  return {
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href: `${context.serviceUrl}/v3/` }],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
  };
}

export const versionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    open: true,
    handle: (context) => ({
      status: 300,
      headers: { location: `${context.serviceUrl}/v3/` },
      body: { versions: { values: [version(context)] } },
    }),
  },
  {
    method: 'GET',
    path: '/v3',
    open: true,
    handle: (context) => ({ status: 200, body: { version: version(context) } }),
  },
];
