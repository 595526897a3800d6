import { type Policy, policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, wrappedIn } from '../core/wrapped-refusals.ts';
import { actionRoute } from './actions.ts';
import { attachmentRoutes } from './attachments.ts';
import { createVolume } from './create.ts';
import { type Listing, listPage } from './list.ts';
import { metadataRoutes } from './metadata.ts';
import { operatorRoutes } from './operators.ts';
import { qosSpecRoutes } from './qos-specs.ts';
import { quotaRoutes } from './quotas.ts';
import { snapshotRoutes } from './snapshots.ts';
import { typeRoutes } from './types.ts';
import { renderVolume, renderVolumeBrief } from './views.ts';
import type { Volume, Volumes } from './volumes.ts';

/** Every route is served below `/v3/PROJECT`, and since 3.67 also below `/v3`. */
export function volumeRoutes(volumes: Volumes): Route[] {
  const routes = [
    ...volumeResourceRoutes(volumes),
    actionRoute(volumes),
    ...snapshotRoutes(volumes),
    ...typeRoutes(volumes),
    ...qosSpecRoutes(volumes),
    ...attachmentRoutes(volumes),
    ...quotaRoutes(volumes),
    ...operatorRoutes(volumes),
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

/** Parses JSON or a Python dictionary, because clients send both. */
function parsePairs(text: string): Record<string, string> {
  try {
    return JSON.parse(text.replaceAll("'", '"')) as Record<string, string>;
  } catch {
    return {};
  }
}

function volumeResourceRoutes(volumes: Volumes): Route[] {
  const policy = policiesOf('volume');
  const rows = ({ caller, query, project }: RequestContext): Iterable<Readonly<Volume>> => {
    const everywhere = caller.isAdmin && /^(?:1|true|yes)$/i.test(query.get('all_tenants') ?? '');
    if (!everywhere) return volumes.volumes.by('project', project);
    const wanted = query.get('project_id');
    return wanted === undefined ? volumes.volumes.all() : volumes.volumes.by('project', wanted);
  };
  const policies: Readonly<Record<Operation, Policy>> = {
    list: policy('get_all', 'reader'),
    create: policy('create', 'member'),
    show: policy('get', 'reader'),
    update: policy('update', 'member'),
    delete: policy('delete', 'member'),
  };
  const moments = { list: 'shown', create: 'created', show: 'shown', update: 'changed', delete: 'shown' } as const;
  const list = (context: RequestContext, render: (volume: Readonly<Volume>) => object): Answer => ({
    status: 200,
    body: listPage(context, rows(context), listing, render),
  });
  return [
    ...resourceRoutes<Volume>({
      path: '/volumes',
      name: 'volume',
      statuses: { create: 202, delete: 202 },
      policy: (operation) => policies[operation],
      find: (context) => volumes.find(context),
      view: (volume, context, operation) => renderVolume(volumes, context, volume, moments[operation]),
      list: (context) => list(context, (volume) => renderVolumeBrief(context, volume)),
      detail: (context) => list(context, (volume) => renderVolume(volumes, context, volume, 'shown')),
      create: (context) => createVolume(volumes, context),
      update(context) {
        checkBody(updateSchema, context.json);
        const desired = (context.json as { volume: Record<string, string | null | Record<string, string>> }).volume;
        const { id } = volumes.find(context);
        const name = desired['name'] ?? desired['display_name'];
        const description = desired['description'] ?? desired['display_description'];
        return volumes.change(id, {
          ...(name !== undefined && { name: name as string }),
          ...(description !== undefined && { description: description as string }),
          ...(desired['metadata'] && { metadata: desired['metadata'] as Record<string, string> }),
        });
      },
      delete(volume, context) {
        mayDelete(volumes, volume, context);
        volumes.remove(volume);
      },
    }),
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
    ...metadataRoutes('Volume', {
      read: (context) => volumes.find(context).metadata,
      write: (context, metadata) => void volumes.change(volumes.find(context).id, { metadata }),
    }),
  ];
}

const text = { type: ['string', 'null'], maxLength: 255 };

const updateSchema = wrappedIn('volume', {
  type: 'object',
  properties: {
    name: text,
    description: text,
    display_name: text,
    display_description: text,
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
  },
});

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
    empty('/backups', 'backups'),
    empty('/backups/detail', 'backups'),
    empty('/extensions', 'extensions'),
    empty('/group_types', 'group_types'),
    empty('/os-volume-transfer', 'transfers'),
    empty('/os-volume-transfer/detail', 'transfers'),
  ];
}
