const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: Record<string, string> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** Reports whether a reserved word may still be used as a field name. */
export function isSelectableWord(name: string): boolean {
  return reserved.has(name) && !['true', 'false', 'null', 'in'].includes(name);
}

/** Name of a field in expressions; undefined if it cannot be used. */
export function escapeField(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => escapes[part] ?? part);
}

/** Reports whether a name is a CEL identifier without escaping. */
export function isCelIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);
}
