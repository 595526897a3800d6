/**
 * The user of a request. Authenticators return the same object for the same credential, so caches may use it as key.
 */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const systemGroups = {
  /** may do everything, regardless of policy objects */
  masters: 'system:masters',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
} as const;

/** The user of requests without credentials. */
export const anonymousUser: UserInfo = { name: 'system:anonymous', groups: [systemGroups.unauthenticated] };

/** The user of the server's own requests. */
export const loopbackUser: UserInfo = {
  name: 'system:apiserver',
  groups: [systemGroups.authenticated, systemGroups.masters],
};

const serviceAccountPrefix = 'system:serviceaccount:';
const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function serviceAccountUsername(namespace: string, name: string): string {
  return `${serviceAccountPrefix}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return [systemGroups.serviceAccounts, `${systemGroups.serviceAccounts}:${namespace}`];
}

/** Parses the user name of a service account; undefined for other users. */
export function parseServiceAccountUsername(username: string): { namespace: string; name: string } | undefined {
  if (!username.startsWith(serviceAccountPrefix)) return undefined;
  const parts = username.slice(serviceAccountPrefix.length).split(':');
  const [namespace, name] = parts;
  if (parts.length !== 2 || namespace === undefined || name === undefined) return undefined;
  return dnsLabel.test(namespace) && dnsSubdomain.test(name) ? { namespace, name } : undefined;
}

/** Adds system:authenticated to the groups of an authenticated user, if missing. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const { groups } = user;
  if (groups.includes(systemGroups.authenticated) || groups.includes(systemGroups.unauthenticated)) return user;
  return { ...user, groups: [...groups, systemGroups.authenticated] };
}

/** `UserInfo` of authentication.k8s.io, used in reviews and audit events. */
export interface ApiUserInfo {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

export function toApiUserInfo(user: UserInfo): ApiUserInfo {
  const extra = user.extra === undefined ? [] : Object.entries(user.extra);
  return {
    username: user.name,
    ...(user.uid !== undefined && user.uid !== '' && { uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups] }),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra.map(([key, values]) => [key, [...values]])) }),
  };
}
