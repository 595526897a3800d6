/**
 * Compares two resource versions: negative if `a` is older. Kubernetes guarantees comparable decimal integers without
 * leading zeros, of any size, so they are not converted to numbers. Returns undefined for other texts.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!isDecimal(a) || !isDecimal(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns true if `seen` is at least as new as `wanted`; incomparable versions never are. */
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
