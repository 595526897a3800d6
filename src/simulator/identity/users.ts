import type { Route } from '../core/service.ts';
import { extrasOf, optionalFlag, optionalText, requiredText, wrapped } from './body.ts';
import type { Identity } from './identity.ts';
import { filterBy, removeUser, wishedDomain } from './projects.ts';
import { duplicate, notAllowed, notFound, unauthorized } from './refusals.ts';
import { listAnswer, renderProject, renderUser } from './rendering.ts';
import { nameKey, type User } from './tables.ts';
import { projectsOf } from './tokens.ts';

const userFields = [
  ...[
    'id',
    'name',
    'domain_id',
    'description',
    'email',
    'default_project_id',
    'enabled',
    'password',
    'options',
    'links',
  ],
  ...['password_expires_at', 'original_password'],
];

export function userRoutes(identity: Identity): Route[] {
  const { users, core } = identity;
  const admin = (name: string): NonNullable<Route['policy']> => ({ name: `identity:${name}`, level: 'admin' });
  const find = (id: string): Readonly<User> => {
    const user = users.get(id);
    if (!user) throw notFound('user', id);
    return user;
  };
  const mustBeFree = (name: string, domainId: string): void => {
    if (users.first('name', nameKey(domainId, name))) {
      throw duplicate('user', `Duplicate entry found with name ${name} at domain ID ${domainId}`);
    }
  };
  return [
    {
      method: 'GET',
      path: '/v3/users',
      policy: admin('list_users'),
      handle: (context) => {
        const matches = filterBy<User>(context, {
          name: ({ name }) => name,
          domain_id: ({ domainId }) => domainId,
          enabled: ({ enabled }) => enabled,
        });
        return listAnswer(
          context,
          'users',
          [...users.all()].filter(matches).map((each) => renderUser(context, each)),
        );
      },
    },
    {
      method: 'POST',
      path: '/v3/users',
      policy: admin('create_user'),
      handle: (context) => {
        const fields = wrapped(context, 'user');
        const name = requiredText(fields, 'name');
        const domainId = wishedDomain(identity, context, fields);
        mustBeFree(name, domainId);
        const user = users.insert({
          id: core.ids.hex(),
          name,
          domainId,
          description: optionalText(fields, 'description'),
          email: optionalText(fields, 'email'),
          defaultProjectId: optionalText(fields, 'default_project_id'),
          enabled: optionalFlag(fields, 'enabled') ?? true,
          extra: extrasOf(fields, userFields),
          passwordHash: identity.hash(optionalText(fields, 'password') ?? core.ids.secret(32)),
        });
        return { status: 201, body: { user: renderUser(context, user) } };
      },
    },
    {
      method: 'GET',
      path: '/v3/users/{user}',
      handle: (context) => {
        if (!context.caller.isAdmin && context.caller.userId !== context.param('user'))
          throw notAllowed('identity:get_user');
        return { status: 200, body: { user: renderUser(context, find(context.param('user'))) } };
      },
    },
    {
      method: 'PATCH',
      path: '/v3/users/{user}',
      policy: admin('update_user'),
      handle: (context) => {
        const user = find(context.param('user'));
        const fields = wrapped(context, 'user');
        const name = optionalText(fields, 'name') ?? user.name;
        if (name !== user.name) mustBeFree(name, user.domainId);
        const password = optionalText(fields, 'password');
        const enabled = optionalFlag(fields, 'enabled') ?? user.enabled;
        if (password !== undefined || !enabled) identity.revoke(identity.tokens.by('user', user.id));
        users.update(user.id, {
          name,
          enabled,
          email: optionalText(fields, 'email') ?? user.email,
          description: optionalText(fields, 'description') ?? user.description,
          defaultProjectId: optionalText(fields, 'default_project_id') ?? user.defaultProjectId,
          extra: { ...user.extra, ...extrasOf(fields, userFields) },
          passwordHash: password === undefined ? user.passwordHash : identity.hash(password),
        });
        return { status: 200, body: { user: renderUser(context, find(user.id)) } };
      },
    },
    {
      method: 'DELETE',
      path: '/v3/users/{user}',
      policy: admin('delete_user'),
      handle: (context) => {
        removeUser(identity, find(context.param('user')).id);
        return { status: 204 };
      },
    },
    {
      method: 'POST',
      path: '/v3/users/{user}/password',
      open: true,
      handle: (context) => {
        const user = find(context.param('user'));
        const fields = wrapped(context, 'user');
        if (!identity.matches(requiredText(fields, 'original_password'), user.passwordHash)) throw unauthorized();
        users.update(user.id, { passwordHash: identity.hash(requiredText(fields, 'password')) });
        identity.revoke(identity.tokens.by('user', user.id));
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v3/users/{user}/projects',
      handle: (context) => {
        const id = context.param('user');
        if (!context.caller.isAdmin && context.caller.userId !== id) throw notAllowed('identity:list_user_projects');
        const items = projectsOf(identity, id).map((project) => renderProject(context, project));
        return listAnswer(context, 'projects', items);
      },
    },
  ];
}
