import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { renderCatalog } from './catalog.ts';
import type { Identity } from './identity.ts';
import { notAllowed } from './refusals.ts';
import { listAnswer, renderDomain, renderProject } from './rendering.ts';
import type { Domain, Project, Token } from './tables.ts';
import { renderToken } from './token-body.ts';

/** Routes of tokens and of the caller's own identity. */
export function tokenRoutes(identity: Identity): Route[] {
  const validate = (context: RequestContext): Answer => {
    const token = subject(identity, context);
    return {
      status: 200,
      headers: { 'x-subject-token': token.id },
      body: { token: renderToken(identity, token, context, !context.query.has('nocatalog')) },
    };
  };
  return [
    { method: 'GET', path: '/v3/auth/tokens', handle: validate },
    { method: 'HEAD', path: '/v3/auth/tokens', handle: validate },
    {
      method: 'DELETE',
      path: '/v3/auth/tokens',
      handle: (context) => {
        identity.revoke([subject(identity, context)]);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v3/auth/catalog',
      handle: (context) => {
        const { projectId, domainId, system } = context.caller;
        if (projectId === undefined && domainId === undefined && !system) {
          throw new Refusal(403, 'You are not authorized to perform the requested action.');
        }
        const links = { self: `${context.serviceUrl}/v3/auth/catalog` };
        return { status: 200, body: { catalog: renderCatalog(identity, context, projectId), links } };
      },
    },
    {
      method: 'GET',
      path: '/v3/auth/projects',
      handle: (context) =>
        listAnswer(
          context,
          'projects',
          projectsOf(identity, context.caller.userId).map((project) => renderProject(context, project)),
        ),
    },
    {
      method: 'GET',
      path: '/v3/auth/domains',
      handle: (context) => {
        const domains: Readonly<Domain>[] = [];
        for (const { domainId } of identity.assignments.by('user', context.caller.userId)) {
          const domain = domainId === undefined ? undefined : identity.domains.get(domainId);
          if (domain && !domains.includes(domain)) domains.push(domain);
        }
        return listAnswer(
          context,
          'domains',
          domains.map((domain) => renderDomain(context, domain)),
        );
      },
    },
    {
      method: 'GET',
      path: '/v3/auth/system',
      handle: (context) => {
        const has = identity.rolesOn(context.caller.userId, 'system').length > 0;
        const links = { self: `${context.serviceUrl}/v3/auth/system` };
        return { status: 200, body: { system: has ? [{ all: true }] : [], links } };
      },
    },
  ];
}

/** Returns the projects in which a user has a role. */
export function projectsOf(identity: Identity, userId: string): Readonly<Project>[] {
  const projects = new Set<Readonly<Project>>();
  const groups = Array.from(identity.memberships.by('user', userId), ({ groupId }) => groupId);
  const held = [
    ...identity.assignments.by('user', userId),
    ...groups.flatMap((id) => [...identity.assignments.by('group', id)]),
  ];
  for (const { projectId } of held) {
    const project = projectId === undefined ? undefined : identity.projects.get(projectId);
    if (project?.enabled) projects.add(project);
  }
  return [...projects];
}

function subject(identity: Identity, context: RequestContext): Readonly<Token> {
  const id = context.headers['x-subject-token'];
  if (id === undefined) throw notAllowed('identity:validate_token');
  const token = identity.tokens.get(id);
  if (!token) throw new Refusal(404, 'Could not recognize Fernet token');
  if (!identity.goodToken(id)) throw new Refusal(404, 'Failed to validate token');
  const { caller } = context;
  if (token.userId !== caller.userId && !caller.isAdmin) throw notAllowed('identity:validate_token');
  return token;
}
