// The services are written in Python and put values into their messages as Python writes them.

/** `str(value)`: text bare, everything else as `repr`. */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}

/** `repr(value)` of a value that came from JSON. */
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

/** Double quotes are used only around text with a single quote and none of its own. */
function quote(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  if (!text.includes("'")) return `'${escaped}'`;
  return text.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`;
}
