import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import type { Compute } from './compute.ts';
import type { InstanceAction } from './tables.ts';

const kinds: Readonly<Record<string, string>> = { migrate: 'migration', resize: 'resize' };

/** Routes of migrations, derived from the action history of servers. */
export function migrationRoutes(compute: Compute): Route[] {
  return [
    {
      method: 'GET',
      path: '/v2.1/os-migrations',
      policy: { name: 'os_compute_api:os-migrations:index', level: 'admin' },
      handle: (context) => {
        const wanted = context.query.get('instance_uuid');
        const type = context.query.get('migration_type');
        const rows = wanted === undefined ? compute.actions.all() : compute.actions.by('server', wanted);
        const migrations = [...rows]
          .filter(({ action }) => action in kinds && (type === undefined || kinds[action] === type))
          .map((row, index) => render(compute, context, row, index + 1));
        return { status: 200, body: { migrations } };
      },
    },
  ];
}

function render(compute: Compute, { minor }: RequestContext, row: Readonly<InstanceAction>, id: number): object {
  const server = compute.servers.get(row.serverId) ?? compute.deletedServers.get(row.serverId);
  const ending = row.finishedAt === undefined ? 'migrating' : row.message === null ? 'finished' : 'error';
  return {
    id,
    instance_uuid: row.serverId,
    status: server?.vmState === 'resized' && row.finishedAt !== undefined ? 'finished' : ending,
    source_compute: server?.host ?? null,
    source_node: server?.host ?? null,
    dest_compute: server?.host ?? null,
    dest_node: server?.host ?? null,
    dest_host: null,
    old_instance_type_id: 1,
    new_instance_type_id: 1,
    created_at: wholeSeconds(row.startedAt),
    updated_at: row.finishedAt === undefined ? null : wholeSeconds(row.finishedAt),
    ...(minor >= 23 && { migration_type: kinds[row.action] }),
    ...(minor >= 59 && { uuid: row.id }),
    ...(minor >= 80 && { user_id: row.userId, project_id: row.projectId }),
  };
}
