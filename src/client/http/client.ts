import {
  ApiStatusError,
  asTyped,
  type Clock,
  isJsonObject,
  jsonText,
  type KubeObject,
  type ObjectList,
  parseJson,
  type Random,
  type Resource,
  type Status,
  systemClock,
  systemRandom,
} from '../../machinery/index.ts';
import { WatchDecodeError } from '../errors.ts';
import type { ConnectionConfig } from '../kubeconfig/types.ts';
import { objectKey } from '../object-key.ts';
import type {
  Client,
  DeleteOptions,
  ObjectKey,
  PatchType,
  ReadListOptions,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../types.ts';
import { readLines } from './line-stream.ts';
import { collectionPath, listQuery, objectPath, queryString, watchQuery } from './paths.ts';
import { createTransport, type HttpExchange, type RequestObservation, type StreamResponse } from './transport.ts';

export interface HttpClientOptions {
  /** `name/version` of the program */
  userAgent?: string;
  clock?: Clock;
  random?: Random;
  /** timeout of requests except watches; default 60 s, 0 means none */
  requestTimeoutMs?: number;
  /** maximum number of attempts; default 5 */
  maxAttempts?: number;
  /** maximum connections for requests except watches; default 64 */
  maxConnections?: number;
  allowH2?: boolean;
  /** transport of requests; default: sockets */
  exchange?: HttpExchange;
  /** called with the texts of `Warning: 299` headers */
  onWarning?: (text: string) => void;
  /** called once per attempt, for metrics */
  onRequest?: (observation: RequestObservation) => void;
}

/** Response for a path that is no object: discovery, /version, /readyz, metrics. */
export interface RawResponse {
  contentType: string;
  body: string;
}

export interface RawReader {
  raw(path: string, options?: RequestOptions & { accept?: string }): Promise<RawResponse>;
}

export interface HttpClient extends Client, RawReader {
  /** reads any path as a stream, for large responses */
  download(path: string, options?: RequestOptions): Promise<StreamResponse>;
  /** closes all connections; pending requests fail */
  close(): Promise<void>;
}

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/**
 * Creates a Client over HTTP(S). Errors are ApiStatusError (an error response) or ApiUnreachableError (no response).
 */
export function httpClient(config: ConnectionConfig, options: HttpClientOptions = {}): HttpClient {
  const transport = createTransport({
    config,
    userAgent: options.userAgent ?? 'capstan',
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
    maxAttempts: options.maxAttempts ?? 5,
    maxConnections: options.maxConnections ?? 64,
    allowH2: options.allowH2 ?? false,
    exchange: options.exchange,
    onWarning: options.onWarning,
    onRequest: options.onRequest,
  });

  const call = async <T>(
    { verb, resource, subresource }: Asked,
    path: string,
    {
      options,
      body,
      contentType,
      accept,
    }: { options: RequestOptions; body?: unknown; contentType?: string | undefined; accept?: string | undefined },
  ): Promise<T> => {
    const { signal, permit } = options;
    const method = methodOf[verb];
    const response = await transport.send({
      method,
      path,
      signal,
      permit,
      verb,
      resource: resourceName(resource, subresource),
      ...(body !== undefined && { body: jsonText(body) }),
      ...(contentType !== undefined && { contentType }),
      ...(accept !== undefined && { accept }),
    });
    return parseBody<T>(response.body, `${method} ${path}`);
  };

  return {
    get: (resource, key, opts = {}) =>
      call(
        { verb: 'get', resource },
        objectPath(resource, key) + queryString({ resourceVersion: opts.resourceVersion }),
        {
          options: opts,
        },
      ),

    async list<T extends KubeObject>(resource: Resource<T>, opts: ReadListOptions = {}) {
      const list = await call<ObjectList<T>>(
        { verb: 'list', resource },
        collectionPath(resource, opts.namespace) + queryString(listQuery(opts)),
        { options: opts, ...(opts.metadataOnly === true && { accept: metadataOnly('List') }) },
      );
      return { ...list, items: withTypeMeta(list.items ?? [], list) };
    },

    watch: (resource, opts = {}) => watchStream(transport.open, resource, opts, config.guard?.maxAnswerBytes),

    create: (resource, object, opts) =>
      call({ verb: 'create', resource }, collectionPath(resource, object.metadata.namespace) + writeQuery(opts), {
        options: opts,
        body: object,
      }),

    update: (resource, object, opts) =>
      call(
        { verb: 'update', resource, ...sub(opts) },
        objectPath(resource, objectKey(object), opts.subresource) + writeQuery(opts),
        {
          options: opts,
          body: object,
        },
      ),

    patch: (resource, key, type, patch, opts) =>
      call({ verb: 'patch', resource, ...sub(opts) }, objectPath(resource, key, opts.subresource) + writeQuery(opts), {
        options: opts,
        body: patch,
        contentType: patchContentTypes[type],
      }),

    apply: (resource, object, opts) => {
      const key = {
        ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
        name: object.metadata.name ?? '',
      };
      return call(
        { verb: 'apply', resource, ...sub(opts) },
        objectPath(resource, key, opts.subresource) +
          writeQuery(opts, { force: opts.force === true ? true : undefined }),
        {
          options: opts,
          body: {
            apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
            kind: resource.kind,
            ...object,
          },
          contentType: 'application/apply-patch+yaml',
        },
      );
    },

    async delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, opts: DeleteOptions = {}) {
      const answer = await call<T | Status>({ verb: 'delete', resource }, objectPath(resource, key), {
        options: opts,
        body: deleteBody(opts),
      });
      return answer.kind !== 'Status' && isHeldBack(answer as T) ? (answer as T) : undefined;
    },

    async deleteCollection(resource, opts) {
      const path = collectionPath(resource, opts.namespace) + queryString(listQuery(opts));
      await call({ verb: 'deletecollection', resource }, path, { options: opts, body: deleteBody(opts) });
    },

    createSubresource: (resource, key, subresource, body, opts) =>
      call({ verb: 'create', resource, subresource }, objectPath(resource, key, subresource) + writeQuery(opts), {
        options: opts,
        body,
      }),

    download: (path, opts = {}) => transport.open({ method: 'GET', path, accept: '*/*', signal: opts.signal }),

    async raw(path, opts = {}) {
      const response = await transport.send({
        method: 'GET',
        path,
        signal: opts.signal,
        accept: opts.accept ?? 'application/json, */*',
      });
      return { contentType: response.contentType, body: response.body };
    },

    close: () => transport.close(),
  };
}

