import type { Client } from './types.ts';

/** Set only while a request is being made, until its first await: an AsyncLocalStorage would slow every promise down. */
let origin: string | undefined;

/** Wraps a client so that its requests are counted for the given name. */
export function onBehalfOf(name: string, client: Client): Client {
  const named = <T>(send: () => T): T => {
    const before = origin;
    origin = name;
    try {
      return send();
    } finally {
      origin = before;
    }
  };
  return {
    get: (resource, key, options) => named(() => client.get(resource, key, options)),
    list: (resource, options) => named(() => client.list(resource, options)),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) => named(() => client.create(resource, object, options)),
    update: (resource, object, options) => named(() => client.update(resource, object, options)),
    patch: (resource, key, type, patch, options) => named(() => client.patch(resource, key, type, patch, options)),
    apply: (resource, object, options) => named(() => client.apply(resource, object, options)),
    delete: (resource, key, options) => named(() => client.delete(resource, key, options)),
    deleteCollection: (resource, options) => named(() => client.deleteCollection(resource, options)),
    createSubresource: (resource, key, subresource, body, options) =>
      named(() => client.createSubresource(resource, key, subresource, body, options)),
  };
}

/** Returns the originator of the request that is being made; undefined if there is none. To be read before any await. */
export function requestOrigin(): string | undefined {
  return origin;
}
