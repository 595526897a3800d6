import { need } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { extrasOf, optionalFlag, optionalText, requiredText, wrapped } from './body.ts';
import type { Identity } from './identity.ts';
import { desiredDomain, removeUser } from './projects.ts';
import { duplicate, notAllowed, notFound, unauthorized } from './refusals.ts';
import { listAnswer, renderProject, renderUser } from './rendering.ts';
import { type IdentityResource, identityRoutes } from './resource.ts';
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
  const { users } = identity;
  return [
    ...identityRoutes(userResource(identity)),
    {
      method: 'POST',
      path: '/v3/users/{user}/password',
      open: true,
      handle: (context) => {
        const user = need(users, context.param('user'), (id) => notFound('user', id));
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

function userResource(identity: Identity): IdentityResource<User> {
  const { users, core } = identity;
  const mustBeFree = (name: string, domainId: string): void => {
    if (users.first('name', nameKey(domainId, name))) {
      throw duplicate('user', `Duplicate entry found with name ${name} at domain ID ${domainId}`);
    }
  };
  return {
    name: 'user',
    collection: 'users',
    rows: users,
    filters: { name: ({ name }) => name, domain_id: ({ domainId }) => domainId, enabled: ({ enabled }) => enabled },
    maySee: ({ caller, params }) => caller.userId === params['id'],
    view: renderUser,
    create(fields, context) {
      const name = requiredText(fields, 'name');
      const domainId = desiredDomain(identity, context, fields);
      mustBeFree(name, domainId);
      return users.insert({
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
    },
    update(user, fields) {
      const name = optionalText(fields, 'name') ?? user.name;
      if (name !== user.name) mustBeFree(name, user.domainId);
      const password = optionalText(fields, 'password');
      const enabled = optionalFlag(fields, 'enabled') ?? user.enabled;
      if (password !== undefined || !enabled) identity.revoke(identity.tokens.by('user', user.id));
      return users.update(user.id, {
        name,
        enabled,
        email: optionalText(fields, 'email') ?? user.email,
        description: optionalText(fields, 'description') ?? user.description,
        defaultProjectId: optionalText(fields, 'default_project_id') ?? user.defaultProjectId,
        extra: { ...user.extra, ...extrasOf(fields, userFields) },
        passwordHash: password === undefined ? user.passwordHash : identity.hash(password),
      });
    },
    delete: ({ id }) => removeUser(identity, id),
  };
}
