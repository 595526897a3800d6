import type { RequestContext } from '../core/http/context.ts';
import { type Resource, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { type Fields, isFields, optionalText, requiredText, wrapped } from './body.ts';
import { parseExpiry } from './expiry.ts';
import type { Identity } from './identity.ts';
import { badRequest, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderRole, renderTrust } from './rendering.ts';
import type { Trust } from './tables.ts';

/** Routes of trusts, with which a user delegates roles to another user. */
export function trustRoutes(identity: Identity): Route[] {
  const { trusts, core } = identity;
  const find = (context: RequestContext): Readonly<Trust> => {
    const trust = trusts.get(context.param('id'));
    if (!trust || identity.isExpired(trust)) throw notFound('trust', context.param('id'));
    const { userId, isAdmin } = context.caller;
    if (!isAdmin && trust.trustorId !== userId && trust.trusteeId !== userId) throw notAllowed('identity:get_trust');
    return trust;
  };
  const resource: Resource<Trust> = {
    path: '/v3/OS-TRUST/trusts',
    name: 'trust',
    find,
    view: (trust, context) => renderTrust(identity, context, trust),
    list(context) {
      const { userId, isAdmin } = context.caller;
      const trustor = context.query.get('trustor_user_id');
      const trustee = context.query.get('trustee_user_id');
      if (!isAdmin && trustor !== userId && trustee !== userId) throw notAllowed('identity:list_trusts');
      const items = [...trusts.all()]
        .filter(
          (each) => (trustor ?? each.trustorId) === each.trustorId && (trustee ?? each.trusteeId) === each.trusteeId,
        )
        .map((each) => renderTrust(identity, context, each));
      return listAnswer(context, 'trusts', items);
    },
    create(context) {
      const fields = wrapped(context, 'trust');
      const trustorId = requiredText(fields, 'trustor_user_id');
      const trusteeId = requiredText(fields, 'trustee_user_id');
      const projectId = optionalText(fields, 'project_id') ?? '';
      const { caller } = context;
      if (trustorId !== caller.userId || caller.applicationCredentialId !== undefined) {
        throw notAllowed('identity:create_trust');
      }
      if (!identity.users.has(trusteeId)) throw notFound('user', trusteeId);
      if (!identity.projects.has(projectId)) throw notFound('project', projectId);
      return trusts.insert({
        id: core.ids.hex(),
        trustorId,
        trusteeId,
        projectId,
        roleIds: desiredRoles(identity, fields, trustorId, projectId),
        impersonation: fields['impersonation'] === true,
        expiresAt: parseExpiry(fields['expires_at'], core.now()),
        remainingUses: typeof fields['remaining_uses'] === 'number' ? fields['remaining_uses'] : null,
        redelegationCount: typeof fields['redelegation_count'] === 'number' ? fields['redelegation_count'] : 0,
      });
    },
    delete({ id, trustorId }, { caller }) {
      if (!caller.isAdmin && trustorId !== caller.userId) throw notAllowed('identity:delete_trust');
      identity.revoke(identity.tokens.by('trust', id));
      trusts.delete(id);
    },
  };
  return [
    ...resourceRoutes(resource),
    {
      method: 'GET',
      path: '/v3/OS-TRUST/trusts/{id}/roles',
      handle: (context) => {
        const roles = find(context).roleIds.map((id) => renderRole(context, identity.roles.known(id)));
        return listAnswer(context, 'roles', roles);
      },
    },
    ...(['GET', 'HEAD'] as const).map(
      (method): Route => ({
        method,
        path: '/v3/OS-TRUST/trusts/{id}/roles/{role}',
        handle: (context) => {
          const id = context.param('role');
          const role = find(context).roleIds.includes(id) ? identity.roles.get(id) : undefined;
          if (!role) throw notFound('role', id);
          return { status: 200, body: { role: renderRole(context, role) } };
        },
      }),
    ),
  ];
}

function desiredRoles(identity: Identity, fields: Fields, trustorId: string, projectId: string): string[] {
  const held = identity.rolesOn(trustorId, projectId);
  const desired = fields['roles'];
  if (!Array.isArray(desired) || desired.length === 0) throw badRequest('At least one role should be specified.');
  return desired.map((each: unknown) => {
    const role: Fields = isFields(each) ? each : {};
    const id = typeof role['id'] === 'string' ? role['id'] : identity.roles.first('name', String(role['name']))?.id;
    if (id === undefined || !held.includes(id)) throw notAllowed('identity:create_trust');
    return id;
  });
}
