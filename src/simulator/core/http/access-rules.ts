import { goRegexp } from '../../../machinery/index.ts';
import type { AccessRule } from '../caller.ts';
import type { RequestContext } from './context.ts';

/** Reports whether one of the rules allows this request. */
export function permits(rules: readonly AccessRule[], { service, method, path }: RequestContext): boolean {
  // Cinder has several catalogue types.
  const types = service.type === 'volumev3' ? ['volumev3', 'block-storage', 'volume'] : [service.type];
  return rules.some((rule) => types.includes(rule.service) && rule.method === method && isPathLike(rule.path, path));
}

/** `*` and `{name}` match one path segment, `**` matches any rest. */
function isPathLike(pattern: string, path: string): boolean {
  const source = pattern.replace(/\*\*|\*|\{[^}]*\}|[^*{]+|\{/g, (part) => {
    if (part === '**') return '.*';
    if (part === '*' || (part.startsWith('{') && part.endsWith('}'))) return '[^/]+';
    return part.replace(/[^A-Za-z0-9/_-]/g, '\\$&');
  });
  const compiled = goRegexp(`^${source}$`);
  return typeof compiled !== 'string' && compiled.test(path);
}
