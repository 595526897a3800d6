/** Part of a store key: `/<group>/<plural>/<namespace>/<name>`, without namespace for cluster-scoped kinds. */

export interface KeySpace {
  group: string;
  plural: string;
}

/** Returns the prefix of all keys of a kind, or of a kind in one namespace; ends with a slash. */
export function keyPrefix(space: KeySpace, namespace?: string): string {
  const base = `/${space.group === '' ? 'core' : space.group}/${space.plural}/`;
  return namespace === undefined || namespace === '' ? base : `${base}${namespace}/`;
}

export function objectKey(space: KeySpace, namespace: string | undefined, name: string): string {
  return keyPrefix(space, namespace) + name;
}

/** Tells whether a key belongs to a Secret, which must be encrypted on disk. */
export function isSecretKey(key: string): boolean {
  return key.startsWith('/core/secrets/');
}

export function nameOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

export function namespaceOfKey(key: string): string {
  const start = key.indexOf('/', key.indexOf('/', 1) + 1) + 1;
  const end = key.indexOf('/', start);
  return end < 0 ? key.slice(start) : key.slice(start, end);
}
