import { type Authorizer, noOpinion } from './attributes.ts';
import { anonymousUser } from './user.ts';

/** Paths that can be opened to callers without credentials: they say how the server is, nothing of what is in it. */
export const openablePaths = ['/livez', '/readyz', '/healthz', '/metrics', '/version'] as const;

/** Whether a path is one of these or, for health, a single check below it. */
export function isOpen(paths: readonly string[], path: string): boolean {
  return paths.some((open) => path === open || (open.endsWith('z') && path.startsWith(`${open}/`)));
}

/** Lets callers without credentials read the open paths. */
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
