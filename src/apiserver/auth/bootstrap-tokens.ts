import { type Clock, type KubeObject, parseRfc3339 } from '../../machinery/index.ts';
import type { TokenAuthenticator, TokenOutcome } from './authenticator.ts';
import { secretsEqual } from './static-tokens.ts';

/** The fields of a Secret that authentication reads. */
export interface SecretObject extends KubeObject {
  type?: string;
  /** base64 */
  data?: Record<string, string> | null;
}

export interface BootstrapTokenOptions {
  /** returns a Secret of kube-system */
  secret(name: string): SecretObject | undefined;
  clock: Clock;
}

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const defaultGroup = 'system:bootstrappers';

function groupsOf(extra: string): string[] | undefined {
  if (extra === '') return [defaultGroup];
  const groups = extra.split(',');
  return groups.every((group) => groupPattern.test(group)) ? [...new Set([defaultGroup, ...groups])].sort() : undefined;
}

/**
 * Authenticates tokens of joining nodes. `abcdef.0123456789abcdef` names the Secret bootstrap-token-abcdef, which must
 * contain the second half, allow authentication and not be expired. As upstream, an invalid token is treated as
 * unknown.
 */
export function bootstrapTokenAuthenticator(options: BootstrapTokenOptions): TokenAuthenticator {
  return (token): TokenOutcome => {
    const match = tokenPattern.exec(token);
    if (match === null) return undefined;
    const [, id = '', tokenSecret = ''] = match;
    const secret = options.secret(`bootstrap-token-${id}`);
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return undefined;
    if (secret.type !== 'bootstrap.kubernetes.io/token') return undefined;
    const value = (key: string): string => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
    if (!secretsEqual(value('token-secret'), tokenSecret) || value('token-id') !== id) return undefined;
    const expiration = value('expiration');
    // An invalid date counts as expired.
    if (expiration !== '' && (parseRfc3339(expiration) ?? 0) <= options.clock.now()) return undefined;
    if (value('usage-bootstrap-authentication') !== 'true') return undefined;
    const groups = groupsOf(value('auth-extra-groups'));
    return groups === undefined ? undefined : { user: { name: `system:bootstrap:${id}`, groups } };
  };
}
