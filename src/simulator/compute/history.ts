import { policiesOf } from '../core/caller.ts';
import { parseIso8601 } from '../core/checks/iso8601.ts';
import type { RequestContext } from '../core/http/context.ts';
import { newestFirst } from '../core/paging.ts';
import type { Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import { badRequest, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { pageItems } from './paging.ts';
import type { InstanceAction } from './tables.ts';

/** Routes of the actions performed on a server, newest first. */
export function historyRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:os-instance-actions');
  const base = '/v2.1/servers/{id}/os-instance-actions';
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('list', 'reader'),
      handle: (context) => {
        const id = serverOf(compute, context);
        const found = newestFirst(compute.actions.by('server', id)).filter(changedWithin(context));
        const rows = found.map((row) => ({ id: row.requestId, row }));
        // Before 2.58 the list had no limit.
        const { items } =
          context.minor < 58 ? pageItems(context, rows, Number.POSITIVE_INFINITY) : pageItems(context, rows);
        return { status: 200, body: { instanceActions: items.map(({ row }) => render(context, row)) } };
      },
    },
    {
      method: 'GET',
      path: `${base}/{request}`,
      policy: policy('show', 'reader'),
      handle: (context) => {
        const id = serverOf(compute, context);
        const wanted = context.param('request');
        const row = newestFirst(compute.actions.by('server', id)).find(({ requestId }) => requestId === wanted);
        if (!row) throw notFound(`Action ${wanted} not found`);
        return { status: 200, body: { instanceAction: { ...render(context, row), events: events(context, row) } } };
      },
    },
  ];
}

/** Deleted servers are remembered for a while, together with their actions. */
function serverOf(compute: Compute, context: RequestContext): string {
  const gone = context.minor >= 21 ? compute.deletedServers.get(context.param('id')) : undefined;
  const { projectId, isAdmin } = context.caller;
  if (gone && (gone.projectId === projectId || isAdmin)) return gone.id;
  return compute.server(context).id;
}

function changedWithin({ query, minor }: RequestContext): (row: Readonly<InstanceAction>) => boolean {
  const moment = (name: string, since: number): number | undefined => {
    const text = minor >= since ? query.get(name) : undefined;
    if (text === undefined) return undefined;
    const time = parseIso8601(text);
    if (time === undefined) {
      throw badRequest(`Invalid input for query parameters ${name}. Value: ${text}. '${text}' is not a 'date-time'`);
    }
    return time;
  };
  const [since, before] = [moment('changes-since', 58), moment('changes-before', 66)];
  return ({ startedAt, finishedAt = startedAt }) =>
    (since === undefined || finishedAt >= since) && (before === undefined || finishedAt <= before);
}

function render({ minor }: RequestContext, row: Readonly<InstanceAction>): object {
  return {
    action: row.action,
    instance_uuid: row.serverId,
    request_id: row.requestId,
    user_id: row.userId,
    project_id: row.projectId,
    start_time: wholeSeconds(row.startedAt),
    message: row.message,
    ...(minor >= 58 && { updated_at: wholeSeconds(row.finishedAt ?? row.startedAt) }),
  };
}

function events({ minor, caller }: RequestContext, row: Readonly<InstanceAction>): object[] {
  if (minor < 51 && !caller.isAdmin) return [];
  const ending = row.finishedAt === undefined ? null : row.message === null ? 'Success' : 'Error';
  return [
    {
      event: `compute_${row.action}_instance`,
      start_time: wholeSeconds(row.startedAt),
      finish_time: row.finishedAt === undefined ? null : wholeSeconds(row.finishedAt),
      result: ending,
      ...(caller.isAdmin && { traceback: null }),
    },
  ];
}
