import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import { need } from '../core/resource.ts';
import type { Answer, Method, Route } from '../core/service.ts';
import { extrasOf, optionalText, requiredText } from './body.ts';
import type { Identity } from './identity.ts';
import { duplicate, notFound } from './refusals.ts';
import { isBasicRole, listAnswer, renderRole, selfLink } from './rendering.ts';
import { adminOnly, type IdentityResource, identityRoutes } from './resource.ts';
import type { Assignment, Role, Token } from './tables.ts';

const roleFields = ['id', 'name', 'description', 'domain_id', 'options', 'links'];

/** Routes of roles and role assignments. */
export function roleRoutes(identity: Identity): Route[] {
  return [
    ...identityRoutes(roleResource(identity)),
    ...impliedRoleRoutes(identity),
    ...(['user', 'group'] as const).flatMap((actor) => [
      ...grantRoutes(identity, `/v3/projects/{target}/${actor}s/{actor}/roles`, 'project', actor),
      ...grantRoutes(identity, `/v3/domains/{target}/${actor}s/{actor}/roles`, 'domain', actor),
      ...grantRoutes(identity, `/v3/system/${actor}s/{actor}/roles`, 'system', actor),
    ]),
    {
      method: 'GET',
      path: '/v3/role_assignments',
      policy: adminOnly('list_role_assignments'),
      handle: (context) => listAnswer(context, 'role_assignments', assignments(identity, context)),
    },
  ];
}

function roleResource(identity: Identity): IdentityResource<Role> {
  const { roles, core } = identity;
  const mustBeFree = (name: string): void => {
    if (roles.first('name', name)) throw duplicate('role', `Duplicate entry found with name ${name}`);
  };
  return {
    name: 'role',
    collection: 'roles',
    rows: roles,
    filters: { name: ({ name }) => name },
    view: renderRole,
    create(fields) {
      const name = requiredText(fields, 'name');
      mustBeFree(name);
      return roles.insert({
        id: core.ids.hex(),
        name,
        description: optionalText(fields, 'description') ?? '',
        extra: extrasOf(fields, roleFields),
      });
    },
    update(role, fields) {
      const name = optionalText(fields, 'name') ?? role.name;
      if (isBasicRole(role)) throw immutable(role, 'update');
      if (name !== role.name) mustBeFree(name);
      const description = optionalText(fields, 'description') ?? role.description;
      return roles.update(role.id, { name, description, extra: { ...role.extra, ...extrasOf(fields, roleFields) } });
    },
    delete(role) {
      if (isBasicRole(role)) throw immutable(role, 'delete');
      for (const { id } of [...identity.assignments.by('role', role.id)]) identity.assignments.delete(id);
      const { implications } = identity;
      for (const { id } of [...implications.by('prior', role.id), ...implications.by('implied', role.id)]) {
        implications.delete(id);
      }
      roles.delete(role.id);
    },
  };
}

