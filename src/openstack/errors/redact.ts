/** Names of members whose values never leave the process in a message or a log, in small letters and without separators. */
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

/** Everything inside a request's body that must not be repeated. */
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
    // `token: {id}` and `password: {user: {...}}` are objects in keystone: what is secret inside is named there again.
    for (const [name, item] of Object.entries(value)) {
      collect(item, { secret: isSecretName(name) || (secret && name === 'id') }, found);
    }
  }
}

/** Shorter ones would tear holes into ordinary words; nobody can keep `x` secret. */
const shortestSecret = 4;
const longestMessage = 600;

/** Text of others made fit for a message: known secrets cut out, one line, not too long. */
export function safeText(text: string, secrets: Iterable<string>): string {
  let safe = text;
  for (const secret of secrets) {
    if (secret.length >= shortestSecret && safe.includes(secret)) safe = safe.replaceAll(secret, redactedText);
  }
  // A service quotes bad values back, in forms of its own (escaped, as Python's repr): go by the name as well.
  safe = safe.replaceAll(quotedSecret, (_all, name: string) => `${name}${redactedText}.`);
  safe = safe.replaceAll(unprintable, ' ').replaceAll(/\s+/g, ' ').trim();
  return safe.length <= longestMessage ? safe : `${safe.slice(0, longestMessage)}…`;
}

/** What moves the cursor of a terminal or turns the direction of a text. */
const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A URL without the user and password some put into it. */
export function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, '//');
}

const quotedSecret =
  /(attribute (?:user_data|adminPass|password|secret|personality)[^.]*\. Value: )[\s\S]*?\.(?=\s|$)/g;