type AskedVerb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection';

interface Asked {
  readonly verb: AskedVerb;
  readonly resource: Resource;
  readonly subresource?: string;
}

const methodOf = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  apply: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
} as const;

/** Accept header for metadata only; servers without support return complete objects. */
const metadataOnly = (list: 'List' | ''): string =>
  `application/json;as=PartialObjectMetadata${list};g=meta.k8s.io;v=v1,application/json`;

/** `deployments.apps/status` */
function resourceName({ plural, group }: Resource, subresource?: string): string {
  return `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
}

function sub({ subresource }: { subresource?: string }): { subresource?: string } {
  return subresource === undefined ? {} : { subresource };
}

function writeQuery(options: WriteOptions, more: Record<string, boolean | undefined> = {}): string {
  return queryString({
    fieldManager: options.fieldManager,
    dryRun: options.dryRun === true ? 'All' : undefined,
    ...more,
  });
}

function deleteBody(options: DeleteOptions): object {
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: options.propagationPolicy,
    gracePeriodSeconds: options.gracePeriodSeconds,
    preconditions: options.preconditions,
    dryRun: options.dryRun === true ? ['All'] : undefined,
  };
}

/** Some kinds return the deleted object from a delete; it still exists only with finalizers or a grace period. */
function isHeldBack(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  const spec = (object as { spec?: unknown }).spec;
  const specFinalizers = isJsonObject(spec) ? spec['finalizers'] : undefined;
  return (
    (finalizers?.length ?? 0) > 0 ||
    (deletionGracePeriodSeconds ?? 0) > 0 ||
    (Array.isArray(specFinalizers) && specFinalizers.length > 0)
  );
}

function parseBody<T>(body: string, request: string): T {
  try {
    return parseJson(body) as T;
  } catch (error) {
    throw new ApiStatusError(
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        reason: 'InternalError',
        message: `the answer to ${request} is not JSON`,
        code: 500,
      },
      { cause: error },
    );
  }
}

/** List items of built-in kinds have no apiVersion and kind, but later code expects them. */
function withTypeMeta<T extends KubeObject>(items: T[], list: { apiVersion: string; kind: string }): T[] {
  if (items[0]?.kind !== undefined || items.length === 0) return items;
  const kind = list.kind.replace(/List$/, '');
  return items.map((item) => ({ ...item, apiVersion: list.apiVersion, kind }));
}

async function* watchStream<T extends KubeObject>(
  open: ReturnType<typeof createTransport>['open'],
  resource: Resource<T>,
  options: WatchOptions,
  maxEventBytes: number | undefined,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const path = collectionPath(resource, options.namespace) + queryString(watchQuery(options));
  const stream = await open({
    method: 'GET',
    path,
    signal: options.signal,
    verb: 'watch',
    resource: resourceName(resource),
    ...(options.metadataOnly === true && { accept: metadataOnly('') }),
  });
  try {
    for await (const line of readLines(stream.chunks, maxEventBytes)) yield parseEvent<T>(line);
  } catch (error) {
    // The caller aborted the watch, which is no error.
    if (options.signal?.aborted) return;
    throw error;
  } finally {
    stream.close();
  }
}

function parseEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  let event: WatchEvent<T>;
  try {
    event = asTyped<WatchEvent<T>>(parseJson(line));
  } catch (error) {
    throw new WatchDecodeError(`a watch event is not JSON (${line.length} characters)`, { cause: error });
  }
  if (typeof event?.type !== 'string' || !isJsonObject(event.object)) {
    throw new WatchDecodeError('a watch event lacks its type or object');
  }
  if (event.type === 'ERROR') throw new ApiStatusError(asTyped<Status>(event.object));
  return event;
}
