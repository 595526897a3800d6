import type { Client } from '../../client/index.ts';
import type { Resource } from '../../machinery/index.ts';

/** Wraps a client to count writes, except those of events. */
export function countingClient(client: Client, onWrite: () => void): Client {
  const counted = <R>({ plural }: Resource, work: () => R): R => {
    if (plural !== 'events') onWrite();
    return work();
  };
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) => counted(resource, () => client.create(resource, object, options)),
    update: (resource, object, options) => counted(resource, () => client.update(resource, object, options)),
    patch: (resource, key, type, patch, options) =>
      counted(resource, () => client.patch(resource, key, type, patch, options)),
    apply: (resource, object, options) => counted(resource, () => client.apply(resource, object, options)),
    delete: (resource, key, options) => counted(resource, () => client.delete(resource, key, options)),
    deleteCollection: (resource, options) => counted(resource, () => client.deleteCollection(resource, options)),
    createSubresource: (resource, key, subresource, body, options) =>
      counted(resource, () => client.createSubresource(resource, key, subresource, body, options)),
  };
}
