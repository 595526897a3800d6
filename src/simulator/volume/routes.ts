import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, forbidden, notFound, readTexts, wrappedIn } from '../core/wrapped-refusals.ts';
import { actionRoute } from './actions.ts';
import { createVolume } from './create.ts';
import { type Listing, listPage } from './list.ts';
import { quotaRoutes } from './quotas.ts';
import { snapshotRoutes } from './snapshots.ts';
import { renderType, renderVolume, renderVolumeBrief } from './views.ts';
import type { Volume, Volumes } from './volumes.ts';

/** Every route is served below `/v3/PROJECT`, and below `/v3` as well since 3.67. */
export function volumeRoutes(volumes: Volumes): Route[] {
  const routes = [
    ...volumeResourceRoutes(volumes),
    actionRoute(volumes),
    ...snapshotRoutes(volumes),
    ...typeRoutes(volumes),
    ...quotaRoutes(volumes),
    ...otherRoutes(volumes),
  ];
  return routes.flatMap((route): Route[] => [
    {
      ...route,
      path: `/v3/{scope}${route.path}`,
      handle: (context) => {
        const scope = context.param('scope');
        if (scope === context.caller.projectId) return route.handle(context);
        if (!/^[0-9a-f-]+$/.test(scope)) return context.service.renderUnknownPath(context);
        throw badRequest('Malformed request url');
      },
    },
    { ...route, path: `/v3${route.path}`, since: Math.max(67, route.since ?? 0) },
  ]);
}

const listing: Listing<Readonly<Volume>> = {
  key: 'volumes',
  noun: 'Volume',
  filters: {
    id: ({ id }, value) => id === value,
    name: ({ name }, value) => (name ?? '') === value,
    'name~': ({ name }, value) => (name ?? '').includes(value),
    display_name: ({ name }, value) => (name ?? '') === value,
    status: ({ status }, value) => status === value,
    bootable: ({ isBootable }, value) => isBootable === (value.toLowerCase() === 'true'),
    availability_zone: ({ zone }, value) => zone === value,
    metadata: ({ metadata }, value) => Object.entries(parsePairs(value)).every(([key, each]) => metadata[key] === each),
  },
  sortable: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    display_name: ({ name }) => name,
    status: ({ status }) => status,
    size: ({ size }) => size,
    availability_zone: ({ zone }) => zone,
    created_at: ({ createdAt }) => createdAt,
    updated_at: ({ updatedAt }) => updatedAt,
    bootable: ({ isBootable }) => isBootable,
    volume_type: ({ typeId }) => typeId,
  },
};

/** JSON, or as Python writes a dictionary: clients send both. */
function parsePairs(text: string): Record<string, string> {
  try {
    return JSON.parse(text.replaceAll("'", '"')) as Record<string, string>;
  } catch {
    return {};
  }
}

