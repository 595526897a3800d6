import type { KubeObject, Resource } from '../machinery/index.ts';
import { resourceId } from './object-key.ts';
import type { Client } from './types.ts';

/** Limits the visible objects of a resource by a field selector. */
export interface ResourceScope {
  readonly resource: Resource;
  readonly fieldSelector: string;
}

/**
 * Wraps a client so that lists and watches of some resources are limited by field selectors. Single objects are not
 * affected.
 */
export function scopedClient(client: Client, scopes: readonly ResourceScope[]): Client {
  const selectors = new Map(scopes.map(({ resource, fieldSelector }) => [resourceId(resource), fieldSelector]));
  const scoped = <O extends { fieldSelector?: string }>(resource: Resource<KubeObject>, options: O): O => {
    const always = selectors.get(resourceId(resource));
    if (always === undefined) return options;
    const { fieldSelector } = options;
    return { ...options, fieldSelector: fieldSelector ? `${fieldSelector},${always}` : always };
  };
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options = {}) => client.list(resource, scoped(resource, options)),
    watch: (resource, options = {}) => client.watch(resource, scoped(resource, options)),
    create: (resource, object, options) => client.create(resource, object, options),
    update: (resource, object, options) => client.update(resource, object, options),
    patch: (resource, key, type, patch, options) => client.patch(resource, key, type, patch, options),
    apply: (resource, object, options) => client.apply(resource, object, options),
    delete: (resource, key, options) => client.delete(resource, key, options),
    deleteCollection: (resource, options) => client.deleteCollection(resource, scoped(resource, options)),
    createSubresource: (resource, key, subresource, body, options) =>
      client.createSubresource(resource, key, subresource, body, options),
  };
}
