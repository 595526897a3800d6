import type { BodySchema } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, checkName, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import type { ServerGroup } from './tables.ts';

const policies = ['anti-affinity', 'affinity', 'soft-anti-affinity', 'soft-affinity'];

export function serverGroupRoutes(compute: Compute): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `os_compute_api:os-server-groups:${name}`,
    level,
  });
  const find = (context: RequestContext): Readonly<ServerGroup> => {
    const group = compute.serverGroups.get(context.param('id'));
    if (!group || (group.projectId !== context.project && !context.caller.isAdmin)) {
      throw notFound(`Instance group ${context.param('id')} could not be found.`);
    }
    return group;
  };
  const base = '/v2.1/os-server-groups';
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('index', 'reader'),
      handle: (context) => {
        const everywhere = context.caller.isAdmin && context.query.has('all_projects');
        const rows = [
          ...(everywhere ? compute.serverGroups.all() : compute.serverGroups.by('project', context.project)),
        ];
        const offset = Number(context.query.get('offset') ?? 0);
        const limit = Number(context.query.get('limit') ?? 1000);
        const items = rows.slice(offset, offset + limit).map((group) => render(compute, context, group));
        return { status: 200, body: { server_groups: items } };
      },
    },
    { method: 'POST', path: base, policy: policy('create', 'member'), handle: (context) => create(compute, context) },
    {
      method: 'GET',
      path: `${base}/{id}`,
      policy: policy('show', 'reader'),
      handle: (context) => ({ status: 200, body: { server_group: render(compute, context, find(context)) } }),
    },
    {
      method: 'DELETE',
      path: `${base}/{id}`,
      policy: policy('delete', 'member'),
      handle: (context) => {
        const { id } = find(context);
        for (const server of [...compute.servers.by('group', id)]) compute.servers.update(server.id, { groupId: '' });
        compute.serverGroups.delete(id);
        return { status: 204 };
      },
    },
  ];
}

function bodySchema(minor: number): BodySchema {
  const known = minor >= 15 ? policies : policies.slice(0, 2);
  const own: Record<string, BodySchema> =
    minor >= 64
      ? {
          policy: { type: 'string', enum: known },
          rules: {
            type: 'object',
            properties: { max_server_per_host: { type: ['integer', 'string'], pattern: '^[0-9]*$', minimum: 1 } },
            additionalProperties: false,
          },
        }
      : { policies: { type: 'array', items: { enum: known }, minItems: 1, maxItems: 1 } };
  return {
    type: 'object',
    properties: {
      server_group: {
        type: 'object',
        properties: { name: { type: 'string', minLength: 1, maxLength: 255 }, ...own },
        required: ['name', minor >= 64 ? 'policy' : 'policies'],
        additionalProperties: false,
      },
    },
    required: ['server_group'],
    additionalProperties: false,
  };
}

const schemas = new Map<number, BodySchema>();

function schemaFor(minor: number): BodySchema {
  const step = minor >= 64 ? 64 : minor >= 15 ? 15 : 1;
  let schema = schemas.get(step);
  if (!schema) {
    schema = bodySchema(step);
    schemas.set(step, schema);
  }
  return schema;
}

function create(compute: Compute, context: RequestContext): Answer {
  checkBody(schemaFor(context.minor), context.json);
  const fields = (
    context.json as { server_group: { name: string; policy?: string; policies?: string[]; rules?: object } }
  ).server_group;
  checkName(fields.name);
  if (fields.rules && Object.keys(fields.rules).length > 0 && fields.policy !== 'anti-affinity') {
    throw badRequest('Only anti-affinity policy supports rules.');
  }
  const { quotas, ids } = compute.core;
  if (quotas.excess('compute', context.project, { server_groups: 1 })) {
    throw forbidden('Quota exceeded, too many server groups.');
  }
  const most = Number(
    (fields.rules as { max_server_per_host?: unknown } | undefined)?.max_server_per_host ?? Number.NaN,
  );
  const group = compute.serverGroups.insert({
    id: ids.uuid(),
    name: fields.name,
    projectId: context.project,
    userId: context.caller.userId,
    policy: fields.policy ?? fields.policies?.[0] ?? 'anti-affinity',
    rules: Number.isNaN(most) ? {} : { max_server_per_host: most },
  });
  return { status: 200, body: { server_group: render(compute, context, group) } };
}

function render(compute: Compute, { minor }: RequestContext, group: Readonly<ServerGroup>): object {
  const members: string[] = [];
  for (const { id } of compute.servers.by('group', group.id)) members.push(id);
  return {
    id: group.id,
    name: group.name,
    ...(minor >= 64 ? { policy: group.policy, rules: group.rules } : { policies: [group.policy], metadata: {} }),
    members,
    ...(minor >= 13 && { project_id: group.projectId, user_id: group.userId }),
  };
}
