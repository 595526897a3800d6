import { formatGroupResource, type KubeObject, type Resource } from '../machinery/index.ts';
import type { ObjectKey } from './types.ts';

/** Formats "namespace/name", or "name" for cluster-scoped objects, as caches and queues do. */
export function formatKey(key: ObjectKey): string {
  return key.namespace === undefined || key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** Returns the key of a stored object, which always has a name. */
export function objectKey(object: Pick<KubeObject, 'metadata'>): ObjectKey {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined || namespace === '' ? { name } : { namespace, name };
}

/** Equals `formatKey(objectKey(object))` without the temporary object, because it runs once per watch event. */
export function keyOf(object: KubeObject): string {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** Identifies a resource within one API: "deployments.apps/v1". */
export function resourceId(resource: Resource): string {
  return `${formatGroupResource(resource.group, resource.plural)}/${resource.version}`;
}
