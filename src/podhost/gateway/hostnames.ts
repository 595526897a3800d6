/** Host names of listeners and routes, which may begin with `*.` for one or more labels. */

/** Whether a pattern is for a host. */
export function matchesHost(pattern: string, host: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.startsWith('*.')) return pattern === host;
  return host.length > pattern.length - 1 && host.endsWith(pattern.slice(1));
}

/** The more a pattern says, the more it counts: a name before a wildcard, a longer wildcard before a shorter one. */
export function specificity(pattern: string): number {
  return pattern === '*' ? 0 : pattern.startsWith('*.') ? pattern.length : 1000 + pattern.length;
}

/** What both a listener and a route are for; undefined: nothing. An absent name is for every host. */
export function intersection(listener: string | undefined, route: string): string | undefined {
  const own = listener ?? '*';
  if (matchesPattern(own, route)) return route;
  return matchesPattern(route, own) ? own : undefined;
}

/** Whether every host of `narrow` is one of `wide`. */
function matchesPattern(wide: string, narrow: string): boolean {
  if (wide === '*' || wide === narrow) return true;
  return wide.startsWith('*.') && narrow !== '*' && narrow.endsWith(wide.slice(1));
}
