/** Store keys: `/<group>/<plural>/<namespace>/<name>`, without the namespace for cluster-scoped kinds. */

export interface KeySpace {
  group: string;
  plural: string;
}

/** Everything of a kind, or of a kind in one namespace; ends with a slash. */
export function keyPrefix(space: KeySpace, namespace?: string): string {
  const base = `/${space.group === '' ? 'core' : space.group}/${space.plural}/`;
  return namespace === undefined || namespace === '' ? base : `${base}${namespace}/`;
}

export function objectKey(space: KeySpace, namespace: string | undefined, name: string): string {
  return keyPrefix(space, namespace) + name;
}

/** Secrets are the kind whose bytes must never lie in the clear. */
export function isSecretKey(key: string): boolean {
  return key.startsWith('/core/secrets/');
}

/** The last part of a key: the object's name. */
export function nameOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

/** The namespace in the key of a namespaced kind. */
export function namespaceOfKey(key: string): string {
  const start = key.indexOf('/', key.indexOf('/', 1) + 1) + 1;
  const end = key.indexOf('/', start);
  return end < 0 ? key.slice(start) : key.slice(start, end);
}
