import { statusTitle, unauthenticatedAnswer } from '../core/http/fixed-answers.ts';
import { Refusal } from '../core/refusal.ts';
import type { Room } from '../core/room.ts';
import type { Answer, Route } from '../core/service.ts';
import { offerRoutes } from './flavors.ts';
import { layerSevenRoutes } from './l7.ts';
import { listenerRoutes } from './listeners.ts';
import { loadBalancerRoutes } from './load-balancers.ts';
import { memberRoutes } from './members.ts';
import { monitorRoutes } from './monitors.ts';
import { createOctavia, type Octavia } from './octavia.ts';
import { poolRoutes } from './pools.ts';
import { providerRoutes } from './providers.ts';
import { declareQuotas, quotaRoutes } from './quotas.ts';
import { forbidden } from './refusals.ts';
import { loadBalancerService } from './service.ts';
import { versionRoutes } from './versions.ts';

export const loadBalancerRoom: Room = (core) => {
  const octavia = createOctavia(core);
  declareQuotas(octavia);
  core.provide('loadBalancer', loadBalancerService(octavia));
  return {
    type: 'load-balancer',
    name: 'octavia',
    root: '/load-balancer',
    catalogPath: '',
    jsonContentType: 'application/json',
    // Some clients put the minor version into the path, some leave out `lbaas`. All combinations are served.
    routes: [
      ...versionRoutes,
      ...['/v2.0/lbaas', '/v2/lbaas', '/v2.0', '/v2'].flatMap((base) => allRoutes(octavia, base)),
      ...['/v2.0', '/v2'].map(amphorae),
    ],
    renderRefusal,
    renderUnauthenticated: ({ origin }) => unauthenticatedAnswer(`${origin}/identity`),
    renderUnknownPath: () => page(404, 'The resource could not be found.', ''),
    renderWrongMethod: ({ method }) => page(405, `The method ${method} is not allowed for this resource. `, undefined),
    forbidden,
    badJson: () => new Refusal(400, 'Request is not in valid JSON format'),
    headers: (context): Record<string, string> =>
      context.optionalCaller ? { 'x-openstack-request-id': context.requestId } : {},
  };
};

function allRoutes(octavia: Octavia, base: string): Route[] {
  return [
    ...loadBalancerRoutes(octavia, base),
    ...listenerRoutes(octavia, base),
    ...poolRoutes(octavia, base),
    ...memberRoutes(octavia, base),
    ...monitorRoutes(octavia, base),
    ...layerSevenRoutes(octavia, base),
    ...quotaRoutes(octavia, base),
    ...offerRoutes(octavia, base),
    ...providerRoutes(base),
  ];
}

/** Route of amphorae. The list is always empty, because load balancers here do not use any. */
function amphorae(base: string): Route {
  return {
    method: 'GET',
    path: `${base}/octavia/amphorae`,
    handle({ caller }): Answer {
      if (!caller.isAdmin) throw forbidden();
      return { status: 200, body: { amphorae: [], amphorae_links: [] } };
    },
  };
}

function renderRefusal(refusal: Refusal): Answer {
  const { status, message, headers } = refusal;
  if (refusal.type === 'page') {
    const sentence =
      'The server could not comply with the request since it is either malformed or otherwise incorrect.';
    return page(status, sentence, message, 'Bad Request');
  }
  return {
    status,
    ...(headers && { headers }),
    body: { faultcode: status >= 500 ? 'Server' : 'Client', faultstring: message, debuginfo: null },
  };
}

/** Builds the page of the web framework. Without `detail` its line is omitted. */
function page(status: number, sentence: string, detail: string | undefined, title = statusTitle(status)): Answer {
  const heading = `${status} ${title}`;
  const escaped = detail?.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&#x27;');
  const bytes =
    `<html>\n <head>\n  <title>${heading}</title>\n </head>\n <body>\n  <h1>${heading}</h1>\n` +
    `  ${sentence}<br /><br />\n${escaped === undefined ? '' : `${escaped}\n\n`}\n </body>\n</html>`;
  return { status, bytes, contentType: 'text/html; charset=UTF-8' };
}
