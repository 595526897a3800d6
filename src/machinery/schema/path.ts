/**
 * The way from the root to the value being looked at. Walkers push and pop on one array and turn it into text only when
 * there is something to report, so that a valid object costs no string.
 */
export type PathSegment = string | number | MapKey;

/** A key of a map, as opposed to a field of an object: some messages print it as `labels[key]`. */
export interface MapKey {
  readonly key: string;
}

/** `spec.list[0].labels.key`: map keys look like fields, as schema validation and strict decoding print them. */
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

/** `spec.list[0].labels[key]`: how field errors print map keys. */
export function bracketPath(segments: readonly PathSegment[]): string {
  let text = '';
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (typeof segment === 'string') text += text === '' ? segment : `.${segment}`;
    else text += `[${segment.key}]`;
  }
  return text;
}

/** Joins two paths that may be empty. */
export function joinPath(prefix: string, path: string): string {
  if (prefix === '') return path;
  if (path === '') return prefix;
  return path.startsWith('[') ? `${prefix}${path}` : `${prefix}.${path}`;
}
