/**
 * A step from the root to the visited value. Walkers push and pop on one array and format it only for errors, so that a
 * valid object needs no string.
 */
export type PathSegment = string | number | MapKey;

/** A key of a map, as opposed to a field of an object. Some messages print it as `labels[key]`. */
export interface MapKey {
  readonly key: string;
}

/** Formats `spec.list[0].labels.key`: map keys look like fields, as in schema validation and strict decoding. */
export function dottedPath(segments: readonly PathSegment[]): string {
  let text = '';
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else {
      const name = typeof segment === 'string' ? segment : segment.key;
      text += text === '' ? name : `.${name}`;
    }
  }
  return text;
}

/** Formats `spec.list[0].labels[key]`, as field errors print map keys. */
export function bracketPath(segments: readonly PathSegment[]): string {
  let text = '';
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (typeof segment === 'string') text += text === '' ? segment : `.${segment}`;
    else text += `[${segment.key}]`;
  }
  return text;
}

export function joinPath(prefix: string, path: string): string {
  if (prefix === '') return path;
  if (path === '') return prefix;
  return path.startsWith('[') ? `${prefix}${path}` : `${prefix}.${path}`;
}
