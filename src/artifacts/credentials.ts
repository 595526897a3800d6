import { createHash } from 'node:crypto';

/** Who reads. They never leave for a host other than the one they were given for. */
export interface Credentials {
  readonly username?: string;
  readonly password?: string;
  /** a bearer token, in place of name and password */
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

/** A name for a source and those who read from it: what one of them fetched, another may not be allowed to see. */
export function scopeOf(source: string, credentials: Credentials | undefined): string {
  const who = [credentials?.username, credentials?.password, credentials?.token];
  return createHash('sha256')
    .update(JSON.stringify([source, ...who.map((one) => one ?? null)]))
    .digest('hex')
    .slice(0, 32);
}
