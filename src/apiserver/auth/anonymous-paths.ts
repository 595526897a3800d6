import { type Authorizer, noOpinion } from './attributes.ts';
import { anonymousUser } from './user.ts';

/** Paths that may be readable without credentials. They show the health of the server, but no data. */
export const openablePaths = ['/livez', '/readyz', '/healthz', '/metrics', '/version'] as const;

/** Tells whether a path is in the list or is a single check below a health path. */
export function isOpen(paths: readonly string[], path: string): boolean {
  return paths.some((open) => path === open || (open.endsWith('z') && path.startsWith(`${open}/`)));
}

/** Allows callers without credentials to read the open paths. */
export function anonymousPathsAuthorizer(paths: readonly string[]): Authorizer {
  return {
    authorize({ user, verb, path, resourceRequest }) {
      const isAllowed =
        !resourceRequest &&
        user.name === anonymousUser.name &&
        (verb === 'get' || verb === 'head') &&
        isOpen(paths, path);
      return isAllowed ? { decision: 'allow', reason: 'the path is open to everybody' } : noOpinion;
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
}
