import type { RequestContext } from '../core/http/context.ts';
import { resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { type Fields, isFields, optionalText, requiredText, schemaError, wrapped } from './body.ts';
import { parseExpiry } from './expiry.ts';
import type { Identity } from './identity.ts';
import { badRequest, duplicate, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderApplicationCredential, selfLink } from './rendering.ts';
import type { AccessRule, ApplicationCredential } from './tables.ts';

/** A credential, with its secret in the answer to its creation. */
interface Shown extends ApplicationCredential {
  readonly secret?: string;
}

export function applicationCredentialRoutes(identity: Identity): Route[] {
  const { applicationCredentials, core } = identity;
  return [
    ...resourceRoutes<Shown>({
      path: '/v3/users/{user}/application_credentials',
      name: 'application_credential',
      find(context, operation) {
        mustBeSelf(context, `${operation === 'show' ? 'get' : operation}_application_credential`);
        if (operation === 'delete') mustNotBeRestricted(identity, context);
        const found = applicationCredentials.get(context.param('id'));
        if (found?.userId !== context.param('user')) throw notFound('Application Credential', context.param('id'));
        return found;
      },
      view: ({ secret, ...row }, context) => ({
        ...renderApplicationCredential(identity, context, row),
        ...(secret !== undefined && { secret }),
      }),
      list(context) {
        mustBeSelf(context, 'list_application_credentials');
        const name = context.query.get('name');
        const items = [];
        for (const each of applicationCredentials.by('user', context.param('user'))) {
          if (name === undefined || each.name === name)
            items.push(renderApplicationCredential(identity, context, each));
        }
        return listAnswer(context, 'application_credentials', items);
      },
      create(context) {
        mustBeSelf(context, 'create_application_credential');
        mustNotBeRestricted(identity, context);
        const body = context.json;
        const isWrapped = isFields(body) && isFields(body['application_credential']);
        const fields = isWrapped ? wrapped(context, 'application_credential') : {};
        const secret = optionalText(fields, 'secret') ?? core.ids.secret(86);
        return { ...applicationCredentials.insert(newCredential(identity, context, fields, secret)), secret };
      },
      delete({ id }) {
        identity.revoke(identity.tokens.by('applicationCredential', id));
        applicationCredentials.delete(id);
      },
    }),
    ...accessRuleRoutes(identity),
  ];
}

function newCredential(
  identity: Identity,
  context: RequestContext,
  fields: Fields,
  secret: string,
): ApplicationCredential {
  const { caller } = context;
  const name = requiredText(fields, 'name');
  if (caller.projectId === undefined) throw badRequest('Application credentials need a token scoped to a project.');
  for (const each of identity.applicationCredentials.by('user', caller.userId)) {
    if (each.name === name) throw duplicate('application_credential', `Duplicate entry found with name ${name}`);
  }
  return {
    id: identity.core.ids.hex(),
    name,
    description: optionalText(fields, 'description') ?? null,
    userId: caller.userId,
    projectId: caller.projectId,
    secretHash: identity.hash(secret),
    roleIds: desiredRoles(identity, context, fields['roles']),
    expiresAt: parseExpiry(fields['expires_at'], identity.core.now()),
    unrestricted: typeof fields['unrestricted'] === 'boolean' ? fields['unrestricted'] : null,
    accessRules: readAccessRules(identity, caller.userId, fields['access_rules']),
  };
}

const methods = ['POST', 'GET', 'HEAD', 'PATCH', 'PUT', 'DELETE'];

/** Reads access rules, given in full or by the id of an existing rule of the user. */
function readAccessRules(identity: Identity, userId: string, value: unknown): AccessRule[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const known = rulesOf(identity, userId);
  return value.map((each: unknown) => {
    const fields: Fields = isFields(each) ? each : {};
    if (typeof fields['id'] === 'string') {
      const found = known.find(({ id }) => id === fields['id']);
      if (!found) throw notFound('Access Rule', fields['id']);
      return found;
    }
    const [path, method, service] = ['path', 'method', 'service'].map((key) => requiredText(fields, key)) as [
      string,
      string,
      string,
    ];
    if (!methods.includes(method)) {
      throw schemaError(`Invalid input for field 'method': '${method}' is not one of ${methods.join(', ')}`, 'enum');
    }
    const same = known.find((rule) => rule.path === path && rule.method === method && rule.service === service);
    if (same) return same;
    const rule = { id: identity.core.ids.hex(), path, method, service };
    identity.accessRules.insert({ ...rule, userId });
    return rule;
  });
}

/** Access rules that the user created with credentials, except deleted ones. */
function rulesOf({ accessRules }: Identity, userId: string): AccessRule[] {
  return Array.from(accessRules.by('user', userId), ({ userId: _owner, ...rule }) => rule);
}

/** Routes of access rules. Rules in use cannot be deleted. */
function accessRuleRoutes(identity: Identity): Route[] {
  const render = (context: RequestContext, rule: AccessRule): object => ({
    ...rule,
    links: selfLink(context, `users/${context.param('user')}/access_rules/${rule.id}`),
  });
  return resourceRoutes<AccessRule>({
    path: '/v3/users/{user}/access_rules',
    name: 'access_rule',
    find(context, operation) {
      mustBeSelf(context, `${operation === 'show' ? 'get' : operation}_access_rule`);
      const rule = rulesOf(identity, context.param('user')).find(({ id }) => id === context.param('id'));
      if (!rule) throw notFound('Access Rule', context.param('id'));
      return rule;
    },
    view: (rule, context) => render(context, rule),
    list(context) {
      mustBeSelf(context, 'list_access_rules');
      const rules = rulesOf(identity, context.param('user')).map((rule) => render(context, rule));
      return listAnswer(context, 'access_rules', rules);
    },
    delete({ id }, context) {
      for (const { accessRules = [] } of identity.applicationCredentials.by('user', context.param('user'))) {
        if (!accessRules.some((rule) => rule.id === id)) continue;
        throw notAllowed(`Could not delete access rule ${id}. It is used by an application credential`);
      }
      identity.accessRules.delete(id);
    },
  });
}

/** Returns the requested roles, by default all of the token. Roles the token lacks are refused. */
function desiredRoles(identity: Identity, { caller }: RequestContext, desired: unknown): string[] {
  const held = identity.tokens.known(caller.token).roleIds;
  if (!Array.isArray(desired) || desired.length === 0) return [...held];
  return desired.map((each: unknown) => {
    const fields: Fields = isFields(each) ? each : {};
    const id =
      typeof fields['id'] === 'string' ? fields['id'] : identity.roles.first('name', String(fields['name']))?.id;
    if (id === undefined || !held.includes(id)) {
      throw badRequest('Invalid application credential: Cannot create an application credential with unassigned role');
    }
    return id;
  });
}

function mustBeSelf(context: RequestContext, action: string): void {
  if (context.param('user') !== context.caller.userId && !context.caller.isAdmin)
    throw notAllowed(`identity:${action}`);
}

/** Refuses callers with an application credential, unless it is unrestricted. */
function mustNotBeRestricted(identity: Identity, { caller }: RequestContext): void {
  const id = caller.applicationCredentialId;
  if (id !== undefined && identity.applicationCredentials.get(id)?.unrestricted !== true) {
    throw notAllowed(
      "Using method 'application_credential' is not allowed for managing additional application credentials.",
    );
  }
}
