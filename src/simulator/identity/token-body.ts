import type { RequestContext } from '../core/http/context.ts';
import { microseconds, microsecondsZulu } from '../core/time-formats.ts';
import { renderCatalog } from './catalog.ts';
import type { Identity } from './identity.ts';
import type { Token } from './tables.ts';

/** Renders a token. */
export function renderToken(
  identity: Identity,
  token: Readonly<Token>,
  context: RequestContext,
  withCatalog: boolean,
): Record<string, unknown> {
  const user = identity.users.known(token.userId);
  const body: Record<string, unknown> = {
    methods: token.methods,
    user: { domain: domainOf(identity, user.domainId), id: user.id, name: user.name, password_expires_at: null },
    audit_ids: token.auditIds,
    expires_at: microsecondsZulu(Math.floor(token.expiresAt / 1000) * 1000),
    issued_at: microsecondsZulu(token.issuedAt),
  };
  const project = token.projectId === undefined ? undefined : identity.projects.get(token.projectId);
  if (project) {
    body['project'] = { domain: domainOf(identity, project.domainId), id: project.id, name: project.name };
    body['is_domain'] = false;
  }
  if (token.domainId !== undefined) body['domain'] = domainOf(identity, token.domainId);
  if (token.system) body['system'] = { all: true };
  if (project || token.domainId !== undefined || token.system) {
    body['roles'] = token.roleIds.map((id) => ({ id, name: identity.roles.get(id)?.name }));
    if (withCatalog) body['catalog'] = renderCatalog(identity, context, token.projectId);
  }
  const credential = identity.applicationCredentials.get(token.applicationCredentialId ?? '');
  if (credential) {
    const { id, name, unrestricted, expiresAt } = credential;
    body['application_credential'] = {
      id,
      name,
      restricted: unrestricted !== true,
      ...(expiresAt !== undefined && { expires_at: microseconds(expiresAt) }),
    };
  }
  const trust = identity.trusts.get(token.trustId ?? '');
  if (trust) {
    body['OS-TRUST:trust'] = {
      id: trust.id,
      impersonation: trust.impersonation,
      trustor_user: { id: trust.trustorId },
      trustee_user: { id: trust.trusteeId },
    };
  }
  return body;
}

function domainOf(identity: Identity, id: string): { id: string; name: string } {
  return { id, name: identity.domains.get(id)?.name ?? id };
}
