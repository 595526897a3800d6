// OpenStack is written in Python and formats values in messages with `str` or `repr`.

/** Formats like `str(value)`: strings unquoted, all other values like `repr`. */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}

/** Formats a JSON value like `repr(value)`. */
export function pythonRepr(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'number':
      return String(value);
    case 'object':
      if (value === null) return 'None';
      if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
      return `{${Object.entries(value)
        .map(([key, each]) => `${quote(key)}: ${pythonRepr(each)}`)
        .join(', ')}}`;
    default:
      return 'None';
  }
}

/** Python uses double quotes only if the text contains a single quote and no double quote. */
function quote(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  if (!text.includes("'")) return `'${escaped}'`;
  return text.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`;
}
