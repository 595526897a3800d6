/** Names of members whose values must never appear in messages or logs, in lower case and without separators. */
const secretNames: ReadonlySet<string> = new Set([
  'password',
  'originalpassword',
  'adminpass',
  'secret',
  'applicationcredentialsecret',
  'token',
  'authtoken',
  'xauthtoken',
  'xsubjecttoken',
  'authorization',
  'cookie',
  'setcookie',
  'passcode',
  'userdata',
  'personality',
  'privatekey',
]);

export const redactedText = '[redacted]';

export function isSecretName(name: string): boolean {
  return secretNames.has(name.replaceAll(/[-_. ]/g, '').toLowerCase());
}

/** Collects all secret values of a request body. */
export function secretsIn(value: unknown): string[] {
  const found: string[] = [];
  collect(value, { secret: false }, found);
  return found;
}

function collect(value: unknown, { secret }: { secret: boolean }, found: string[]): void {
  if (typeof value === 'string') {
    if (secret) found.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, { secret }, found);
  } else if (typeof value === 'object' && value !== null) {
    // `token: {id}` and `password: {user: {...}}` are objects in keystone; secrets inside have secret names again.
    for (const [name, item] of Object.entries(value)) {
      collect(item, { secret: isSecretName(name) || (secret && name === 'id') }, found);
    }
  }
}

/** Replacing shorter secrets would damage ordinary words, and such a secret protects nothing. */
const shortestSecret = 4;
const longestMessage = 600;

/** Prepares foreign text for a message: removes known secrets, joins lines, limits the length. */
export function safeText(text: string, secrets: Iterable<string>): string {
  let safe = text;
  for (const secret of secrets) {
    if (secret.length >= shortestSecret && safe.includes(secret)) safe = safe.replaceAll(secret, redactedText);
  }
  // Services quote invalid values in other forms (escaped, or as Python's repr), so secrets are also recognised by
  // member name.
  safe = safe.replaceAll(quotedSecret, (_all, name: string) => `${name}${redactedText}.`);
  safe = safe.replaceAll(unprintable, ' ').replaceAll(/\s+/g, ' ').trim();
  return safe.length <= longestMessage ? safe : `${safe.slice(0, longestMessage)}…`;
}

/** Characters that move a terminal's cursor or change the text direction. */
const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Removes user and password from a URL. */
export function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, '//');
}

const quotedSecret =
  /(attribute (?:user_data|adminPass|password|secret|personality)[^.]*\. Value: )[\s\S]*?\.(?=\s|$)/g;
