import type { RequestContext } from '../core/http/context.ts';
import type { Method, Route } from '../core/service.ts';
import { extrasOf, optionalText, requiredText, wrapped } from './body.ts';
import { removeGroup } from './group-removal.ts';
import type { Identity } from './identity.ts';
import { filterBy, wishedDomain } from './projects.ts';
import { duplicate, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderGroup, renderUser } from './rendering.ts';
import { type Group, nameKey } from './tables.ts';

const groupFields = ['id', 'name', 'domain_id', 'description', 'links'];

/** Groups of users, and who is in them. */
export function groupRoutes(identity: Identity): Route[] {
  const { groups, memberships, users, core } = identity;
  const admin = (name: string): NonNullable<Route['policy']> => ({ name: `identity:${name}`, level: 'admin' });
  const find = (context: RequestContext): Readonly<Group> => {
    const group = groups.get(context.param('group'));
    if (!group) throw notFound('group', context.param('group'));
    return group;
  };
  const mustBeFree = (name: string, domainId: string): void => {
    if (groups.first('name', nameKey(domainId, name))) {
      throw duplicate('group', `Duplicate entry found with name ${name} at domain ID ${domainId}`);
    }
  };
  const membership = (context: RequestContext): { id: string; groupId: string; userId: string } => {
    const [groupId, userId] = [find(context).id, context.param('user')];
    if (!users.has(userId)) throw notFound('user', userId);
    return { id: `${groupId}/${userId}`, groupId, userId };
  };
  const inside = '/v3/groups/{group}/users/{user}';
  return [
    {
      method: 'GET',
      path: '/v3/groups',
      policy: admin('list_groups'),
      handle: (context) => {
        const matches = filterBy<Group>(context, { name: ({ name }) => name, domain_id: ({ domainId }) => domainId });
        const found = [...groups.all()].filter(matches);
        return listAnswer(
          context,
          'groups',
          found.map((group) => renderGroup(context, group)),
        );
      },
    },
    {
      method: 'POST',
      path: '/v3/groups',
      policy: admin('create_group'),
      handle: (context) => {
        const fields = wrapped(context, 'group');
        const name = requiredText(fields, 'name');
        const domainId = wishedDomain(identity, context, fields);
        mustBeFree(name, domainId);
        const description = optionalText(fields, 'description') ?? '';
        const group = groups.insert({
          id: core.ids.hex(),
          name,
          domainId,
          description,
          extra: extrasOf(fields, groupFields),
        });
        return { status: 201, body: { group: renderGroup(context, group) } };
      },
    },
    {
      method: 'GET',
      path: '/v3/groups/{group}',
      policy: admin('get_group'),
      handle: (context) => ({ status: 200, body: { group: renderGroup(context, find(context)) } }),
    },
    {
      method: 'PATCH',
      path: '/v3/groups/{group}',
      policy: admin('update_group'),
      handle: (context) => {
        const group = find(context);
        const fields = wrapped(context, 'group');
        const name = optionalText(fields, 'name') ?? group.name;
        if (name !== group.name) mustBeFree(name, group.domainId);
        const description = optionalText(fields, 'description') ?? group.description;
        const extra = { ...group.extra, ...extrasOf(fields, groupFields) };
        const changed = groups.update(group.id, { name, description, extra });
        return { status: 200, body: { group: renderGroup(context, changed) } };
      },
    },
    {
      method: 'DELETE',
      path: '/v3/groups/{group}',
      policy: admin('delete_group'),
      handle: (context) => {
        removeGroup(identity, find(context).id);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v3/groups/{group}/users',
      policy: admin('list_users_in_group'),
      handle: (context) => {
        const members = Array.from(memberships.by('group', find(context).id), ({ userId }) => users.get(userId)!);
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
      policy: admin('add_user_to_group'),
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
        policy: admin('check_user_in_group'),
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
      policy: admin('remove_user_from_group'),
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
        const own = Array.from(memberships.by('user', id), ({ groupId }) => groups.get(groupId)!);
        return listAnswer(
          context,
          'groups',
          own.map((group) => renderGroup(context, group)),
        );
      },
    },
  ];
}
