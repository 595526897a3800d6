import type { RequestContext } from '../core/http/context.ts';
import { htmlAnswer, unauthenticatedAnswer } from '../core/http/fixed-answers.ts';
import { Refusal } from '../core/refusal.ts';
import type { Room } from '../core/room.ts';
import type { Answer, Route } from '../core/service.ts';
import { renderRefusal } from '../core/wrapped-refusals.ts';
import { declareQuotas } from './quotas.ts';
import { volumeRoutes } from './routes.ts';
import { volumeService } from './service.ts';
import { createVolumes } from './volumes.ts';

const maxMinor = 70;

function versions(context: RequestContext): object {
  const version = {
    id: 'v3.0',
    status: 'CURRENT',
    version: `3.${maxMinor}`,
    min_version: '3.0',
    updated: '2022-08-31T00:00:00Z',
    links: [
      { rel: 'describedby', type: 'text/html', href: 'https://docs.openstack.org/' },
      { rel: 'self', href: `${context.serviceUrl}/v3/` },
    ],
    'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.volume+json;version=3' }],
  };
  return { versions: [version] };
}

const versionRoutes: readonly Route[] = [
  { method: 'GET', path: '/', open: true, handle: (context): Answer => ({ status: 300, body: versions(context) }) },
  { method: 'GET', path: '/v3', handle: (context): Answer => ({ status: 200, body: versions(context) }) },
];

export const volumeRoom: Room = (core) => {
  const volumes = createVolumes(core);
  declareQuotas(volumes);
  core.provide('volume', volumeService(volumes));
  return {
    type: 'volumev3',
    name: 'cinderv3',
    root: '/volume',
    catalogPath: '/v3/{project}',
    jsonContentType: 'application/json',
    microversions: { serviceType: 'volume', major: 3, max: maxMinor, below: '/v3/' },
    routes: [...versionRoutes, ...volumeRoutes(volumes)],
    renderRefusal: (refusal) => renderRefusal(refusal),
    renderUnauthenticated: (context) => unauthenticatedAnswer(`${context.origin}/identity`),
    renderUnknownPath: () => htmlAnswer(404, 'The resource could not be found.'),
    renderWrongMethod: () => htmlAnswer(404, 'The resource could not be found.'),
    forbidden: ({ name }) => new Refusal(403, `Policy doesn't allow ${name} to be performed.`),
    badJson: () => new Refusal(400, 'Malformed request body'),
    headers,
  };
};

function headers(
  { requestId, minor, method }: RequestContext,
  { status, body, bytes }: Answer,
): Record<string, string> {
  const ids = { 'x-openstack-request-id': requestId, 'x-compute-request-id': requestId };
  if (status === 401) return ids;
  if (minor < 0) return status === 400 ? ids : { 'x-openstack-request-id': requestId };
  const version = { 'openstack-api-version': `volume 3.${minor}`, vary: 'OpenStack-API-Version' };
  if (body !== undefined || bytes !== undefined) return { ...ids, ...version };
  // A different part of cinder's framework sends the empty answers to DELETE.
  if (method !== 'DELETE') return { ...ids, ...version, 'content-type': 'application/json' };
  return { 'x-openstack-request-id': requestId, ...version, 'content-type': 'text/html; charset=UTF-8' };
}
