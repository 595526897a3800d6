/**
 * Orders two resource versions: negative when `a` is older. Kubernetes promises decimal integers without leading zeros
 * that clients may compare, of any size, hence no conversion to number. Anything else is not comparable: undefined.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!isDecimal(a) || !isDecimal(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** True when `seen` is at least as new as `wanted`; versions that cannot be compared never count as seen. */
export function isAtLeast(seen: string, wanted: string): boolean {
  const order = compareResourceVersions(seen, wanted);
  return order !== undefined && order >= 0;
}

function isDecimal(text: string): boolean {
  if (text.length === 0) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}
