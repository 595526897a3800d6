import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';

export const maxMinor = 93;

function newest(context: RequestContext): object {
  return {
    id: 'v2.1',
    status: 'CURRENT',
    version: `2.${maxMinor}`,
    min_version: '2.1',
    updated: '2013-07-23T11:33:21Z',
    links: [{ rel: 'self', href: `${context.serviceUrl}/v2.1/` }],
  };
}

function oldest(context: RequestContext): object {
  return {
    id: 'v2.0',
    status: 'SUPPORTED',
    version: '',
    min_version: '',
    updated: '2011-01-21T11:33:21Z',
    links: [{ rel: 'self', href: `${context.serviceUrl}/v2/` }],
  };
}

const described = { rel: 'describedby', type: 'text/html', href: 'http://docs.openstack.org/' };
const mediaTypes = [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }];

export const versionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    open: true,
    handle: (context) => ({ status: 200, body: { versions: [oldest(context), newest(context)] } }),
  },
  {
    method: 'GET',
    path: '/v2.1',
    open: true,
    handle: (context) => {
      const links = [{ rel: 'self', href: `${context.serviceUrl}/v2.1/` }, described];
      return { status: 200, body: { version: { ...newest(context), links, 'media-types': mediaTypes } } };
    },
  },
];
