import type { RequestContext } from '../core/http/context.ts';
import { htmlAnswer, unauthenticatedAnswer } from '../core/http/fixed-answers.ts';
import { Refusal } from '../core/refusal.ts';
import type { Room } from '../core/room.ts';
import type { Answer } from '../core/service.ts';
import { renderRefusal } from '../core/wrapped-refusals.ts';
import { aggregateRoutes, placeHost } from './aggregates.ts';
import { createCompute } from './compute.ts';
import { diskStore } from './disks.ts';
import { extensionRoutes } from './extensions.ts';
import { flavorRoutes } from './flavors.ts';
import { historyRoutes } from './history.ts';
import { imageProxyRoutes } from './images.ts';
import { defineInterfaces, interfaceRoutes } from './interfaces.ts';
import { keyPairRoutes } from './key-pairs.ts';
import { declareQuotas, limitRoutes } from './limits.ts';
import { machineViewRoutes } from './machine-views.ts';
import { switchOn } from './machines.ts';
import { migrationRoutes } from './migrations.ts';
import { securityGroupRoutes } from './security-groups.ts';
import { serverActionRoute } from './server-actions.ts';
import { defineBuild } from './server-build.ts';
import { defineChanges } from './server-changes.ts';
import { defineDelete } from './server-delete.ts';
import { serverGroupRoutes } from './server-groups.ts';
import { markRoutes } from './server-marks.ts';
import { serverRoutes } from './servers.ts';
import { defineTransitions } from './transitions.ts';
import { unrequestedChanges } from './unrequested-changes.ts';
import { maxMinor, versionRoutes } from './versions.ts';
import { defineVolumeAttachments, volumeAttachmentRoutes } from './volume-attachments.ts';
import { zoneRoutes, zonesOf } from './zones.ts';

export const computeRoom: Room = (core) => {
  const compute = createCompute(core);
  declareQuotas(compute);
  defineBuild(compute);
  defineTransitions(compute);
  defineChanges(compute);
  defineDelete(compute);
  defineInterfaces(compute);
  defineVolumeAttachments(compute);
  core.atReturn(() => {
    for (const { id, powerState } of compute.servers.all()) if (powerState === 1) switchOn(compute, id);
  });
  core.provide('compute', {
    disks: diskStore(compute),
    serverExists: (id) => compute.servers.has(id),
    serverName: (id) => compute.servers.get(id)?.name,
    availabilityZones: () => zonesOf(compute),
    hosts: () =>
      [...compute.hosts.all()].map(({ id, vcpus, ram, disk }) => ({
        id,
        vcpus,
        ram,
        disk,
        vcpusUsed: compute.servers.sum('hostCores', id),
        ramUsed: compute.servers.sum('hostRam', id),
      })),
    usage: (projectId) => ({
      vcpus: compute.servers.sum('cores', projectId),
      ram: compute.servers.sum('ram', projectId),
      disk: compute.servers.sum('disk', projectId),
    }),
    addHost: (host) => {
      compute.hosts.insert({ ...host, enabled: true, up: true });
      placeHost(compute, host.id, host.zone);
    },
    ...unrequestedChanges(compute),
  });
  return {
    type: 'compute',
    name: 'nova',
    root: '/compute',
    catalogPath: '/v2.1',
    jsonContentType: 'application/json',
    microversions: {
      serviceType: 'compute',
      major: 2,
      max: maxMinor,
      legacyHeader: 'x-openstack-nova-api-version',
      below: '/v2.1',
    },
    routes: [
      ...versionRoutes,
      ...serverRoutes(compute),
      serverActionRoute(compute),
      ...markRoutes(compute),
      ...interfaceRoutes(compute),
      ...volumeAttachmentRoutes(compute),
      ...historyRoutes(compute),
      ...flavorRoutes(compute),
      ...imageProxyRoutes(compute),
      ...keyPairRoutes(compute),
      ...serverGroupRoutes(compute),
      ...zoneRoutes(compute),
      ...aggregateRoutes(compute),
      ...migrationRoutes(compute),
      ...machineViewRoutes(compute),
      ...securityGroupRoutes(compute),
      ...extensionRoutes,
      ...limitRoutes(compute),
    ],
    renderRefusal: (refusal) => renderRefusal(refusal, 'application/json; charset=UTF-8'),
    renderUnauthenticated: (context) => unauthenticatedAnswer(`${context.origin}/identity`),
    renderUnknownPath: () => htmlAnswer(404, 'The resource could not be found.'),
    // Nova answers 404, not 405, for a known path with an unknown method.
    renderWrongMethod: () => htmlAnswer(404, 'The resource could not be found.'),
    forbidden: ({ name }) => new Refusal(403, `Policy doesn't allow ${name} to be performed.`),
    badJson: () => new Refusal(400, 'Malformed request body'),
    headers,
  };
};

function headers(context: RequestContext, { status, body, bytes }: Answer): Record<string, string> {
  if (!context.path.startsWith('/v2.1')) return {};
  const { requestId, minor } = context;
  const own: Record<string, string> = { 'x-openstack-request-id': requestId, 'x-compute-request-id': requestId };
  if (body === undefined && bytes === undefined) own['content-type'] = 'application/json';
  if (minor <= 0 || status === 401) return own;
  own['openstack-api-version'] = `compute 2.${minor}`;
  own['x-openstack-nova-api-version'] = `2.${minor}`;
  own['vary'] = 'OpenStack-API-Version, X-OpenStack-Nova-API-Version';
  return own;
}
