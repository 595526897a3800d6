import type { ApiServer, UserInfo } from '../../apiserver/index.ts';
import {
  ApiUnreachableError,
  type ApplyOptions,
  type Client,
  type DeleteOptions,
  type ObjectKey,
  type PatchType,
  type ReadListOptions,
  type RequestOptions,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '../../client/index.ts';
import type { JsonValue, KubeObject, ObjectList, Resource } from '../../machinery/index.ts';

export interface ClientConnection {
  readonly server: ApiServer;
  /** the requesting user; called for every request, because tokens expire */
  user(): UserInfo;
  /** aborted when the machine of the API server is gone */
  readonly signal: AbortSignal;
  /** waits, or throws, when the API server cannot reach its etcd */
  gate(): Promise<void> | undefined;
}

/**
 * Client for one API server in the same process. Requests are authenticated and authorized as over HTTPS, and the
 * connection breaks when the machine is switched off.
 */
export function connectedClient(connection: ClientConnection): Client {
  const { server, signal } = connection;

  const enter = async (): Promise<Client> => {
    throwIfBroken(signal);
    const user = connection.user();
    const wait = connection.gate();
    if (wait) await wait;
    throwIfBroken(signal);
    return server.localClient(user);
  };

  return {
    async get<T extends KubeObject>(
      resource: Resource<T>,
      key: ObjectKey,
      options?: RequestOptions & { resourceVersion?: string },
    ): Promise<T> {
      const client = await enter();
      return client.get(resource, key, options);
    },
    async list<T extends KubeObject>(resource: Resource<T>, options: ReadListOptions = {}): Promise<ObjectList<T>> {
      const client = await enter();
      return client.list(resource, options);
    },
    async *watch<T extends KubeObject>(
      resource: Resource<T>,
      options: WatchOptions = {},
    ): AsyncGenerator<WatchEvent<T>> {
      const client = await enter();
      const until = options.signal ? AbortSignal.any([options.signal, signal]) : signal;
      for await (const event of client.watch(resource, { ...options, signal: until })) yield event;
      if (!options.signal?.aborted) throwIfBroken(signal);
    },
    async create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions): Promise<T> {
      const client = await enter();
      return client.create(resource, object, options);
    },
    async update<T extends KubeObject>(
      resource: Resource<T>,
      object: T,
      options: WriteOptions & { subresource?: string },
    ): Promise<T> {
      const client = await enter();
      return client.update(resource, object, options);
    },
    async patch<T extends KubeObject>(
      resource: Resource<T>,
      key: ObjectKey,
      type: PatchType,
      patch: JsonValue,
      options: WriteOptions & { subresource?: string },
    ): Promise<T> {
      const client = await enter();
      return client.patch(resource, key, type, patch, options);
    },
    async apply<T extends KubeObject>(
      resource: Resource<T>,
      object: Partial<T> & Pick<T, 'metadata'>,
      options: ApplyOptions & { subresource?: string },
    ): Promise<T> {
      const client = await enter();
      return client.apply(resource, object, options);
    },
    async delete<T extends KubeObject>(
      resource: Resource<T>,
      key: ObjectKey,
      options?: DeleteOptions,
    ): Promise<T | undefined> {
      const client = await enter();
      return client.delete(resource, key, options);
    },
    async deleteCollection<T extends KubeObject>(
      resource: Resource<T>,
      options: ReadListOptions & DeleteOptions,
    ): Promise<void> {
      const client = await enter();
      return client.deleteCollection(resource, options);
    },
    async createSubresource<T extends KubeObject, R extends KubeObject>(
      resource: Resource<T>,
      key: ObjectKey,
      subresource: string,
      body: R,
      options: WriteOptions,
    ): Promise<R> {
      const client = await enter();
      return client.createSubresource(resource, key, subresource, body, options);
    },
  };
}

function throwIfBroken(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new ApiUnreachableError('the connection to the API server was lost', {
    cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  });
}
