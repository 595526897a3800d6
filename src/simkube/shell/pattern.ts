const special = /[.+^${}()|\\]/g;
const cache = new Map<string, RegExp>();

/** A shell pattern (`*`, `?`, `[a-z]`) as a regular expression; `beyond` lets `*` pass slashes. */
export function patternToRegExp(pattern: string, beyond = true): RegExp {
  const key = `${beyond}${pattern}`;
  let found = cache.get(key);
  if (!found) {
    if (cache.size > 500) cache.clear();
    found = new RegExp(`^${patternSource(pattern, beyond)}$`, 's');
    cache.set(key, found);
  }
  return found;
}

/** The source of the expression, without anchors. */
export function patternSource(pattern: string, beyond: boolean): string {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!;
    if (char === '*') source += beyond ? '.*' : '[^/]*';
    else if (char === '?') source += beyond ? '.' : '[^/]';
    else if (char === '\\' && i + 1 < pattern.length) source += pattern[++i]!.replace(special, '\\$&');
    else if (char === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) source += '\\[';
      else {
        source += `[${pattern
          .slice(i + 1, end)
          .replace(/^!/, '^')
          .replaceAll('\\', '\\\\')}]`;
        i = end;
      }
    } else source += char.replace(special, '\\$&');
  }
  return source;
}