function volumeResourceRoutes(volumes: Volumes): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `volume:${name}`,
    level,
  });
  const rows = ({ caller, query, project }: RequestContext): Iterable<Readonly<Volume>> => {
    const everywhere = caller.isAdmin && /^(?:1|true|yes)$/i.test(query.get('all_tenants') ?? '');
    if (!everywhere) return volumes.volumes.by('project', project);
    const wanted = query.get('project_id');
    return wanted === undefined ? volumes.volumes.all() : volumes.volumes.by('project', wanted);
  };
  return [
    {
      method: 'GET',
      path: '/volumes',
      policy: policy('get_all', 'reader'),
      handle: (context) => ({
        status: 200,
        body: listPage(context, rows(context), listing, (volume) => renderVolumeBrief(context, volume)),
      }),
    },
    {
      method: 'GET',
      path: '/volumes/detail',
      policy: policy('get_all', 'reader'),
      handle: (context) => ({
        status: 200,
        body: listPage(context, rows(context), listing, (volume) => renderVolume(volumes, context, volume, 'shown')),
      }),
    },
    {
      method: 'GET',
      path: '/volumes/summary',
      since: 12,
      policy: policy('get_all', 'reader'),
      handle: (context) => {
        const list = [...rows(context)];
        const total_size = list.reduce((sum, { size }) => sum + size, 0);
        return { status: 200, body: { 'volume-summary': { total_size, total_count: list.length } } };
      },
    },
    {
      method: 'POST',
      path: '/volumes',
      policy: policy('create', 'member'),
      handle: (context) => createVolume(volumes, context),
    },
    {
      method: 'GET',
      path: '/volumes/{id}',
      policy: policy('get', 'reader'),
      handle: (context) => ({
        status: 200,
        body: { volume: renderVolume(volumes, context, volumes.find(context), 'shown') },
      }),
    },
    {
      method: 'PUT',
      path: '/volumes/{id}',
      policy: policy('update', 'member'),
      handle: (context) => {
        const text = { type: ['string', 'null'], maxLength: 255 };
        const metadata = { type: 'object', additionalProperties: { type: 'string' } };
        const properties = { name: text, description: text, display_name: text, display_description: text, metadata };
        checkBody(
          { type: 'object', properties: { volume: { type: 'object', properties } }, required: ['volume'] },
          context.json,
        );
        const wish = (context.json as { volume: Record<string, string | null | Record<string, string>> }).volume;
        const volume = volumes.find(context);
        const name = wish['name'] ?? wish['display_name'];
        const description = wish['description'] ?? wish['display_description'];
        volumes.change(volume.id, {
          ...(name !== undefined && { name: name as string }),
          ...(description !== undefined && { description: description as string }),
          ...(wish['metadata'] && { metadata: wish['metadata'] as Record<string, string> }),
        });
        return { status: 200, body: { volume: renderVolume(volumes, context, volume, 'changed') } };
      },
    },
    {
      method: 'DELETE',
      path: '/volumes/{id}',
      policy: policy('delete', 'member'),
      handle: (context) => {
        const volume = volumes.find(context);
        mayDelete(volumes, volume, context);
        volumes.remove(volume);
        return { status: 202 };
      },
    },
    ...metadataRoutes(volumes),
  ];
}

const deletable: ReadonlySet<string> = new Set([
  'available',
  'error',
  'error_restoring',
  'error_extending',
  'error_deleting',
  'error_managing',
]);

function mayDelete(volumes: Volumes, volume: Readonly<Volume>, { query }: RequestContext): void {
  if (query.get('cascade')?.toLowerCase() === 'true') {
    for (const snapshot of [...volumes.snapshots.by('volume', volume.id)]) volumes.removeSnapshot(snapshot);
  } else if (volumes.snapshots.count('volume', volume.id) > 0) {
    throw undeletable();
  }
  if (volume.attachments.length > 0 || !deletable.has(volume.status)) throw undeletable();
}

function undeletable(): Error {
  return badRequest(
    'Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.',
  );
}

function metadataRoutes(volumes: Volumes): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `volume:${name}_volume_metadata`,
    level,
  });
  const base = '/volumes/{id}/metadata';
  const write = (context: RequestContext, merged: boolean): Answer => {
    const given = readTexts('metadata', context.json);
    const volume = volumes.find(context);
    const metadata = merged ? { ...volume.metadata, ...given } : given;
    volumes.change(volume.id, { metadata });
    return { status: 200, body: { metadata } };
  };
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('get', 'reader'),
      handle: (context) => ({ status: 200, body: { metadata: volumes.find(context).metadata } }),
    },
    { method: 'POST', path: base, policy: policy('create', 'member'), handle: (context) => write(context, true) },
    { method: 'PUT', path: base, policy: policy('update', 'member'), handle: (context) => write(context, false) },
    {
      method: 'DELETE',
      path: `${base}/{key}`,
      policy: policy('delete', 'member'),
      handle: (context) => {
        const volume = volumes.find(context);
        const { [context.param('key')]: removed, ...metadata } = volume.metadata;
        if (removed === undefined) {
          throw notFound(`Volume ${volume.id} has no metadata with key ${context.param('key')}.`);
        }
        volumes.change(volume.id, { metadata });
        return { status: 200 };
      },
    },
  ];
}

