import type { Credential, DomainReference, Reference, Scope } from './cloud-config.ts';

/** A missing or contradictory setting. */
export class AuthProblem extends Error {
  readonly key: string;
  readonly cure: string;

  constructor(key: string, problem: string, cure: string) {
    super(problem);
    this.key = key;
    this.cure = cure;
  }
}

export type AuthSettings = Readonly<Record<string, string>>;

const passwordTypes: ReadonlySet<string> = new Set(['password', 'v3password']);
const tokenTypes: ReadonlySet<string> = new Set(['token', 'v3token']);
const applicationCredentialTypes: ReadonlySet<string> = new Set(['v3applicationcredential', 'applicationcredential']);

/**
 * Reads the credential from a cloud's `auth`. Without an `auth_type` it is inferred from the members, as gophercloud
 * does, because many clouds.yaml files have an application credential and no type.
 */
export function readCredential(auth: AuthSettings, authType: string | undefined): Credential {
  const type = authType?.toLowerCase();
  const hasPassword = auth['password'] !== undefined;
  const hasApplicationCredential =
    auth['application_credential_id'] !== undefined || auth['application_credential_name'] !== undefined;
  if (type !== undefined && applicationCredentialTypes.has(type)) return applicationCredential(auth);
  if (type !== undefined && tokenTypes.has(type)) return token(auth);
  if (type !== undefined && !passwordTypes.has(type)) {
    throw new AuthProblem(
      'auth_type',
      `"${authType}" is not supported`,
      'use password, token or v3applicationcredential',
    );
  }
  if (hasApplicationCredential && !hasPassword) return applicationCredential(auth);
  if (type === undefined && auth['token'] !== undefined && !hasPassword) return token(auth);
  return {
    method: 'password',
    user: user(auth),
    password: required(auth, 'password', 'give the password, or an application credential'),
  };
}

function token(auth: AuthSettings): Credential {
  return { method: 'token', token: required(auth, 'token', 'give a token') };
}

function applicationCredential(auth: AuthSettings): Credential {
  const secret = required(auth, 'application_credential_secret', 'give the secret shown when it was created');
  const id = auth['application_credential_id'];
  if (id !== undefined) return { method: 'applicationCredential', id, secret };
  const name = auth['application_credential_name'];
  if (name === undefined) {
    throw new AuthProblem('auth.application_credential_id', 'is missing', 'give the id of the application credential');
  }
  return { method: 'applicationCredential', name, user: user(auth), secret };
}

function user(auth: AuthSettings): Reference {
  if (auth['user_id'] !== undefined) return { id: auth['user_id'] };
  const name = required(auth, 'username', 'give username or user_id');
  const domain = domainOf(auth, 'user_domain') ?? domainOf(auth, 'default_domain');
  if (domain) return { name, domain };
  throw new AuthProblem('auth.user_domain_name', 'is missing', 'give the domain of the user, often "Default"');
}

function domainOf(auth: AuthSettings, key: string): DomainReference | undefined {
  const id = auth[`${key}_id`];
  if (id !== undefined) return { id };
  const name = auth[`${key}_name`];
  return name === undefined ? undefined : { name };
}

function required(auth: AuthSettings, key: string, cure: string): string {
  const value = auth[key];
  if (value !== undefined) return value;
  throw new AuthProblem(`auth.${key}`, 'is missing', cure);
}

/** Reads the scope of the token. */
export function readScope(auth: AuthSettings, credential: Credential): Scope {
  if (credential.method === 'applicationCredential') return { kind: 'none' };
  const project = projectOf(auth);
  const domain = project ? undefined : domainOf(auth, 'domain');
  const trustId = auth['trust_id'];
  const system = auth['system_scope'];
  const asked = [
    project && 'project',
    domain && 'domain',
    trustId !== undefined && 'trust',
    system !== undefined && 'system',
  ].filter((kind) => typeof kind === 'string');
  if (asked.length > 1) {
    throw new AuthProblem('auth', `asks for several scopes at once (${asked.join(', ')})`, 'keep one of them');
  }
  if (project) return { kind: 'project', project };
  if (domain) return { kind: 'domain', domain };
  if (trustId !== undefined) return { kind: 'trust', trustId };
  if (system === undefined) return { kind: 'none' };
  if (system !== 'all') throw new AuthProblem('auth.system_scope', `is "${system}"`, 'the only system scope is "all"');
  return { kind: 'system' };
}

function projectOf(auth: AuthSettings): Reference | undefined {
  const id = auth['project_id'];
  if (id !== undefined) return { id };
  const name = auth['project_name'];
  if (name === undefined) return undefined;
  // keystone requires a domain with a name. Without one, gophercloud uses the user's domain.
  const domain = domainOf(auth, 'project_domain') ?? domainOf(auth, 'default_domain') ?? domainOf(auth, 'user_domain');
  if (domain) return { name, domain };
  throw new AuthProblem('auth.project_domain_name', 'is missing', 'give the domain of the project, often "Default"');
}
