import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { type Fields, isFields, optionalText, requiredText, wrapped } from './body.ts';
import { parseExpiry } from './expiry.ts';
import type { Identity } from './identity.ts';
import { badRequest, duplicate, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderApplicationCredential } from './rendering.ts';
import type { ApplicationCredential } from './tables.ts';

const collection = '/v3/users/{user}/application_credentials';

export function applicationCredentialRoutes(identity: Identity): Route[] {
  const { applicationCredentials, core } = identity;
  const find = (context: RequestContext): Readonly<ApplicationCredential> => {
    const found = applicationCredentials.get(context.param('id'));
    if (found?.userId !== context.param('user')) throw notFound('Application Credential', context.param('id'));
    return found;
  };
  return [
    {
      method: 'GET',
      path: collection,
      handle: (context) => {
        mustBeSelf(context, 'list_application_credentials');
        const name = context.query.get('name');
        const items = [];
        for (const each of applicationCredentials.by('user', context.param('user'))) {
          if (name === undefined || each.name === name)
            items.push(renderApplicationCredential(identity, context, each));
        }
        return listAnswer(context, 'application_credentials', items);
      },
    },
    {
      method: 'POST',
      path: collection,
      handle: (context) => {
        mustBeSelf(context, 'create_application_credential');
        mustNotBeRestricted(identity, context);
        const body = context.json;
        const isWrapped = isFields(body) && isFields(body['application_credential']);
        const fields = isWrapped ? wrapped(context, 'application_credential') : {};
        const secret = optionalText(fields, 'secret') ?? core.ids.secret(86);
        const row = applicationCredentials.insert(newCredential(identity, context, fields, secret));
        const rendered = renderApplicationCredential(identity, context, row);
        return { status: 201, body: { application_credential: { ...rendered, secret } } };
      },
    },
    {
      method: 'GET',
      path: `${collection}/{id}`,
      handle: (context) => {
        mustBeSelf(context, 'get_application_credential');
        const body = renderApplicationCredential(identity, context, find(context));
        return { status: 200, body: { application_credential: body } };
      },
    },
    {
      method: 'DELETE',
      path: `${collection}/{id}`,
      handle: (context) => {
        mustBeSelf(context, 'delete_application_credential');
        mustNotBeRestricted(identity, context);
        const { id } = find(context);
        identity.revoke(identity.tokens.by('applicationCredential', id));
        applicationCredentials.delete(id);
        return { status: 204 };
      },
    },
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
    roleIds: wishedRoles(identity, context, fields['roles']),
    expiresAt: parseExpiry(fields['expires_at'], identity.core.now()),
    unrestricted: typeof fields['unrestricted'] === 'boolean' ? fields['unrestricted'] : null,
  };
}

/** Only roles the token has can be handed on; without a wish all of them. */
function wishedRoles(identity: Identity, { caller }: RequestContext, wish: unknown): string[] {
  const held = identity.tokens.get(caller.token)!.roleIds;
  if (!Array.isArray(wish) || wish.length === 0) return [...held];
  return wish.map((each: unknown) => {
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

/** Who came with an application credential must not make himself another, unless that was allowed. */
function mustNotBeRestricted(identity: Identity, { caller }: RequestContext): void {
  const id = caller.applicationCredentialId;
  if (id !== undefined && identity.applicationCredentials.get(id)?.unrestricted !== true) {
    throw notAllowed(
      "Using method 'application_credential' is not allowed for managing additional application credentials.",
    );
  }
}
