import type {
  JsonValue,
  KubeObject,
  ObjectList,
  Resource,
  UnstructuredObject,
  WatchEventType,
} from '../machinery/index.ts';

export interface RequestOptions {
  signal?: AbortSignal;
  /** called before each attempt of the request; an error it throws is the result */
  permit?: () => void;
}

export interface WriteOptions extends RequestOptions {
  /** field manager; required for every write */
  fieldManager: string;
  dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  /** take over fields owned by others instead of failing with a conflict */
  force?: boolean;
}

export interface ReadListOptions extends RequestOptions {
  /** absent: all namespaces */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** allows the server to omit everything but metadata */
  metadataOnly?: boolean;
}

export interface WatchOptions extends RequestOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
  resourceVersionMatch?: 'NotOlderThan';
  timeoutSeconds?: number;
  /** allows the server to omit everything but metadata */
  metadataOnly?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

export type PatchType = 'json' | 'merge' | 'strategic';

export interface ObjectKey {
  namespace?: string;
  name: string;
}

export interface WatchEvent<T extends KubeObject = UnstructuredObject> {
  type: WatchEventType;
  object: T;
}

/**
 * Client of a Kubernetes API, over HTTP or in-process. Returned objects are shared and immutable, so clone before
 * changing. Errors are ApiStatusError.
 */
export interface Client {
  get<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & { resourceVersion?: string },
  ): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ReadListOptions): Promise<ObjectList<T>>;
  /** ends when the server ends the stream or the signal aborts; an ERROR event is thrown as ApiStatusError */
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions): Promise<T>;
  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions & { subresource?: string },
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    type: PatchType,
    patch: JsonValue,
    options: WriteOptions & { subresource?: string },
  ): Promise<T>;
  apply<T extends KubeObject>(
    resource: Resource<T>,
    object: Partial<T> & Pick<T, 'metadata'>,
    options: ApplyOptions & { subresource?: string },
  ): Promise<T>;
  /** resolves with the object if finalizers delay the deletion, otherwise with undefined */
  delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: ReadListOptions & DeleteOptions,
  ): Promise<void>;
  /** POST to a subresource such as serviceaccounts/token or pods/eviction */
  createSubresource<T extends KubeObject, R extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    subresource: string,
    body: R,
    options: WriteOptions,
  ): Promise<R>;
}
