import { createHash } from 'node:crypto';

/** Credentials, which are sent only to the host they were given for. */
export interface Credentials {
  readonly username?: string;
  readonly password?: string;
  /** bearer token, instead of name and password */
  readonly token?: string;
}

export function basicAuthorization({ username, password }: Credentials): string | undefined {
  if (username === undefined && password === undefined) return undefined;
  return `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`;
}

export function authorizationOf(credentials: Credentials | undefined): string | undefined {
  if (!credentials) return undefined;
  return credentials.token === undefined ? basicAuthorization(credentials) : `Bearer ${credentials.token}`;
}

/** Returns the cache scope of a source and its credentials, because different users may have different permissions. */
export function scopeOf(source: string, credentials: Credentials | undefined): string {
  const who = [credentials?.username, credentials?.password, credentials?.token];
  return createHash('sha256')
    .update(JSON.stringify([source, ...who.map((one) => one ?? null)]))
    .digest('hex')
    .slice(0, 32);
}
