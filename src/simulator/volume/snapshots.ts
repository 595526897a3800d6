import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { badRequest, checkBody, notFound } from '../core/wrapped-refusals.ts';
import { type Listing, listPage } from './list.ts';
import { renderSnapshot } from './views.ts';
import type { Snapshot, Volumes } from './volumes.ts';

const listing: Listing<Readonly<Snapshot>> = {
  key: 'snapshots',
  noun: 'Snapshot',
  filters: {
    name: ({ name }, value) => (name ?? '') === value,
    status: ({ status }, value) => status === value,
    volume_id: ({ volumeId }, value) => volumeId === value,
  },
  sortable: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    status: ({ status }) => status,
    created_at: ({ createdAt }) => createdAt,
  },
};

export function snapshotRoutes(volumes: Volumes): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `volume:${name}`,
    level,
  });
  const rows = (context: RequestContext): Iterable<Readonly<Snapshot>> =>
    context.caller.isAdmin && context.query.has('all_tenants')
      ? volumes.snapshots.all()
      : volumes.snapshots.by('project', context.project);
  const lists = ['/snapshots', '/snapshots/detail'].map(
    (path): Route => ({
      method: 'GET',
      path,
      policy: policy('get_all_snapshots', 'reader'),
      handle: (context) => ({
        status: 200,
        body: listPage(context, rows(context), listing, (row) =>
          renderSnapshot(row, context, path === '/snapshots' ? 'listed' : 'shown'),
        ),
      }),
    }),
  );
  return [
    ...lists,
    {
      method: 'POST',
      path: '/snapshots',
      policy: policy('create_snapshot', 'member'),
      handle: (context) => {
        checkBody(
          {
            type: 'object',
            properties: {
              snapshot: {
                type: 'object',
                properties: { volume_id: { type: 'string', format: 'uuid' } },
                required: ['volume_id'],
              },
            },
            required: ['snapshot'],
          },
          context.json,
        );
        const wish = (context.json as { snapshot: Readonly<Record<string, unknown>> }).snapshot;
        const volume = volumes.volumes.get(String(wish['volume_id']));
        if (volume?.projectId !== context.project) {
          throw notFound(`Volume ${String(wish['volume_id'])} could not be found.`);
        }
        const isForced = wish['force'] === true || wish['force'] === 'True' || context.minor >= 66;
        if (volume.status !== 'available' && !(volume.status === 'in-use' && isForced)) {
          throw badRequest(
            `Invalid volume: Volume ${volume.id} status must be available, but current status is: ${volume.status}.`,
          );
        }
        const snapshot = volumes.createSnapshot({
          name: typeof wish['name'] === 'string' ? wish['name'] : null,
          description: typeof wish['description'] === 'string' ? wish['description'] : null,
          projectId: volume.projectId,
          userId: context.caller.userId,
          volumeId: volume.id,
          size: volume.size,
          metadata: (wish['metadata'] as Record<string, string> | undefined) ?? {},
        });
        return { status: 202, body: { snapshot: renderSnapshot(snapshot, context, 'created') } };
      },
    },
    {
      method: 'GET',
      path: '/snapshots/{id}',
      policy: policy('get_snapshot', 'reader'),
      handle: (context) => ({
        status: 200,
        body: { snapshot: renderSnapshot(volumes.findSnapshot(context), context, 'shown') },
      }),
    },
    {
      method: 'DELETE',
      path: '/snapshots/{id}',
      policy: policy('delete_snapshot', 'member'),
      handle: (context) => {
        const snapshot = volumes.findSnapshot(context);
        if (snapshot.status !== 'available' && snapshot.status !== 'error') {
          throw badRequest(
            'Invalid snapshot: Snapshot status must be available or error and must not be migrating, attached, belong to a group, have snapshots.',
          );
        }
        volumes.removeSnapshot(snapshot);
        return { status: 202 };
      },
    },
  ];
}
