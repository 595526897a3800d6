import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { type Fields, isFields, schemaError, wrapped } from './body.ts';
import type { Identity, NewToken } from './identity.ts';
import { missing, notFound, unauthorized } from './refusals.ts';
import { nameKey, type Project, type Token, type User } from './tables.ts';
import { renderToken } from './token-body.ts';

/** An authenticated user and the limits of the method used. */
interface Proof {
  readonly user: Readonly<User>;
  readonly methods: string[];
  parent?: Readonly<Token>;
  applicationCredentialId?: string;
}

export function authRoutes(identity: Identity): Route[] {
  return [
    { method: 'POST', path: '/v3/auth/tokens', open: true, handle: (context) => authenticate(identity, context) },
  ];
}

function authenticate(identity: Identity, context: RequestContext): Answer {
  const auth = wrapped(context, 'auth');
  if (!isFields(auth['identity'])) throw schemaError("'identity' is a required property", 'required');
  const proof = prove(identity, auth['identity']);
  const token = identity.issue(scoped(identity, proof, auth['scope']));
  const withCatalog = !context.query.has('nocatalog');
  return {
    status: 201,
    headers: { 'x-subject-token': token.id },
    body: { token: renderToken(identity, token, context, withCatalog) },
  };
}

function prove(identity: Identity, desired: Fields): Proof {
  const methods = desired['methods'];
  if (!Array.isArray(methods) || methods.length === 0) {
    throw schemaError("Invalid input for field 'identity': 'methods' is a required property", 'required');
  }
  let proof: Proof | undefined;
  for (const method of methods) {
    const fields = typeof method === 'string' ? desired[method] : undefined;
    if (fields === undefined) throw missing(String(method), 'identity');
    const next = isFields(fields) ? proveBy(identity, String(method), fields) : undefined;
    if (!next) throw unauthorized();
    if (proof && proof.user.id !== next.user.id) throw unauthorized();
    proof = proof ? { ...next, ...proof, methods: [...proof.methods, ...next.methods] } : next;
  }
  return must(proof, 'proof');
}

function proveBy(identity: Identity, method: string, fields: Fields): Proof | undefined {
  switch (method) {
    case 'password':
      return byPassword(identity, fields);
    case 'token':
      return byToken(identity, fields);
    case 'application_credential':
      return byApplicationCredential(identity, fields);
    default:
      throw unauthorized();
  }
}

function byPassword(identity: Identity, fields: Fields): Proof | undefined {
  const desired = fields['user'];
  if (!isFields(desired)) throw schemaError("'user' is a required property", 'required');
  const user = findUser(identity, desired);
  const password = desired['password'];
  if (!user?.enabled || typeof password !== 'string' || !identity.matches(password, user.passwordHash))
    return undefined;
  return { user, methods: ['password'] };
}

function byToken(identity: Identity, fields: Fields): Proof | undefined {
  const id = fields['id'];
  const parent = typeof id === 'string' ? identity.goodToken(id) : undefined;
  const user = parent && identity.users.get(parent.userId);
  if (!user) return undefined;
  const methods = parent.methods.includes('token') ? [...parent.methods] : [...parent.methods, 'token'];
  return { user, methods, parent };
}

function byApplicationCredential(identity: Identity, fields: Fields): Proof | undefined {
  const { id, name, secret } = fields;
  let found: { id: string } | undefined;
  if (typeof id === 'string') {
    found = identity.applicationCredentials.get(id);
    if (!found) throw notFound('Application Credential', id);
  } else {
    const owner = isFields(fields['user']) ? findUser(identity, fields['user']) : undefined;
    if (!isFields(fields['user'])) throw missing('user', 'application credential');
    if (!owner) return undefined;
    for (const each of identity.applicationCredentials.by('user', owner.id)) if (each.name === name) found = each;
    if (!found) throw notFound('Application Credential', String(name));
  }
  const credential = identity.applicationCredentials.known(found.id);
  const user = identity.users.get(credential.userId);
  if (!user?.enabled || identity.isExpired(credential)) return undefined;
  if (typeof secret !== 'string' || !identity.matches(secret, credential.secretHash)) return undefined;
  return { user, methods: ['application_credential'], applicationCredentialId: credential.id };
}

/** Finds a user by id, or by name in a domain given by name or id. */
export function findUser(identity: Identity, desired: Fields): Readonly<User> | undefined {
  if (typeof desired['id'] === 'string') return identity.users.get(desired['id']);
  if (typeof desired['name'] !== 'string') throw schemaError("'id' or 'name' is a required property", 'required');
  const domainId = findDomain(identity, desired['domain']);
  return domainId === undefined ? undefined : identity.users.first('name', nameKey(domainId, desired['name']));
}

