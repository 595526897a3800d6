import { must } from '../../machinery/index.ts';

/** Names of undefined variables in a text, in order. */
export function missingVariables(text: string, variables: Readonly<Record<string, string>>): string[] {
  const names = new Set<string>();
  for (const [, name] of text.matchAll(/\$\$|\$\(([^()]*)\)/g)) {
    if (name !== undefined && !Object.hasOwn(variables, name)) names.add(name);
  }
  return [...names].sort();
}

/**
 * Expands `$(NAME)`. References to undefined variables stay unchanged, and `$$` is an escaped dollar sign: `$$(NAME)`
 * becomes `$(NAME)`.
 */
export function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  if (!text.includes('$')) return text;
  return text.replace(/\$\$|\$\(([^()]*)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return Object.hasOwn(variables, name) ? must(variables[name], 'variables[name]') : whole;
  });
}