/** Routes of implied roles. */
function impliedRoleRoutes(identity: Identity): Route[] {
  const { implications } = identity;
  const brief = (context: RequestContext, id: string): object => {
    const role = findRole(identity, id);
    return { id, name: role.name, description: role.description, links: selfLink(context, `roles/${id}`) };
  };
  const inference = (context: RequestContext, priorId: string): object => ({
    prior_role: brief(context, priorId),
    implies: Array.from(implications.by('prior', priorId), ({ impliedId }) => brief(context, impliedId)),
  });
  const pair = (context: RequestContext): [prior: string, implied: string] => [
    findRole(identity, context.param('role')).id,
    findRole(identity, context.param('implied')).id,
  ];
  const answer = (context: RequestContext, status: number): Answer => {
    const [prior, implied] = pair(context);
    return {
      status,
      body: {
        role_inference: { prior_role: brief(context, prior), implies: brief(context, implied) },
        links: selfLink(context, `roles/${prior}/implies/${implied}`),
      },
    };
  };
  const mustBeThere = (context: RequestContext): string => {
    const [prior, implied] = pair(context);
    const id = `${prior}/${implied}`;
    if (!implications.has(id)) throw new Refusal(404, `${prior} does not imply ${implied}.`);
    return id;
  };
  const base = '/v3/roles/{role}/implies';
  return [
    {
      method: 'GET',
      path: '/v3/role_inferences',
      policy: adminOnly('list_role_inference_rules'),
      handle: (context) => {
        const priors = new Set(Array.from(implications.all(), ({ priorId }) => priorId));
        const role_inferences = [...priors].map((id) => inference(context, id));
        return { status: 200, body: { role_inferences, links: selfLink(context, 'role_inferences') } };
      },
    },
    {
      method: 'GET',
      path: base,
      policy: adminOnly('list_implied_roles'),
      handle: (context) => {
        const { id } = findRole(identity, context.param('role'));
        const body = { role_inference: inference(context, id), links: selfLink(context, `roles/${id}/implies`) };
        return { status: 200, body };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{implied}`,
      policy: adminOnly('create_implied_role'),
      handle: (context) => {
        const [prior, implied] = pair(context);
        if (identity.roles.get(implied)?.name === 'admin') {
          throw new Refusal(403, `Unable to create implied role: ${implied} is a prohibited implied role.`);
        }
        identity.imply(prior, implied);
        return answer(context, 201);
      },
    },
    {
      method: 'GET',
      path: `${base}/{implied}`,
      policy: adminOnly('get_implied_role'),
      handle: (context) => {
        mustBeThere(context);
        return answer(context, 200);
      },
    },
    {
      method: 'HEAD',
      path: `${base}/{implied}`,
      policy: adminOnly('check_implied_role'),
      handle: (context) => {
        mustBeThere(context);
        return { status: 204 };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{implied}`,
      policy: adminOnly('delete_implied_role'),
      handle: (context) => {
        implications.delete(mustBeThere(context));
        return { status: 204 };
      },
    },
  ];
}

function immutable(role: Readonly<Role>, verb: string): Refusal {
  return new Refusal(
    403,
    `Cannot ${verb} immutable resource: ${role.id}. Set resource option immutable to false first.`,
  );
}

function findRole(identity: Identity, id: string): Readonly<Role> {
  return need(identity.roles, id, () => notFound('role', id));
}

function grantRoutes(
  identity: Identity,
  base: string,
  kind: 'project' | 'domain' | 'system',
  actor: 'user' | 'group',
): Route[] {
  const policy = (verb: string): NonNullable<Route['policy']> => ({ name: `identity:${verb}_grant`, level: 'admin' });
  const desired = (context: RequestContext): Assignment => {
    const actorId = context.param('actor');
    const roleId = findRole(identity, context.param('role')).id;
    if (!(actor === 'user' ? identity.users : identity.groups).has(actorId)) throw notFound(actor, actorId);
    const target = kind === 'system' ? 'system' : context.param('target');
    if (kind === 'project' && !identity.projects.has(target)) throw notFound('project', target);
    if (kind === 'domain' && !identity.domains.has(target)) throw notFound('domain', target);
    return {
      id: `${actorId}/${target}/${roleId}`,
      userId: actor === 'user' ? actorId : '',
      groupId: actor === 'group' ? actorId : undefined,
      roleId,
      projectId: kind === 'project' ? target : undefined,
      domainId: kind === 'domain' ? target : undefined,
      system: kind === 'system',
    };
  };
  const check = (context: RequestContext): Answer => {
    const { id, roleId } = desired(context);
    if (!identity.assignments.has(id)) throw notFound('role', roleId);
    return { status: 204 };
  };
  const checks = (['GET', 'HEAD'] as const satisfies Method[]).map((method) => ({
    method,
    path: `${base}/{role}`,
    policy: policy('check'),
    handle: check,
  }));
  return [
    ...checks,
    {
      method: 'PUT',
      path: `${base}/{role}`,
      policy: policy('create'),
      handle: (context) => {
        const row = desired(context);
        if (!identity.assignments.has(row.id)) identity.assignments.insert(row);
        return { status: 204 };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{role}`,
      policy: policy('revoke'),
      handle: (context) => {
        const { id, roleId, userId, groupId, projectId, domainId, system } = desired(context);
        if (!identity.assignments.delete(id)) throw notFound('role', roleId);
        // Tokens with another scope stay valid.
        const isThere = (token: Readonly<Token>): boolean =>
          token.projectId === projectId && token.domainId === domainId && token.system === system;
        const users =
          groupId === undefined
            ? [userId]
            : Array.from(identity.memberships.by('group', groupId), (each) => each.userId);
        for (const each of users) identity.revoke([...identity.tokens.by('user', each)].filter(isThere));
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: base,
      policy: policy('list'),
      handle: (context) => {
        const target = kind === 'system' ? 'system' : context.param('target');
        const held = identity.grantedOn(context.param('actor'), target).map((id) => findRole(identity, id));
        return listAnswer(
          context,
          'roles',
          held.map((role) => renderRole(context, role)),
        );
      },
    },
  ];
}

function assignments(identity: Identity, context: RequestContext): object[] {
  const { query } = context;
  const [user, project, role] = [query.get('user.id'), query.get('scope.project.id'), query.get('role.id')];
  const [group, domain] = [query.get('group.id'), query.get('scope.domain.id')];
  const isDeep = query.has('include_subtree') && query.get('include_subtree')?.toLowerCase() !== 'false';
  const isIn = (id: string | undefined, root: string): boolean => {
    if (id === root) return id !== undefined;
    const parent = isDeep && id !== undefined ? identity.projects.get(id)?.parentId : undefined;
    return parent !== undefined && (parent === root || isIn(parent, root));
  };
  const withNames = query.has('include_names') && query.get('include_names')?.toLowerCase() !== 'false';
  const found: object[] = [];
  for (const each of identity.assignments.all()) {
    if (user !== undefined && each.userId !== user) continue;
    if (group !== undefined && each.groupId !== group) continue;
    if (domain !== undefined && each.domainId !== domain) continue;
    if (project !== undefined && !isIn(each.projectId, project)) continue;
    if (role !== undefined && each.roleId !== role) continue;
    if (query.has('scope.system') && !each.system) continue;
    found.push(renderAssignment(identity, context, each, withNames));
  }
  return found;
}

function renderAssignment(
  identity: Identity,
  context: RequestContext,
  each: Readonly<Assignment>,
  withNames: boolean,
): object {
  const named = (id: string, row: { name: string; domainId?: string } | undefined): object => ({
    id,
    ...(withNames && row && { name: row.name }),
    ...(withNames &&
      row?.domainId !== undefined && {
        domain: { id: row.domainId, name: identity.domains.get(row.domainId)?.name },
      }),
  });
  const scope = each.system
    ? { system: { all: true } }
    : each.projectId !== undefined
      ? { project: named(each.projectId, identity.projects.get(each.projectId)) }
      : {
          domain: named(
            must(each.domainId, 'each.domainId'),
            identity.domains.get(must(each.domainId, 'each.domainId')),
          ),
        };
  const target = each.system
    ? 'system'
    : each.projectId !== undefined
      ? `projects/${each.projectId}`
      : `domains/${each.domainId}`;
  const actor = each.groupId === undefined ? `users/${each.userId}` : `groups/${each.groupId}`;
  return {
    role: named(each.roleId, identity.roles.get(each.roleId)),
    ...(each.groupId === undefined
      ? { user: named(each.userId, identity.users.get(each.userId)) }
      : { group: named(each.groupId, identity.groups.get(each.groupId)) }),
    scope,
    links: { assignment: selfLink(context, `${target}/${actor}/roles/${each.roleId}`).self },
  };
}