function findDomain(identity: Identity, desired: unknown): string | undefined {
  if (!isFields(desired)) {
    throw missing('domain', 'user');
  }
  if (typeof desired['id'] === 'string') return identity.domains.get(desired['id'])?.id;
  return typeof desired['name'] === 'string' ? identity.domains.first('name', desired['name'])?.id : undefined;
}

function findProject(identity: Identity, desired: Fields): Readonly<Project> | undefined {
  if (typeof desired['id'] === 'string') return identity.projects.get(desired['id']);
  if (typeof desired['name'] !== 'string') return undefined;
  const domainId = findDomain(identity, desired['domain']);
  return domainId === undefined ? undefined : identity.projects.first('name', nameKey(domainId, desired['name']));
}

/** Builds the token for a proof and a requested scope. */
function scoped(identity: Identity, proof: Proof, scope: unknown): NewToken {
  const { user, methods, parent } = proof;
  const base = { userId: user.id, methods, parentAuditId: parent?.auditIds.at(-1), expiresAt: parent?.expiresAt };
  if (proof.applicationCredentialId !== undefined) {
    if (scope !== undefined) {
      throw unauthorized(
        'Error authenticating with application credential: Application credentials cannot request a scope.',
      );
    }
    const credential = identity.applicationCredentials.known(proof.applicationCredentialId);
    const held = new Set(identity.rolesOn(user.id, credential.projectId));
    const { projectId, roleIds, expiresAt } = credential;
    const still = roleIds.filter((id) => held.has(id));
    if (still.length === 0) throw unauthorized();
    return { ...base, projectId, roleIds: still, expiresAt, applicationCredentialId: credential.id };
  }
  // A token from an application credential or trust keeps its limits when it is exchanged.
  if (parent && (parent.applicationCredentialId !== undefined || parent.trustId !== undefined)) {
    const { projectId, roleIds, applicationCredentialId, trustId } = parent;
    return { ...base, projectId, roleIds, applicationCredentialId, trustId };
  }
  if (scope === 'unscoped') return { ...base, roleIds: [] };
  if (scope === undefined) {
    const projectId = user.defaultProjectId;
    const roleIds = projectId === undefined ? [] : identity.rolesOn(user.id, projectId);
    return roleIds.length > 0 ? { ...base, projectId, roleIds } : { ...base, roleIds: [] };
  }
  if (!isFields(scope)) throw schemaError(`${JSON.stringify(scope)} is not of type 'object'`, 'type');
  if (isFields(scope['OS-TRUST:trust'])) return trusted(identity, proof, scope['OS-TRUST:trust'], base);
  if (scope['system'] !== undefined) return withRoles(identity.rolesOn(user.id, 'system'), { ...base, system: true });
  if (isFields(scope['domain'])) {
    const domainId = findDomain(identity, scope['domain']);
    if (domainId === undefined) throw unauthorized();
    return withRoles(identity.rolesOn(user.id, domainId), { ...base, domainId });
  }
  if (!isFields(scope['project'])) throw unauthorized();
  const project = findProject(identity, scope['project']);
  if (!project?.enabled) throw unauthorized();
  return withRoles(identity.rolesOn(user.id, project.id), { ...base, projectId: project.id });
}

function withRoles(roleIds: readonly string[], desired: Omit<NewToken, 'roleIds'>): NewToken {
  if (roleIds.length === 0) throw unauthorized();
  return { ...desired, roleIds };
}

function trusted(
  identity: Identity,
  { user }: Proof,
  desired: Fields,
  base: { methods: string[]; parentAuditId: string | undefined; expiresAt: number | undefined },
): NewToken {
  const trust = identity.trusts.get(String(desired['id']));
  if (!trust) throw notFound('trust', String(desired['id']));
  if (trust.trusteeId !== user.id || identity.isExpired(trust)) throw unauthorized();
  if (trust.remainingUses !== null) {
    if (trust.remainingUses === 0) throw unauthorized();
    identity.trusts.update(trust.id, { remainingUses: trust.remainingUses - 1 });
  }
  const held = new Set(identity.rolesOn(trust.trustorId, trust.projectId));
  const userId = trust.impersonation ? trust.trustorId : user.id;
  const roleIds = trust.roleIds.filter((id) => held.has(id));
  const { projectId, id: trustId } = trust;
  return withRoles(roleIds, { ...base, userId, projectId, trustId });
}