interface TypeWish {
  readonly name: string;
  readonly description?: string | null;
  readonly extra_specs?: Readonly<Record<string, string>>;
  readonly 'os-volume-type-access:is_public'?: boolean;
}

const typeSchema = wrappedIn('volume_type', {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    description: { type: ['string', 'null'] },
    extra_specs: { type: 'object', additionalProperties: { type: 'string' } },
    'os-volume-type-access:is_public': { type: 'boolean' },
  },
  required: ['name'],
});

function typeRoutes(volumes: Volumes): Route[] {
  const admin = (name: string): NonNullable<Route['policy']> => ({ name: `volume_extension:${name}`, level: 'admin' });
  const find = (context: RequestContext): Parameters<typeof renderType>[0] => {
    const id = context.param('id');
    const type = id === 'default' ? volumes.defaultType() : volumes.types.get(id);
    if (!type) throw notFound(`Volume type ${id} could not be found.`);
    return type;
  };
  return [
    {
      method: 'GET',
      path: '/types',
      handle: ({ query }) => {
        const name = query.get('name');
        const found = [...volumes.types.all()].filter((type) => name === undefined || type.name === name);
        return { status: 200, body: { volume_types: found.map((type) => renderType(type, true)) } };
      },
    },
    {
      method: 'GET',
      path: '/types/{id}',
      handle: (context) => ({
        status: 200,
        body: { volume_type: renderType(find(context), context.param('id') !== 'default') },
      }),
    },
    {
      method: 'GET',
      path: '/types/{id}/extra_specs',
      handle: (context) => ({ status: 200, body: { extra_specs: find(context).extraSpecs } }),
    },
    {
      method: 'POST',
      path: '/types',
      policy: admin('type_create'),
      handle: (context) => {
        checkBody(typeSchema, context.json);
        const wish = (context.json as { volume_type: TypeWish }).volume_type;
        if (volumes.types.first('name', wish.name)) {
          throw forbidden(`Volume Type ${wish.name} already exists.`);
        }
        const type = volumes.types.insert({
          id: volumes.core.ids.uuid(),
          name: wish.name,
          description: wish.description ?? null,
          isPublic: wish['os-volume-type-access:is_public'] ?? true,
          extraSpecs: wish.extra_specs ?? {},
        });
        return { status: 200, body: { volume_type: renderType(type, true) } };
      },
    },
    {
      method: 'DELETE',
      path: '/types/{id}',
      policy: admin('type_delete'),
      handle: (context) => {
        const { id, name } = find(context);
        if (id === volumes.defaultType().id) {
          throw badRequest('Invalid volume type: Default volume type can not be deleted.');
        }
        for (const { typeId } of volumes.volumes.all()) {
          if (typeId === id) throw badRequest(`Target volume type is still in use: ${name}`);
        }
        volumes.types.delete(id);
        return { status: 202 };
      },
    },
  ];
}

function otherRoutes(volumes: Volumes): Route[] {
  const zones = (): object[] => volumes.zones().map((zoneName) => ({ zoneName, zoneState: { available: true } }));
  const empty = (path: string, key: string): Route => ({
    method: 'GET',
    path,
    handle: () => ({ status: 200, body: { [key]: [] } }),
  });
  return [
    {
      method: 'GET',
      path: '/os-availability-zone',
      handle: () => ({ status: 200, body: { availabilityZoneInfo: zones() } }),
    },
    {
      method: 'GET',
      path: '/os-services',
      policy: { name: 'volume_extension:services:index', level: 'admin' },
      handle: () => ({
        status: 200,
        body: {
          services: ['cinder-scheduler', 'cinder-volume'].map((binary) => ({
            binary,
            host: 'simulated',
            zone: 'nova',
            status: 'enabled',
            state: 'up',
            updated_at: null,
          })),
        },
      }),
    },
    empty('/backups', 'backups'),
    empty('/backups/detail', 'backups'),
    empty('/extensions', 'extensions'),
    empty('/group_types', 'group_types'),
    empty('/os-volume-transfer', 'transfers'),
    empty('/os-volume-transfer/detail', 'transfers'),
  ];
}
