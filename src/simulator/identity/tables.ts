import type { State } from '../core/state/state.ts';
import type { Row, Table } from '../core/state/table.ts';

export interface Domain extends Row {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

export interface Project extends Row {
  readonly name: string;
  readonly domainId: string;
  readonly parentId: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly tags: readonly string[];
}

export interface User extends Row {
  readonly name: string;
  readonly domainId: string;
  readonly description: string | undefined;
  readonly email: string | undefined;
  readonly defaultProjectId: string | undefined;
  readonly enabled: boolean;
  /** additional attributes; absent in data of earlier versions */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly passwordHash: string;
}

export interface Role extends Row {
  readonly name: string;
  readonly description: string;
  /** additional attributes; absent in data of earlier versions */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** One role implies another. */
export interface Implication extends Row {
  readonly priorId: string;
  readonly impliedId: string;
}

/** A request that an application credential allows. */
export interface AccessRule extends Row {
  readonly service: string;
  readonly method: string;
  readonly path: string;
}

/** An access rule, stored until its owner deletes it. */
export interface KeptRule extends AccessRule {
  readonly userId: string;
}

/** Users who share role assignments. */
export interface Group extends Row {
  readonly name: string;
  readonly domainId: string;
  readonly description: string;
  /** additional attributes */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface Membership extends Row {
  readonly groupId: string;
  readonly userId: string;
}

/** A role assigned to a user or group on a target. */
export interface Assignment extends Row {
  /** empty for a group */
  readonly userId: string;
  readonly groupId?: string | undefined;
  readonly roleId: string;
  /** exactly one of the three targets is set */
  readonly projectId: string | undefined;
  readonly domainId: string | undefined;
  readonly system: boolean;
}

export interface ApplicationCredential extends Row {
  readonly name: string;
  readonly description: string | null;
  readonly userId: string;
  readonly projectId: string;
  readonly secretHash: string;
  readonly roleIds: readonly string[];
  /** milliseconds since the epoch */
  readonly expiresAt: number | undefined;
  readonly unrestricted: boolean | null;
  /** the only requests it allows; absent: all */
  readonly accessRules?: readonly AccessRule[] | undefined;
}

export interface Trust extends Row {
  readonly trustorId: string;
  readonly trusteeId: string;
  readonly projectId: string;
  readonly roleIds: readonly string[];
  readonly impersonation: boolean;
  readonly expiresAt: number | undefined;
  readonly remainingUses: number | null;
  readonly redelegationCount: number;
}

export interface Token extends Row {
  readonly userId: string;
  readonly projectId: string | undefined;
  readonly domainId: string | undefined;
  readonly system: boolean;
  readonly roleIds: readonly string[];
  readonly methods: readonly string[];
  readonly auditIds: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly applicationCredentialId: string | undefined;
  readonly trustId: string | undefined;
  /** revoked tokens are kept until they expire, because the answer differs from that for unknown tokens */
  readonly isRevoked: boolean;
}

export interface IdentityTables {
  readonly domains: Table<Domain>;
  readonly projects: Table<Project>;
  readonly users: Table<User>;
  readonly roles: Table<Role>;
  readonly implications: Table<Implication>;
  readonly groups: Table<Group>;
  readonly memberships: Table<Membership>;
  readonly accessRules: Table<KeptRule>;
  readonly assignments: Table<Assignment>;
  readonly applicationCredentials: Table<ApplicationCredential>;
  readonly trusts: Table<Trust>;
  readonly tokens: Table<Token>;
}

export function declareIdentityTables(state: State): IdentityTables {
  return {
    domains: state.table<Domain>('domains', { indexes: { name: ({ name }) => name } }),
    projects: state.table<Project>('projects', {
      indexes: { name: ({ name, domainId }) => nameKey(domainId, name), domain: ({ domainId }) => domainId },
    }),
    users: state.table<User>('users', {
      indexes: { name: ({ name, domainId }) => nameKey(domainId, name), domain: ({ domainId }) => domainId },
    }),
    roles: state.table<Role>('roles', { indexes: { name: ({ name }) => name } }),
    groups: state.table<Group>('groups', {
      indexes: { name: ({ name, domainId }) => nameKey(domainId, name), domain: ({ domainId }) => domainId },
    }),
    memberships: state.table<Membership>('group_memberships', {
      indexes: { group: ({ groupId }) => groupId, user: ({ userId }) => userId },
    }),
    accessRules: state.table<KeptRule>('access_rules', { indexes: { user: ({ userId }) => userId } }),
    implications: state.table<Implication>('role_implications', {
      indexes: { prior: ({ priorId }) => priorId, implied: ({ impliedId }) => impliedId },
    }),
    assignments: state.table<Assignment>('assignments', {
      indexes: {
        user: ({ userId }) => userId || undefined,
        group: ({ groupId }) => groupId,
        actorAndTarget: ({ userId, groupId, projectId, domainId }) =>
          `${groupId ?? userId} ${projectId ?? domainId ?? 'system'}`,
        project: ({ projectId }) => projectId,
        domain: ({ domainId }) => domainId,
        role: ({ roleId }) => roleId,
      },
    }),
    applicationCredentials: state.table<ApplicationCredential>('application_credentials', {
      indexes: { user: ({ userId }) => userId, project: ({ projectId }) => projectId },
    }),
    trusts: state.table<Trust>('trusts', {
      indexes: { trustor: ({ trustorId }) => trustorId, trustee: ({ trusteeId }) => trusteeId },
    }),
    tokens: state.table<Token>('tokens', {
      indexes: {
        user: ({ userId }) => userId,
        project: ({ projectId }) => projectId,
        applicationCredential: ({ applicationCredentialId }) => applicationCredentialId,
        trust: ({ trustId }) => trustId,
      },
    }),
  };
}

/** Key of a name. Names are unique in their domain regardless of case, as in MySQL. */
export function nameKey(domainId: string, name: string): string {
  return `${domainId}\n${name.toLowerCase()}`;
}
