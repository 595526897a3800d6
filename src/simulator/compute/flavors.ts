import { type Policy, policiesOf } from '../core/caller.ts';
import { pythonRepr } from '../core/checks/python.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type SortKey, sorted } from '../core/paging.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { textRoutes } from '../core/texts.ts';
import { badRequest, checkBody, conflict, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { pagedList } from './paging.ts';
import type { Flavor } from './tables.ts';

/** Finds a flavor by id if the caller may use it. Names are not looked up. */
export function findFlavor(compute: Compute, { caller }: RequestContext, id: string): Readonly<Flavor> | undefined {
  const flavor = compute.flavors.get(id);
  if (!flavor) return undefined;
  const mayUse = flavor.isPublic || caller.isAdmin || flavor.projects.includes(caller.projectId ?? '');
  return mayUse ? flavor : undefined;
}

const updateSchema = wrappedIn('flavor', {
  type: 'object',
  properties: { description: { type: ['string', 'null'] } },
  required: ['description'],
});

export function flavorRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api');
  const find = (context: RequestContext): Readonly<Flavor> => {
    const flavor = findFlavor(compute, context, context.param('id'));
    if (!flavor) throw notFound(`Flavor ${context.param('id')} could not be found.`);
    return flavor;
  };
  const base = '/v2.1/flavors';
  const policies: Readonly<Record<Operation, Policy>> = {
    list: policy('flavors', 'reader'),
    create: policy('os-flavor-manage:create'),
    show: policy('flavors', 'reader'),
    update: policy('os-flavor-manage:update'),
    delete: policy('os-flavor-manage:delete'),
  };
  return [
    ...resourceRoutes<Flavor>({
      path: base,
      name: 'flavor',
      statuses: { create: 200, delete: 202 },
      policy: (operation) => policies[operation],
      versions: (operation) => (operation === 'update' ? { since: 55 } : {}),
      find,
      view: (flavor, context) => render(context, flavor),
      list: (context) => list(compute, context, { withDetails: false }),
      detail: (context) => list(compute, context, { withDetails: true }),
      create: (context) => create(compute, context),
      update(context) {
        checkBody(updateSchema, context.json);
        const { description } = (context.json as { flavor: { description: string | null } }).flavor;
        return compute.flavors.update(find(context).id, { description });
      },
      delete: ({ id }) => void compute.flavors.delete(id),
    }),
    ...textRoutes({
      path: `${base}/{id}/os-extra_specs`,
      key: 'extra_specs',
      isReplaceable: false,
      deleted: 200,
      policy: (operation, level) =>
        policy(
          `os-flavor-extra-specs:${operation === 'list' ? 'index' : operation}`,
          level === 'reader' ? level : 'admin',
        ),
      read: (context) => find(context).extraSpecs,
      write: (context, extraSpecs) => void compute.flavors.update(find(context).id, { extraSpecs }),
      unknown: (context, key) => `Flavor ${context.param('id')} has no extra specs with key ${key}.`,
    }),
    {
      method: 'GET',
      path: `${base}/{id}/os-flavor-access`,
      policy: policy('os-flavor-access'),
      handle: (context) => {
        const flavor = find(context);
        if (flavor.isPublic) throw notFound('Access list not available for public flavors.');
        return { status: 200, body: accessList(flavor) };
      },
    },
    {
      method: 'POST',
      path: `${base}/{id}/action`,
      policy: policy('os-flavor-access:add_tenant_access'),
      handle: (context) => changeAccess(compute, context, find(context)),
    },
  ];
}

function accessList({ id, projects }: Readonly<Flavor>): object {
  return { flavor_access: projects.map((tenant_id) => ({ flavor_id: id, tenant_id })) };
}

function changeAccess(compute: Compute, context: RequestContext, flavor: Readonly<Flavor>): Answer {
  const inner = { type: 'object', properties: { tenant: { type: 'string' } }, required: ['tenant'] };
  const properties = { addTenantAccess: inner, removeTenantAccess: inner };
  checkBody({ type: 'object', properties, minProperties: 1, additionalProperties: false }, context.json);
  const body = context.json as {
    addTenantAccess?: { tenant: string };
    removeTenantAccess?: { tenant: string };
  };
  const { addTenantAccess: add, removeTenantAccess: remove } = body;
  if (add && flavor.projects.includes(add.tenant)) {
    throw conflict(`Flavor access already exists for flavor ${flavor.id} and project ${add.tenant} combination.`);
  }
  if (remove && !flavor.projects.includes(remove.tenant)) {
    throw notFound(`Flavor access not found for ${flavor.id} / ${remove.tenant} combination.`);
  }
  const others = flavor.projects.filter((id) => id !== remove?.tenant);
  const added = add ? [...others, add.tenant] : others;
  return { status: 200, body: accessList(compute.flavors.update(flavor.id, { projects: added })) };
}

const sortable: Readonly<Record<string, SortKey<Readonly<Flavor>>['read']>> = {
  created_at: () => 0,
  description: ({ description }) => description,
  disabled: () => false,
  ephemeral_gb: ({ ephemeral }) => ephemeral,
  flavorid: ({ id }) => id,
  id: ({ id }) => id,
  is_public: ({ isPublic }) => isPublic,
  memory_mb: ({ ram }) => ram,
  name: ({ name }) => name,
  root_gb: ({ disk }) => disk,
  rxtx_factor: ({ rxtxFactor }) => rxtxFactor,
  swap: ({ swap }) => swap,
  updated_at: () => 0,
  vcpu_weight: () => 0,
  vcpus: ({ vcpus }) => vcpus,
};

