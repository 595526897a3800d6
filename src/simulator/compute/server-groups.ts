import type { Policy } from '../core/caller.ts';
import type { BodySchema } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { badRequest, checkBody, checkName, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import type { ServerGroup } from './tables.ts';

const kinds = ['anti-affinity', 'affinity', 'soft-anti-affinity', 'soft-affinity'];

const rule = (name: string, level: 'reader' | 'member'): Policy => ({
  name: `os_compute_api:os-server-groups:${name}`,
  level,
});

const policies: Partial<Readonly<Record<Operation, Policy>>> = {
  list: rule('index', 'reader'),
  create: rule('create', 'member'),
  show: rule('show', 'reader'),
  delete: rule('delete', 'member'),
};

export function serverGroupRoutes(compute: Compute): Route[] {
  const find = (context: RequestContext): Readonly<ServerGroup> => {
    const group = compute.serverGroups.get(context.param('id'));
    if (!group || (group.projectId !== context.project && !context.caller.isAdmin)) {
      throw notFound(`Instance group ${context.param('id')} could not be found.`);
    }
    return group;
  };
  return resourceRoutes<ServerGroup>({
    path: '/v2.1/os-server-groups',
    name: 'server_group',
    statuses: { create: 200 },
    policy: (operation) => policies[operation],
    find,
    view: (group, context) => render(compute, context, group),
    list(context) {
      const everywhere = context.caller.isAdmin && context.query.has('all_projects');
      const rows = [...(everywhere ? compute.serverGroups.all() : compute.serverGroups.by('project', context.project))];
      const offset = Number(context.query.get('offset') ?? 0);
      const limit = Number(context.query.get('limit') ?? 1000);
      const items = rows.slice(offset, offset + limit).map((group) => render(compute, context, group));
      return { status: 200, body: { server_groups: items } };
    },
    create: (context) => create(compute, context),
    delete({ id }) {
      for (const server of [...compute.servers.by('group', id)]) compute.servers.update(server.id, { groupId: '' });
      compute.serverGroups.delete(id);
    },
  });
}

function bodySchema(minor: number): BodySchema {
  const known = minor >= 15 ? kinds : kinds.slice(0, 2);
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

function create(compute: Compute, context: RequestContext): Readonly<ServerGroup> {
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
  return compute.serverGroups.insert({
    id: ids.uuid(),
    name: fields.name,
    projectId: context.project,
    userId: context.caller.userId,
    policy: fields.policy ?? fields.policies?.[0] ?? 'anti-affinity',
    rules: Number.isNaN(most) ? {} : { max_server_per_host: most },
  });
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
