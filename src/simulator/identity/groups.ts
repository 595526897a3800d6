import type { RequestContext } from '../core/http/context.ts';
import { need } from '../core/resource.ts';
import type { Method, Route } from '../core/service.ts';
import { extrasOf, optionalText, requiredText } from './body.ts';
import { removeGroup } from './group-removal.ts';
import type { Identity } from './identity.ts';
import { desiredDomain } from './projects.ts';
import { duplicate, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderGroup, renderUser } from './rendering.ts';
import { adminOnly, type IdentityResource, identityRoutes } from './resource.ts';
import { type Group, nameKey } from './tables.ts';

const groupFields = ['id', 'name', 'domain_id', 'description', 'links'];

/** Routes of groups and their members. */
export function groupRoutes(identity: Identity): Route[] {
  const { groups, memberships, users } = identity;
  const find = (context: RequestContext): Readonly<Group> =>
    need(groups, context.param('group'), (id) => notFound('group', id));
  const membership = (context: RequestContext): { id: string; groupId: string; userId: string } => {
    const [groupId, userId] = [find(context).id, context.param('user')];
    if (!users.has(userId)) throw notFound('user', userId);
    return { id: `${groupId}/${userId}`, groupId, userId };
  };
  const inside = '/v3/groups/{group}/users/{user}';
  return [
    ...identityRoutes(groupResource(identity)),
    {
      method: 'GET',
      path: '/v3/groups/{group}/users',
      policy: adminOnly('list_users_in_group'),
      handle: (context) => {
        const members = Array.from(memberships.by('group', find(context).id), ({ userId }) => users.known(userId));
        return listAnswer(
          context,
          'users',
          members.map((user) => renderUser(context, user)),
        );
      },
    },
    {
      method: 'PUT',
      path: inside,
      policy: adminOnly('add_user_to_group'),
      handle: (context) => {
        const row = membership(context);
        if (!memberships.has(row.id)) memberships.insert(row);
        return { status: 204 };
      },
    },
    ...(['GET', 'HEAD'] as const satisfies Method[]).map(
      (method): Route => ({
        method,
        path: inside,
        policy: adminOnly('check_user_in_group'),
        handle: (context) => {
          const { id, groupId, userId } = membership(context);
          if (!memberships.has(id)) throw notFound(`user '${userId}' in group`, `'${groupId}'`);
          return { status: 204 };
        },
      }),
    ),
    {
      method: 'DELETE',
      path: inside,
      policy: adminOnly('remove_user_from_group'),
      handle: (context) => {
        const { id, groupId, userId } = membership(context);
        if (!memberships.delete(id)) throw notFound(`user '${userId}' in group`, `'${groupId}'`);
        identity.revoke(identity.tokens.by('user', userId));
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v3/users/{user}/groups',
      handle: (context) => {
        const id = context.param('user');
        if (!context.caller.isAdmin && context.caller.userId !== id) throw notAllowed('identity:list_groups_for_user');
        const own = Array.from(memberships.by('user', id), ({ groupId }) => groups.known(groupId));
        return listAnswer(
          context,
          'groups',
          own.map((group) => renderGroup(context, group)),
        );
      },
    },
  ];
}

function groupResource(identity: Identity): IdentityResource<Group> {
  const { groups, core } = identity;
  const mustBeFree = (name: string, domainId: string): void => {
    if (groups.first('name', nameKey(domainId, name))) {
      throw duplicate('group', `Duplicate entry found with name ${name} at domain ID ${domainId}`);
    }
  };
  return {
    name: 'group',
    collection: 'groups',
    rows: groups,
    filters: { name: ({ name }) => name, domain_id: ({ domainId }) => domainId },
    view: renderGroup,
    create(fields, context) {
      const name = requiredText(fields, 'name');
      const domainId = desiredDomain(identity, context, fields);
      mustBeFree(name, domainId);
      const description = optionalText(fields, 'description') ?? '';
      const extra = extrasOf(fields, groupFields);
      return groups.insert({ id: core.ids.hex(), name, domainId, description, extra });
    },
    update(group, fields) {
      const name = optionalText(fields, 'name') ?? group.name;
      if (name !== group.name) mustBeFree(name, group.domainId);
      const description = optionalText(fields, 'description') ?? group.description;
      const extra = { ...group.extra, ...extrasOf(fields, groupFields) };
      return groups.update(group.id, { name, description, extra });
    },
    delete: ({ id }) => removeGroup(identity, id),
  };
}