function list(compute: Compute, context: RequestContext, { withDetails }: { withDetails: boolean }): Answer {
  const { query, caller } = context;
  const minRam = wholeNumber(query.get('minRam'), 'minRam');
  const minDisk = wholeNumber(query.get('minDisk'), 'minDisk');
  const visibility = query.get('is_public')?.toLowerCase();
  const read = sortable[query.get('sort_key') ?? 'flavorid'];
  if (!read) {
    const key = query.get('sort_key') ?? '';
    const message = `${pythonRepr(key)} is not one of ${pythonRepr(Object.keys(sortable))}`;
    throw badRequest(`Invalid input for query parameters sort_key. Value: ${key}. ${message}`);
  }
  const visible = [...compute.flavors.all()].filter((flavor) => {
    if (flavor.ram < minRam || flavor.disk < minDisk) return false;
    if (!caller.isAdmin) return flavor.isPublic || flavor.projects.includes(caller.projectId ?? '');
    if (visibility === 'none') return true;
    return flavor.isPublic === (visibility === undefined || /^(?:true|1|yes|on)$/.test(visibility));
  });
  const rows = sorted(visible, [{ read, isDescending: query.get('sort_dir') === 'desc' }]);
  return pagedList(context, 'flavors', rows, (flavor) =>
    withDetails ? render(context, flavor) : renderBrief(context, flavor),
  );
}

function wholeNumber(text: string | undefined, name: string): number {
  if (text === undefined) return 0;
  if (!/^-?\d+$/.test(text)) throw badRequest(`Invalid ${name} filter [${text}]`);
  return Number(text);
}

function links(context: RequestContext, id: string): object[] {
  return [
    { rel: 'self', href: `${context.serviceUrl}/v2.1/flavors/${id}` },
    { rel: 'bookmark', href: `${context.serviceUrl}/flavors/${id}` },
  ];
}

function renderBrief(context: RequestContext, { id, name, description }: Readonly<Flavor>): object {
  return { id, name, links: links(context, id), ...(context.minor >= 55 && { description }) };
}

function render(context: RequestContext, flavor: Readonly<Flavor>): object {
  const { minor } = context;
  return {
    id: flavor.id,
    name: flavor.name,
    ram: flavor.ram,
    disk: flavor.disk,
    swap: flavor.swap === 0 && minor < 75 ? '' : flavor.swap,
    'OS-FLV-EXT-DATA:ephemeral': flavor.ephemeral,
    'OS-FLV-DISABLED:disabled': false,
    vcpus: flavor.vcpus,
    'os-flavor-access:is_public': flavor.isPublic,
    rxtx_factor: flavor.rxtxFactor,
    links: links(context, flavor.id),
    ...(minor >= 55 && { description: flavor.description }),
    ...(minor >= 61 && { extra_specs: flavor.extraSpecs }),
  };
}

function create(compute: Compute, context: RequestContext): Readonly<Flavor> {
  const size = { type: ['integer', 'string'], pattern: '^[0-9]*$', minimum: 0, minLength: 1 };
  const positive = { ...size, minimum: 1 };
  checkBody(
    {
      type: 'object',
      properties: {
        flavor: {
          type: 'object',
          properties: {
            name: { type: 'string', minLength: 1, maxLength: 255 },
            id: { type: ['string', 'number', 'null'] },
            ram: positive,
            vcpus: positive,
            disk: size,
            'OS-FLV-EXT-DATA:ephemeral': size,
            swap: size,
            rxtx_factor: { type: ['number', 'string'] },
            'os-flavor-access:is_public': { type: ['boolean', 'string'] },
            ...(context.minor >= 55 && { description: { type: ['string', 'null'] } }),
          },
          required: ['name', 'ram', 'vcpus', 'disk'],
          additionalProperties: false,
        },
      },
      required: ['flavor'],
      additionalProperties: false,
    },
    context.json,
  );
  const fields = (context.json as { flavor: Readonly<Record<string, unknown>> }).flavor;
  const wantedId = fields['id'];
  const isChosen = wantedId !== undefined && wantedId !== null && wantedId !== 'auto';
  const id = isChosen ? String(wantedId) : compute.core.ids.uuid();
  if (compute.flavors.has(id)) throw conflict(`Flavor with ID ${id} already exists.`);
  const name = String(fields['name']);
  if (compute.flavors.first('name', name)) throw conflict(`Flavor with name ${name} already exists.`);
  return compute.flavors.insert({
    id,
    name,
    vcpus: Number(fields['vcpus']),
    ram: Number(fields['ram']),
    disk: Number(fields['disk']),
    ephemeral: Number(fields['OS-FLV-EXT-DATA:ephemeral'] ?? 0),
    swap: Number(fields['swap'] ?? 0),
    rxtxFactor: Number(fields['rxtx_factor'] ?? 1),
    isPublic: !/^(?:false|0|no|off)$/i.test(String(fields['os-flavor-access:is_public'] ?? true)),
    description: typeof fields['description'] === 'string' ? fields['description'] : null,
    extraSpecs: {},
    projects: [],
  });
}
