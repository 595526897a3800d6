/** Sender of a request, derived from its token. */
export interface Caller {
  readonly token: string;
  readonly userId: string;
  readonly userName: string;
  readonly userDomainId: string;
  /** scope of the token; all undefined for an unscoped token */
  readonly projectId: string | undefined;
  readonly projectName: string | undefined;
  readonly domainId: string | undefined;
  readonly system: boolean;
  /** names of the roles */
  readonly roles: ReadonlySet<string>;
  readonly isAdmin: boolean;
  /** may change resources of the project: administrator or member, but not reader */
  readonly canWrite: boolean;
  /** application credential of the token */
  readonly applicationCredentialId: string | undefined;
  /** the only requests this credential allows; undefined: all */
  readonly accessRules: readonly AccessRule[] | undefined;
}

/** A request by catalogue type, method and path pattern. */
export interface AccessRule {
  readonly service: string;
  readonly method: string;
  readonly path: string;
}

/** `reader`: any role in the project. `member`: users who may change resources. `admin`: operators of the cloud. */
export type PolicyLevel = 'reader' | 'member' | 'admin';

/** A rule of a service's policy file, with the name shown in refusals. */
export interface Policy {
  readonly name: string;
  readonly level: PolicyLevel;
}

/** Names the rules below a prefix of the policy file: `policiesOf('volume')('get', 'reader')` is `volume:get`. */
export function policiesOf(prefix: string): (name: string, level?: PolicyLevel) => Policy {
  return (name, level = 'admin') => ({ name: `${prefix}:${name}`, level });
}

/** Default meaning of the levels. Services may define their own. */
export function allows(caller: Caller, level: PolicyLevel): boolean {
  if (caller.isAdmin) return true;
  if (level === 'admin' || caller.projectId === undefined) return false;
  return level === 'reader' || caller.canWrite;
}
