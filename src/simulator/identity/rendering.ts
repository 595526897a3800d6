import type { RequestContext } from '../core/http/context.ts';
import type { Answer } from '../core/service.ts';
import { microseconds } from '../core/time-formats.ts';
import type { Identity } from './identity.ts';
import type { ApplicationCredential, Domain, Group, Project, Role, Trust, User } from './tables.ts';

export function selfLink(context: RequestContext, path: string): { self: string } {
  return { self: `${context.serviceUrl}/v3/${path}` };
}

/** Answers a complete list. Keystone does not page. */
export function listAnswer(context: RequestContext, key: string, items: readonly unknown[]): Answer {
  const query = context.queryText === '' ? '' : `?${context.queryText}`;
  const self = `${context.serviceUrl}${context.path}${query}`;
  return { status: 200, body: { [key]: items, links: { next: null, self, previous: null } } };
}

export function renderDomain(context: RequestContext, domain: Readonly<Domain>): object {
  const { id, name, description, enabled } = domain;
  return { id, name, description, enabled, tags: [], options: {}, links: selfLink(context, `domains/${id}`) };
}

export function renderProject(context: RequestContext, project: Readonly<Project>): object {
  const { id, name, domainId, description, enabled, parentId, tags } = project;
  return {
    id,
    name,
    domain_id: domainId,
    description,
    enabled,
    parent_id: parentId,
    is_domain: false,
    tags,
    options: {},
    links: selfLink(context, `projects/${id}`),
  };
}

/** Renders a domain as a project without a parent. */
export function renderDomainAsProject(context: RequestContext, domain: Readonly<Domain>): object {
  const { id, name, description, enabled } = domain;
  return {
    id,
    name,
    domain_id: null,
    description,
    enabled,
    parent_id: null,
    is_domain: true,
    tags: [],
    options: {},
    links: selfLink(context, `projects/${id}`),
  };
}

export function renderGroup(context: RequestContext, group: Readonly<Group>): object {
  const { id, name, domainId, description, extra } = group;
  return { ...extra, id, name, domain_id: domainId, description, links: selfLink(context, `groups/${id}`) };
}

export function renderUser(context: RequestContext, user: Readonly<User>): object {
  const { id, name, domainId, description, email, defaultProjectId, enabled } = user;
  return {
    ...user.extra,
    id,
    name,
    domain_id: domainId,
    enabled,
    ...(description !== undefined && { description }),
    ...(email !== undefined && { email }),
    ...(defaultProjectId !== undefined && { default_project_id: defaultProjectId }),
    password_expires_at: null,
    options: {},
    links: selfLink(context, `users/${id}`),
  };
}

export function renderRole(context: RequestContext, role: Readonly<Role>): object {
  const { id, name, description, extra } = role;
  const options = isBasicRole(role) ? { immutable: true } : {};
  return { ...extra, id, name, domain_id: null, description, options, links: selfLink(context, `roles/${id}`) };
}

/** Default roles of keystone, which cannot be deleted. */
const basicRoles: ReadonlySet<string> = new Set(['admin', 'member', 'reader']);

export function isBasicRole({ name }: Pick<Role, 'name'>): boolean {
  return basicRoles.has(name);
}

export function renderApplicationCredential(
  identity: Identity,
  context: RequestContext,
  credential: Readonly<ApplicationCredential>,
): Record<string, unknown> {
  const { id, name, description, userId, projectId, roleIds, expiresAt, unrestricted } = credential;
  return {
    id,
    name,
    description,
    project_id: projectId,
    system: null,
    expires_at: expiresAt === undefined ? null : microseconds(expiresAt),
    unrestricted,
    user_id: userId,
    ...(credential.accessRules && { access_rules: credential.accessRules }),
    roles: roleIds.map((roleId) => {
      const roleName = identity.roles.get(roleId)?.name ?? '';
      const options = basicRoles.has(roleName) ? { immutable: true } : {};
      return { id: roleId, name: roleName, domain_id: null, description: null, options };
    }),
    links: selfLink(context, `application_credentials/${id}`),
  };
}

export function renderTrust(identity: Identity, context: RequestContext, trust: Readonly<Trust>): object {
  return {
    id: trust.id,
    trustor_user_id: trust.trustorId,
    trustee_user_id: trust.trusteeId,
    project_id: trust.projectId,
    impersonation: trust.impersonation,
    expires_at: trust.expiresAt === undefined ? null : `${microseconds(trust.expiresAt)}Z`,
    deleted_at: null,
    remaining_uses: trust.remainingUses,
    redelegated_trust_id: null,
    redelegation_count: trust.redelegationCount,
    roles: trust.roleIds.map((id) => ({ id, name: identity.roles.get(id)?.name })),
    links: selfLink(context, `OS-TRUST/trusts/${trust.id}`),
  };
}
