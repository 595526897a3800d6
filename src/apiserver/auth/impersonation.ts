import { statusError } from '../../machinery/index.ts';
import { type AuthorizationAttributes, type Authorizer, forbiddenError } from './attributes.ts';
import {
  anonymousUser,
  parseServiceAccountUsername,
  serviceAccountGroups,
  systemGroups,
  type UserInfo,
} from './user.ts';

interface Spec {
  user: string;
  uid: string;
  groups: string[];
  extra: Map<string, string[]>;
}

const headerPrefix = 'impersonate-';
const extraPrefix = 'impersonate-extra-';

/** Header values are decoded as latin1, but the names in them are UTF-8. */
function decodeValue(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Reads the raw headers, because joined headers do not distinguish a comma in a group name from two groups. */
function readSpec(rawHeaders: readonly string[]): Spec | undefined {
  let desired: Spec | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const rawName = rawHeaders[i] ?? '';
    // Fast path that skips the headers of ordinary requests.
    if (rawName.length < 15 || (rawName.charCodeAt(0) | 0x20) !== 0x69) continue;
    const name = rawName.toLowerCase();
    if (!name.startsWith(headerPrefix)) continue;
    const value = decodeValue(rawHeaders[i + 1] ?? '');
    desired ??= { user: '', uid: '', groups: [], extra: new Map() };
    if (name === 'impersonate-user') desired.user ||= value;
    else if (name === 'impersonate-uid') desired.uid ||= value;
    else if (name === 'impersonate-group') desired.groups.push(value);
    else if (name.startsWith(extraPrefix)) {
      const key = decodeKey(name.slice(extraPrefix.length)).toLowerCase();
      desired.extra.set(key, [...(desired.extra.get(key) ?? []), value]);
    }
  }
  const empty =
    desired === undefined ||
    (desired.user === '' && desired.uid === '' && desired.groups.length === 0 && desired.extra.size === 0);
  return empty ? undefined : desired;
}

function impersonationAttributes(
  user: UserInfo,
  target: Pick<AuthorizationAttributes, 'resource' | 'name'> & Partial<AuthorizationAttributes>,
): AuthorizationAttributes {
  return {
    user,
    verb: 'impersonate',
    group: '',
    version: '',
    subresource: '',
    namespace: '',
    path: '',
    resourceRequest: true,
    ...target,
  };
}

function resultingGroups(username: string, groups: readonly string[]): readonly string[] {
  if (username === anonymousUser.name) {
    return groups.includes(systemGroups.unauthenticated) ? groups : [...groups, systemGroups.unauthenticated];
  }
  return groups.includes(systemGroups.authenticated) || groups.includes(systemGroups.unauthenticated)
    ? groups
    : [...groups, systemGroups.authenticated];
}

/**
 * Returns the user that a request impersonates (`kubectl --as`, `--as-group`, `--as-uid`), after checking that
 * `requestor` may impersonate each part. Without impersonation headers, returns `requestor`. Throws ApiStatusError 403
 * for a forbidden impersonation and, as upstream, 500 for headers without a user.
 */
export function impersonatedUser(rawHeaders: readonly string[], requestor: UserInfo, authorizer: Authorizer): UserInfo {
  const desired = readSpec(rawHeaders);
  if (desired === undefined) return requestor;
  if (desired.user === '') {
    throw statusError.internal('requested a group, uid or extra without impersonating a user');
  }
  const account = parseServiceAccountUsername(desired.user);
  const identity = { group: 'authentication.k8s.io', version: 'v1' };
  const checks = [
    account === undefined
      ? impersonationAttributes(requestor, { resource: 'users', name: desired.user })
      : impersonationAttributes(requestor, { resource: 'serviceaccounts', ...account }),
    ...desired.groups.map((name) => impersonationAttributes(requestor, { resource: 'groups', name })),
    ...[...desired.extra].flatMap(([key, values]) =>
      values.map((name) =>
        impersonationAttributes(requestor, { ...identity, resource: 'userextras', subresource: key, name }),
      ),
    ),
    ...(desired.uid === ''
      ? []
      : [impersonationAttributes(requestor, { ...identity, resource: 'uids', name: desired.uid })]),
  ];
  for (const attributes of checks) {
    const { decision, reason } = authorizer.authorize(attributes);
    if (decision !== 'allow') throw forbiddenError(attributes, reason);
  }
  const groups =
    account !== undefined && desired.groups.length === 0 ? serviceAccountGroups(account.namespace) : desired.groups;
  return {
    name: desired.user,
    groups: resultingGroups(desired.user, groups),
    ...(desired.uid !== '' && { uid: desired.uid }),
    ...(desired.extra.size > 0 && { extra: Object.fromEntries(desired.extra) }),
  };
}
