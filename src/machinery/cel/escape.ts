const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: Record<string, string> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** Reserved words that the parser takes as field names all the same. */
export function isSelectableWord(name: string): boolean {
  return reserved.has(name) && !['true', 'false', 'null', 'in'].includes(name);
}

/** The name a field has in expressions, undefined when it cannot have one. */
export function escapeField(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => escapes[part] ?? part);
}

/** Whether a name can stand in expressions for itself. */
export function isCelIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);
}
