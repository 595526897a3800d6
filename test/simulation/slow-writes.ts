import type { Client } from '../../src/client/index.ts';
import { type Clock, sleep } from '../../src/machinery/index.ts';

/** Duration of a write on a slow disk. It is constant, so that work started together also continues together. */
const writeMs = 50;

/**
 * Wraps a client so that writes take time, as in reality: other events happen meanwhile, and waiting controllers see
 * them all at once afterwards.
 */
export function slowWrites(client: Client, clock: Clock): Client {
  const slowly =
    <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const result = await method(...args);
      await sleep(clock, writeMs);
      return result;
    };
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: slowly(client.create.bind(client)) as Client['create'],
    update: slowly(client.update.bind(client)) as Client['update'],
    patch: slowly(client.patch.bind(client)) as Client['patch'],
    apply: slowly(client.apply.bind(client)) as Client['apply'],
    delete: slowly(client.delete.bind(client)) as Client['delete'],
    deleteCollection: slowly(client.deleteCollection.bind(client)) as Client['deleteCollection'],
    createSubresource: slowly(client.createSubresource.bind(client)) as Client['createSubresource'],
  };
}
