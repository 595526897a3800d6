/**
 * Replaces `$(NAME)` by what it stands for. A reference to nothing stays as it is, and `$$` is a dollar sign that begins
 * none: `$$(NAME)` becomes `$(NAME)`.
 */
export function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  if (!text.includes('$')) return text;
  return text.replace(/\$\$|\$\(([^()]*)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return Object.hasOwn(variables, name) ? variables[name]! : whole;
  });
}
