import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';

const coreResources = [
  ['network', 'networks'],
  ['subnet', 'subnets'],
  ['subnetpool', 'subnetpools'],
  ['port', 'ports'],
];

/** Routes of the version documents. */
export const versionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    open: true,
    handle: (context): Answer => ({
      status: 200,
      body: {
        versions: [{ id: 'v2.0', status: 'CURRENT', links: [{ rel: 'self', href: `${context.serviceUrl}/v2.0/` }] }],
      },
    }),
  },
  { method: 'GET', path: '/v2.0', handle: resourceList },
];

function resourceList(context: RequestContext): Answer {
  const resources = coreResources.map(([name, collection]) => ({
    name,
    collection,
    links: [{ rel: 'self', href: `${context.serviceUrl}/v2.0/${collection}` }],
  }));
  return { status: 200, body: { resources } };
}
