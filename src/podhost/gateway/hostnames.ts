/** Host names of listeners and routes. They may start with `*.`, which matches one or more labels. */

/** Reports whether a pattern matches a host. */
export function matchesHost(pattern: string, host: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.startsWith('*.')) return pattern === host;
  return host.length > pattern.length - 1 && host.endsWith(pattern.slice(1));
}

/** Rank of a pattern: a name before a wildcard, a longer wildcard before a shorter one. */
export function specificity(pattern: string): number {
  return pattern === '*' ? 0 : pattern.startsWith('*.') ? pattern.length : 1000 + pattern.length;
}

/** Returns the hosts that both a listener and a route match; undefined if none. An absent name matches every host. */
export function intersection(listener: string | undefined, route: string): string | undefined {
  const own = listener ?? '*';
  if (matchesPattern(own, route)) return route;
  return matchesPattern(route, own) ? own : undefined;
}

/** Reports whether `wide` matches every host of `narrow`. */
function matchesPattern(wide: string, narrow: string): boolean {
  if (wide === '*' || wide === narrow) return true;
  return wide.startsWith('*.') && narrow !== '*' && narrow.endsWith(wide.slice(1));
}
