/** Who sends a request, from its token. */
export interface Caller {
  readonly token: string;
  readonly userId: string;
  readonly userName: string;
  readonly userDomainId: string;
  /** what the token is good for; all undefined: an unscoped token */
  readonly projectId: string | undefined;
  readonly projectName: string | undefined;
  readonly domainId: string | undefined;
  readonly system: boolean;
  /** role names */
  readonly roles: ReadonlySet<string>;
  readonly isAdmin: boolean;
  /** may change things in the project: an administrator or member, not a mere reader */
  readonly canWrite: boolean;
  /** the application credential the token was made with */
  readonly applicationCredentialId: string | undefined;
  /** the only requests that credential is good for; undefined: all */
  readonly accessRules: readonly AccessRule[] | undefined;
}

/** A request by catalogue type, method and pattern of the path. */
export interface AccessRule {
  readonly service: string;
  readonly method: string;
  readonly path: string;
}

/** `reader`: anybody with a role in the project; `member`: who may change things; `admin`: the cloud's operators. */
export type PolicyLevel = 'reader' | 'member' | 'admin';

/** A rule of a service's policy file, named as its refusals name it. */
export interface Policy {
  readonly name: string;
  readonly level: PolicyLevel;
}

/** The usual meaning of the levels; a service may have its own. */
export function allows(caller: Caller, level: PolicyLevel): boolean {
  if (caller.isAdmin) return true;
  if (level === 'admin' || caller.projectId === undefined) return false;
  return level === 'reader' || caller.canWrite;
}
