import { createHash } from 'node:crypto';
import { policiesOf } from '../core/caller.ts';
import type { HostView } from '../core/contracts.ts';
import type { Core } from '../core/core.ts';
import type { RequestContext } from '../core/http/context.ts';
import { statusTitle, unauthenticatedAnswer } from '../core/http/fixed-answers.ts';
import { Refusal } from '../core/refusal.ts';
import { resourceRoutes } from '../core/resource.ts';
import type { Room } from '../core/room.ts';
import type { Answer, Route } from '../core/service.ts';

const maxMinor = 39;

/** Placement: read-only inventories of the hypervisors. Nova schedules without it. */
export const placementRoom: Room = (core) => ({
  type: 'placement',
  name: 'placement',
  root: '/placement',
  catalogPath: '',
  jsonContentType: 'application/json',
  microversions: { serviceType: 'placement', major: 1, max: maxMinor, below: '/' },
  routes: [versionRoute, ...providerRoutes(core)],
  renderRefusal: (refusal, context) => renderRefusal(refusal, context),
  renderUnauthenticated: (context) => unauthenticatedAnswer(`${context.origin}/identity`),
  renderUnknownPath: (context) => renderRefusal(new Refusal(404, 'The resource could not be found.'), context),
  renderWrongMethod: (context) =>
    renderRefusal(new Refusal(405, 'The method specified is not allowed for this resource.'), context),
  forbidden: ({ name }) =>
    new Refusal(403, `Access was denied to this resource.\n\n Policy does not allow ${name} to be performed.  `),
  badJson: () => new Refusal(400, 'Malformed JSON'),
  headers: (context) => ({
    'openstack-api-version': `placement 1.${context.minor}`,
    vary: 'OpenStack-API-Version',
    'x-openstack-request-id': context.requestId,
  }),
});

function renderRefusal(refusal: Refusal, context: RequestContext): Answer {
  const { status, message } = refusal;
  const error = { status, title: statusTitle(status), detail: message, request_id: context.requestId };
  return { status, body: { errors: [context.minor >= 23 ? { ...error, code: 'placement.undefined_code' } : error] } };
}

const versionRoute: Route = {
  method: 'GET',
  path: '/',
  open: true,
  handle: () => ({
    status: 200,
    body: {
      versions: [
        {
          id: 'v1.0',
          max_version: `1.${maxMinor}`,
          min_version: '1.0',
          status: 'CURRENT',
          links: [{ rel: 'self', href: '' }],
        },
      ],
    },
  }),
};

/** Derives a stable id from the name of a hypervisor. */
function providerId({ id }: HostView): string {
  const hex = createHash('sha1').update(`host ${id}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function providerRoutes(core: Core): Route[] {
  const policy = policiesOf('placement');
  const find = (context: RequestContext): HostView => {
    const id = context.param('id');
    const host = core.services.compute.hosts().find((each) => providerId(each) === id);
    if (!host) throw new Refusal(404, `No resource provider with uuid ${id} found`);
    return host;
  };
  const render = (host: HostView): object => {
    const uuid = providerId(host);
    const self = `/resource_providers/${uuid}`;
    const links = ['inventories', 'usages'].map((rel) => ({ rel, href: `${self}/${rel}` }));
    return { uuid, name: host.id, generation: 1, links: [{ rel: 'self', href: self }, ...links] };
  };
  const inventory = (total: number, allocation_ratio: number): object => ({
    total,
    reserved: 0,
    min_unit: 1,
    max_unit: total,
    step_size: 1,
    allocation_ratio,
  });
  const base = '/resource_providers';
  return [
    ...resourceRoutes<HostView>({
      path: base,
      policy: (operation) => policy(`resource_providers:${operation}`),
      find,
      view: render,
      list({ query }) {
        const name = query.get('name');
        const hosts = core.services.compute.hosts().filter(({ id }) => name === undefined || id === name);
        return { status: 200, body: { resource_providers: hosts.map(render) } };
      },
    }),
    {
      method: 'GET',
      path: `${base}/{id}/inventories`,
      policy: policy('resource_providers:inventories:list'),
      handle: (context) => {
        const { vcpus, ram, disk } = find(context);
        const inventories = { VCPU: inventory(vcpus, 16), MEMORY_MB: inventory(ram, 1.5), DISK_GB: inventory(disk, 1) };
        return { status: 200, body: { resource_provider_generation: 1, inventories } };
      },
    },
    {
      method: 'GET',
      path: `${base}/{id}/usages`,
      policy: policy('resource_providers:usages'),
      handle: (context) => {
        const { vcpusUsed, ramUsed } = find(context);
        return {
          status: 200,
          body: { resource_provider_generation: 1, usages: { VCPU: vcpusUsed, MEMORY_MB: ramUsed, DISK_GB: 0 } },
        };
      },
    },
    {
      method: 'GET',
      path: '/usages',
      since: 9,
      policy: policy('usages'),
      handle: (context) => {
        const { vcpus, ram, disk } = core.services.compute.usage(context.query.get('project_id') ?? '');
        const usages = vcpus === 0 ? {} : { VCPU: vcpus, MEMORY_MB: ram, DISK_GB: disk };
        return { status: 200, body: { usages } };
      },
    },
  ];
}
