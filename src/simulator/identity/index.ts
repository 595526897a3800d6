import { must } from '../../machinery/index.ts';
import { statusTitle, unauthenticatedAnswer } from '../core/http/fixed-answers.ts';
import { Refusal } from '../core/refusal.ts';
import type { Room } from '../core/room.ts';
import type { Answer } from '../core/service.ts';
import { applicationCredentialRoutes } from './application-credentials.ts';
import { authRoutes } from './auth.ts';
import { bootstrap } from './bootstrap.ts';
import { catalogRoutes } from './catalog.ts';
import { groupRoutes } from './groups.ts';
import { createIdentity } from './identity.ts';
import { projectRoutes } from './projects.ts';
import { notAllowed, renderRefusal } from './refusals.ts';
import { roleRoutes } from './roles.ts';
import { nameKey } from './tables.ts';
import { tokenRoutes } from './tokens.ts';
import { trustRoutes } from './trusts.ts';
import { userRoutes } from './users.ts';
import { versionRoutes } from './versions.ts';

export const identityRoom: Room = (core) => {
  const identity = createIdentity(core);
  core.provide('identity', {
    caller: (token) => identity.caller(token),
    projectExists: (id) => identity.projects.has(id),
    projectName: (id) => identity.projects.get(id)?.name,
    userName: (id) => identity.users.get(id)?.name,
    bootstrap: (adminPassword) => bootstrap(identity, adminPassword),
    issueAdminToken: () => {
      const user = must(identity.users.first('name', nameKey('default', 'admin')), 'user');
      const project = must(identity.projects.first('name', nameKey('default', 'admin')), 'project');
      const roleIds = identity.rolesOn(user.id, project.id);
      return identity.issue({ userId: user.id, projectId: project.id, roleIds, methods: ['password'] }).id;
    },
    expireTokens: (projectId) => {
      const doomed = projectId === undefined ? [...identity.tokens.all()] : identity.tokens.by('project', projectId);
      identity.revoke(doomed);
    },
  });
  return {
    type: 'identity',
    name: 'keystone',
    root: '/identity',
    catalogPath: '/v3',
    jsonContentType: 'application/json',
    routes: [
      ...versionRoutes,
      ...authRoutes(identity),
      ...tokenRoutes(identity),
      ...applicationCredentialRoutes(identity),
      ...projectRoutes(identity),
      ...userRoutes(identity),
      ...roleRoutes(identity),
      ...groupRoutes(identity),
      ...trustRoutes(identity),
      ...catalogRoutes(identity),
    ],
    renderRefusal: (refusal, context) => {
      const answer = renderRefusal(refusal);
      if (refusal.status !== 401) return answer;
      const challenge = { 'www-authenticate': `Keystone uri="${context.serviceUrl}/v3"` };
      return { ...answer, headers: { ...answer.headers, ...challenge } };
    },
    renderUnauthenticated: (context) => unauthenticatedAnswer(`${context.serviceUrl}/v3`),
    renderUnknownPath: () =>
      flaskPage(
        404,
        'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
      ),
    renderWrongMethod: (_context, allowed) => ({
      ...flaskPage(405, 'The method is not allowed for the requested URL.'),
      headers: { allow: allowed.join(', ') },
    }),
    forbidden: ({ name }) => notAllowed(name),
    badJson: () =>
      new Refusal(
        400,
        'Expecting to find valid JSON in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.',
      ),
    // Tokens with system or domain scope are accepted here like project tokens.
    allows: (caller, level) => caller.isAdmin || level !== 'admin',
    headers: (context) => ({ 'x-openstack-request-id': context.requestId, vary: 'X-Auth-Token' }),
  };
};

/** Builds the error page of flask. */
function flaskPage(status: number, text: string): Answer {
  const title = statusTitle(status);
  const bytes = `<!doctype html>\n<html lang=en>\n<title>${status} ${title}</title>\n<h1>${title}</h1>\n<p>${text}</p>\n`;
  return { status, bytes, contentType: 'text/html; charset=utf-8' };
}
