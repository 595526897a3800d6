import { createHash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../core/caller.ts';
import type { Core } from '../core/core.ts';
import { type ApplicationCredential, declareIdentityTables, type IdentityTables, type Token } from './tables.ts';

/** State of keystone and the lookups its routes share. */
export interface Identity extends IdentityTables {
  readonly core: Core;
  hash(secret: string): string;
  matches(secret: string, hash: string): boolean;
  /** caller of a valid token */
  caller(token: string): Caller | undefined;
  goodToken(id: string): Readonly<Token> | undefined;
  /** ids of the roles assigned to a user or group on a target: the id of a project or domain, or `system` */
  grantedOn(actorId: string, target: string): string[];
  /** ids of the roles of a user and their groups, including implied roles */
  rolesOn(userId: string, target: string): string[];
  /** Makes one role imply another. */
  imply(priorId: string, impliedId: string): void;
  issue(desired: NewToken): Readonly<Token>;
  revoke(tokens: Iterable<Readonly<Token>>): void;
  isExpired(credential: Pick<ApplicationCredential, 'expiresAt'>): boolean;
}

export interface NewToken {
  readonly userId: string;
  readonly projectId?: string | undefined;
  readonly domainId?: string | undefined;
  readonly system?: boolean;
  readonly roleIds: readonly string[];
  readonly methods: readonly string[];
  /** audit id of the parent token */
  readonly parentAuditId?: string | undefined;
  /** upper limit of the expiry */
  readonly expiresAt?: number | undefined;
  readonly applicationCredentialId?: string | undefined;
  readonly trustId?: string | undefined;
}

export function createIdentity(core: Core): Identity {
  const tables = declareIdentityTables(core.state);
  const { tokens, users, projects, roles, assignments, implications, memberships, applicationCredentials } = tables;
  /** cache of callers by token, valid while the state they derive from is unchanged */
  const callers = new Map<string, Caller>();
  let derivedFrom = -1;

  const grantedOn = (actorId: string, target: string): string[] => {
    const ids: string[] = [];
    for (const { roleId } of assignments.by('actorAndTarget', `${actorId} ${target}`)) ids.push(roleId);
    return ids;
  };

  const goodToken = (id: string): Readonly<Token> | undefined => {
    const token = tokens.get(id);
    if (!token || token.isRevoked || token.expiresAt <= core.now()) return undefined;
    if (!users.get(token.userId)?.enabled) return undefined;
    if (token.projectId !== undefined && !projects.get(token.projectId)?.enabled) return undefined;
    return token;
  };

  const callerOf = (token: Readonly<Token>): Caller => {
    const user = users.known(token.userId);
    const names = new Set(token.roleIds.map((id) => roles.get(id)?.name ?? ''));
    return {
      token: token.id,
      userId: user.id,
      userName: user.name,
      userDomainId: user.domainId,
      projectId: token.projectId,
      projectName: token.projectId === undefined ? undefined : projects.get(token.projectId)?.name,
      domainId: token.domainId,
      system: token.system,
      roles: names,
      isAdmin: names.has('admin'),
      canWrite: names.has('admin') || names.has('member'),
      applicationCredentialId: token.applicationCredentialId,
      accessRules: applicationCredentials.get(token.applicationCredentialId ?? '')?.accessRules,
    };
  };

  return {
    ...tables,
    core,
    hash: (secret) => createHash('sha256').update(secret).digest('hex'),
    matches: (secret, hash) => {
      const given = createHash('sha256').update(secret).digest();
      return timingSafeEqual(given, Buffer.from(hash, 'hex'));
    },
    goodToken,
    caller(id) {
      const version = users.version + projects.version + roles.version;
      if (version !== derivedFrom) {
        callers.clear();
        derivedFrom = version;
      }
      const token = goodToken(id);
      if (!token) {
        callers.delete(id);
        return undefined;
      }
      let caller = callers.get(id);
      if (!caller) {
        caller = callerOf(token);
        callers.set(id, caller);
      }
      return caller;
    },
    grantedOn,
    rolesOn(userId, target) {
      const ids = new Set(grantedOn(userId, target));
      for (const { groupId } of memberships.by('user', userId))
        for (const id of grantedOn(groupId, target)) ids.add(id);
      // The loop also visits ids added while it runs.
      for (const id of ids) for (const { impliedId } of implications.by('prior', id)) ids.add(impliedId);
      return [...ids];
    },
    imply(priorId, impliedId) {
      const id = `${priorId}/${impliedId}`;
      if (!implications.has(id)) implications.insert({ id, priorId, impliedId });
    },
    issue(desired) {
      const now = core.now();
      for (const { id, expiresAt } of tokens.all()) {
        if (expiresAt > now) break;
        tokens.delete(id);
        callers.delete(id);
      }
      const expiresAt = Math.min(now + core.tokenLifeMs, desired.expiresAt ?? Number.POSITIVE_INFINITY);
      const own = core.ids.secret(22);
      return tokens.insert({
        id: `gAAAAAB${core.ids.secret(93)}`,
        userId: desired.userId,
        projectId: desired.projectId,
        domainId: desired.domainId,
        system: desired.system ?? false,
        roleIds: desired.roleIds,
        methods: desired.methods,
        auditIds: desired.parentAuditId === undefined ? [own] : [own, desired.parentAuditId],
        issuedAt: Math.floor(now / 1000) * 1000,
        expiresAt,
        applicationCredentialId: desired.applicationCredentialId,
        trustId: desired.trustId,
        isRevoked: false,
      });
    },
    revoke(list) {
      for (const { id } of [...list]) tokens.update(id, { isRevoked: true });
    },
    isExpired: ({ expiresAt }) => expiresAt !== undefined && expiresAt <= core.now(),
  };
}
