import type { Client } from '../../client/index.ts';
import type { Fence } from './fence.ts';

/** Wraps a client so that it writes only while the fence is open. The fence is checked right before every attempt. */
export function fencedClient(client: Client, fence: Pick<Fence, 'check'>): Client {
  const permit = (): void => fence.check();
  /** In-process clients do not support permits, so they are checked here. */
  const permitted = async <T>(write: () => Promise<T>): Promise<T> => {
    permit();
    return await write();
  };
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) => permitted(() => client.create(resource, object, { ...options, permit })),
    update: (resource, object, options) => permitted(() => client.update(resource, object, { ...options, permit })),
    patch: (resource, key, type, patch, options) =>
      permitted(() => client.patch(resource, key, type, patch, { ...options, permit })),
    apply: (resource, object, options) => permitted(() => client.apply(resource, object, { ...options, permit })),
    delete: (resource, key, options) => permitted(() => client.delete(resource, key, { ...options, permit })),
    deleteCollection: (resource, options) => permitted(() => client.deleteCollection(resource, { ...options, permit })),
    createSubresource: (resource, key, subresource, body, options) =>
      permitted(() => client.createSubresource(resource, key, subresource, body, { ...options, permit })),
  };
}
