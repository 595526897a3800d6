import {
  applyJsonPatch,
  applyMergePatch,
  asJson,
  asTyped,
  type Clock,
  clone,
  deepEqual,
  deepFreeze,
  formatApiVersion,
  formatTime,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  ManualClock,
  type Random,
  type Resource,
  seededRandom,
  statusError,
} from '../../machinery/index.ts';
import { formatKey, keyOf, objectKey } from '../object-key.ts';
import { isAtLeast } from '../resource-version.ts';
import type { Client, DeleteOptions, ObjectKey, PatchType, WatchEvent, WatchOptions } from '../types.ts';
import { contentOf, isFree, matcher, nextState, type Stored, withVersion } from './memory-rules.ts';
import { WatchChannel } from './watch-channel.ts';

export interface RecordedRequest {
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection' | 'post';
  /** plural.group */
  resource: string;
  key?: string;
  subresource?: string;
}

export interface MemoryClient extends Client {
  readonly clock: Clock;
  readonly revision: number;
  /** all requests, oldest first */
  readonly requests: RecordedRequest[];
  /** write requests, to assert that nothing was written */
  writes(): RecordedRequest[];
  /** stores an object including its status without server logic except uid, timestamps and versions */
  seed<T extends KubeObject>(resource: Resource<T>, object: T): T;
  /** reads an object as from an up-to-date cache */
  peek<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined;
  /** reads all objects of a kind as from an up-to-date cache */
  stored<T extends KubeObject>(resource: Resource<T>): T[];
  /** compacts the history: older watches get 410 */
  compact(): void;
  /** ends all watches like a restarting server */
  endWatches(): void;
  openWatches(): number;
}

export interface MemoryClientOptions {
  clock?: Clock;
  random?: Random;
  /** answer `sendInitialEvents` with 422, like servers without support */
  refuseStreamingLists?: boolean;
  bookmarkPeriodMs?: number;
  /** refuse writes to missing or terminating namespaces */
  namespaceLifecycle?: boolean;
}

interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  resource: string;
  object: Stored;
  previous: Stored | undefined;
  revision: number;
}

interface Watcher {
  resource: string;
  deliver(change: Change): void;
  end(error?: unknown): void;
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/**
 * A Kubernetes API in a Map, for rehearsals and controller tests. It supports resource versions, conflicts,
 * generations, the status and finalize subresources, finalizers, deletion with propagation, selectors, paging, and
 * watches with bookmarks and 410. It does not validate, default, convert or track field ownership: `apply` merges.
 */
export function memoryClient(options: MemoryClientOptions = {}): MemoryClient {
  const clock = options.clock ?? new ManualClock();
  const random = options.random ?? seededRandom(1);
  const bookmarkPeriodMs = options.bookmarkPeriodMs ?? 60_000;
  const tables = new Map<string, Map<string, Stored>>();
  const pages = new Map<string, { items: Stored[]; resourceVersion: string }>();
  const watchers = new Set<Watcher>();
  const requests: RecordedRequest[] = [];
  let history: Change[] = [];
  let compacted = 0;
  let revision = 0;
  let pageNumber = 0;

  const idOf = (resource: Resource): string =>
    resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  const tableOf = (resource: Resource): Map<string, Stored> => {
    const id = idOf(resource);
    let table = tables.get(id);
    if (!table) {
      table = new Map();
      tables.set(id, table);
    }
    return table;
  };
  const subject = (resource: Resource, name: string) => ({ group: resource.group, resource: resource.plural, name });
  const record = (verb: RecordedRequest['verb'], resource: Resource, key?: string, subresource?: string): void => {
    requests.push({
      verb,
      resource: idOf(resource),
      ...(key !== undefined && { key }),
      ...(subresource !== undefined && { subresource }),
    });
  };

  const find = (resource: Resource, key: ObjectKey): Stored => {
    const stored = tableOf(resource).get(keyText(resource, key));
    if (!stored) throw statusError.notFound(subject(resource, key.name));
    return stored;
  };
  const keyText = (resource: Resource, key: ObjectKey): string => (resource.namespaced ? formatKey(key) : key.name);

  const commit = (resource: Resource, type: Change['type'], draft: Stored, previous: Stored | undefined): Stored => {
    revision++;
    draft.metadata.resourceVersion = String(revision);
    const object = deepFreeze(draft);
    const table = tableOf(resource);
    if (type === 'DELETED') table.delete(keyOf(object));
    else table.set(keyOf(object), object);
    const change: Change = { type, resource: idOf(resource), object, previous, revision };
    history.push(change);
    for (const watcher of watchers) if (watcher.resource === change.resource) watcher.deliver(change);
    return object;
  };

  const typed = (resource: Resource, object: Stored): Stored => {
    const apiVersion = formatApiVersion(resource.group, resource.version);
    return object.apiVersion === apiVersion && object.kind === resource.kind
      ? object
      : (deepFreeze({ ...object, apiVersion, kind: resource.kind }) as Stored);
  };
  const answer = <T extends KubeObject>(resource: Resource<T>, object: Stored): T =>
    asTyped<T>(typed(resource, object));

  const checkNamespace = (resource: Resource, namespace: string | undefined, name: string): void => {
    if (options.namespaceLifecycle !== true || !resource.namespaced) return;
    const owner = tables.get('namespaces')?.get(namespace ?? '');
    if (!owner) throw statusError.notFound({ group: '', resource: 'namespaces', name: namespace ?? '' });
    if (owner.metadata.deletionTimestamp !== undefined) {
      throw statusError.forbidden(
        subject(resource, name),
        `unable to create new content in namespace ${namespace} because it is being terminated`,
        [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      );
    }
  };

  const create = (resource: Resource, object: KubeObject, dryRun: boolean | undefined): Stored => {
    const draft = clone(object) as Stored;
    const { metadata } = draft;
    if (metadata.name === undefined && metadata.generateName !== undefined) {
      metadata.name = metadata.generateName.slice(0, 58) + random.text(5);
    }
    const name = metadata.name ?? '';
    if (name === '') throw statusError.badRequest('name or generateName is required');
    if (resource.namespaced && !metadata.namespace) throw statusError.badRequest('namespace is required');
    if (metadata.resourceVersion !== undefined)
      throw statusError.badRequest('resourceVersion should not be set on objects to be created');
    checkNamespace(resource, metadata.namespace, name);
    if (tableOf(resource).has(keyOf(draft))) throw statusError.alreadyExists(subject(resource, name));
    metadata.uid = random.uuid();
    metadata.creationTimestamp = formatTime(clock.now());
    metadata.generation = 1;
    delete metadata.deletionTimestamp;
    delete draft['status'];
    if (idOf(resource) === 'namespaces') {
      metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': name };
      draft['spec'] = { finalizers: ['kubernetes'] };
      draft['status'] = { phase: 'Active' };
    }
    return dryRun === true ? deepFreeze(draft) : commit(resource, 'ADDED', draft, undefined);
  };

  /** Stores the result of a write like a server. */
  const replace = (
    resource: Resource,
    stored: Stored,
    desired: Stored,
    subresource: string | undefined,
    dryRun: boolean | undefined,
  ): Stored => {
    const name = stored.metadata.name ?? '';
    const lock = desired.metadata.resourceVersion;
    if (lock !== undefined && lock !== '' && lock !== stored.metadata.resourceVersion) {
      throw statusError.conflict(
        subject(resource, name),
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
    if (desired.metadata.uid !== undefined && desired.metadata.uid !== stored.metadata.uid) {
      throw statusError.conflict(
        subject(resource, name),
        `Precondition failed: UID in precondition: ${desired.metadata.uid}, UID in object meta: ${stored.metadata.uid}`,
      );
    }
    const draft = nextState(stored, desired, subresource);
    if (stored.metadata.resourceVersion !== undefined) draft.metadata.resourceVersion = stored.metadata.resourceVersion;
    if (deepEqual(draft, stored)) return stored;
    if (!deepEqual(contentOf(draft), contentOf(stored))) {
      draft.metadata.generation = (stored.metadata.generation ?? 0) + 1;
    }
    if (dryRun === true) return deepFreeze(draft);
    const finished = draft.metadata.deletionTimestamp !== undefined && isFree(draft);
    return commit(resource, finished ? 'DELETED' : 'MODIFIED', draft, stored);
  };

  const remove = (resource: Resource, key: ObjectKey, opts: DeleteOptions): Stored | undefined => {
    const stored = find(resource, key);
    const { uid, resourceVersion } = opts.preconditions ?? {};
    if (uid !== undefined && uid !== stored.metadata.uid) {
      throw statusError.conflict(
        subject(resource, key.name),
        `the UID in the precondition (${uid}) does not match the UID in record (${stored.metadata.uid})`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) {
      throw statusError.conflict(subject(resource, key.name), 'the ResourceVersion in the precondition does not match');
    }
    if (opts.dryRun === true) return undefined;
    const draft = clone(stored);
    const finalizers = (draft.metadata.finalizers ?? []).filter((name) =>
      opts.propagationPolicy === undefined ? true : name !== foreground && name !== orphan,
    );
    if (opts.propagationPolicy === 'Foreground') finalizers.push(foreground);
    if (opts.propagationPolicy === 'Orphan') finalizers.push(orphan);
    if (finalizers.length > 0) draft.metadata.finalizers = finalizers;
    else delete draft.metadata.finalizers;
    if (isFree(draft)) {
      commit(resource, 'DELETED', draft, stored);
      return undefined;
    }
    if (draft.metadata.deletionTimestamp === undefined) {
      draft.metadata.deletionTimestamp = formatTime(clock.now());
      draft.metadata.deletionGracePeriodSeconds = 0;
      draft.metadata.generation = (draft.metadata.generation ?? 0) + 1;
      if (idOf(resource) === 'namespaces')
        draft['status'] = { ...(draft['status'] as JsonObject), phase: 'Terminating' };
    }
    return deepEqual(draft, stored) ? stored : commit(resource, 'MODIFIED', draft, stored);
  };

  const patched = (stored: Stored, type: PatchType, patch: JsonValue): Stored => {
    // Strategic patches need the schemas of built-in kinds, which are not available here.
    if (type === 'strategic') throw statusError.unsupportedMediaType('strategic merge patches are not known here');
    return (type === 'json' ? applyJsonPatch(stored, patch) : applyMergePatch(stored, patch)) as Stored;
  };

  const client: MemoryClient = {
    clock,
    get revision() {
      return revision;
    },
    requests,
    writes: () => requests.filter(({ verb }) => verb !== 'get' && verb !== 'list' && verb !== 'watch'),
    seed(resource, object) {
      const draft = asTyped<Stored>(clone(object));
      const { metadata } = draft;
      metadata.uid ??= random.uuid();
      metadata.creationTimestamp ??= formatTime(clock.now());
      metadata.generation ??= 1;
      const previous = tableOf(resource).get(keyOf(draft));
      return answer(resource, commit(resource, previous ? 'MODIFIED' : 'ADDED', draft, previous));
    },
    peek(resource, key) {
      const object = tableOf(resource).get(keyText(resource, key));
      return object && answer(resource, object);
    },
    stored: (resource) => [...tableOf(resource).values()].map((object) => answer(resource, object)),
    compact() {
      history = [];
      compacted = revision;
    },
    endWatches() {
      for (const watcher of [...watchers]) watcher.end();
    },
    openWatches: () => watchers.size,

    async get(resource, key, opts = {}) {
      opts.signal?.throwIfAborted();
      record('get', resource, formatKey(key));
      return answer(resource, find(resource, key));
    },
    async list(resource, opts = {}) {
      opts.signal?.throwIfAborted();
      record('list', resource);
      let items: Stored[];
      let resourceVersion = String(revision);
      if (opts.continue !== undefined && opts.continue !== '') {
        const page = pages.get(opts.continue);
        if (!page) throw statusError.expired('The provided continue parameter is too old');
        pages.delete(opts.continue);
        ({ items, resourceVersion } = page);
      } else {
        const matches = matcher(opts);
        items = [...tableOf(resource).values()].filter(matches).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      }
      const limit = opts.limit ?? 0;
      const metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number } = { resourceVersion };
      if (limit > 0 && items.length > limit) {
        const token = `page-${++pageNumber}`;
        pages.set(token, { items: items.slice(limit), resourceVersion });
        metadata.continue = token;
        metadata.remainingItemCount = items.length - limit;
        items = items.slice(0, limit);
      }
      return {
        apiVersion: formatApiVersion(resource.group, resource.version),
        kind: `${resource.kind}List`,
        metadata,
        items: items.map((item) => answer(resource, item)),
      };
    },
    watch: <T extends KubeObject>(resource: Resource<T>, opts: WatchOptions = {}) => openWatch<T>(resource, opts),
    async create(resource, object, opts) {
      opts.signal?.throwIfAborted();
      record('create', resource, keyOf(object));
      return answer(resource, create(resource, object, opts.dryRun));
    },
    async update(resource, object, opts) {
      opts.signal?.throwIfAborted();
      record('update', resource, keyOf(object), opts.subresource);
      const stored = find(resource, objectKey(object));
      return answer(resource, replace(resource, stored, asTyped<Stored>(clone(object)), opts.subresource, opts.dryRun));
    },
    async patch(resource, key, type, patch, opts) {
      opts.signal?.throwIfAborted();
      record('patch', resource, formatKey(key), opts.subresource);
      const stored = find(resource, key);
      return answer(resource, replace(resource, stored, patched(stored, type, patch), opts.subresource, opts.dryRun));
    },
    async apply(resource, object, opts) {
      opts.signal?.throwIfAborted();
      const desired = {
        ...object,
        apiVersion: formatApiVersion(resource.group, resource.version),
        kind: resource.kind,
      } as KubeObject;
      record('apply', resource, keyOf(desired), opts.subresource);
      const stored = tableOf(resource).get(keyText(resource, objectKey(desired)));
      if (!stored) return answer(resource, create(resource, desired, opts.dryRun));
      const merged = patched(stored, 'merge', asJson(desired));
      return answer(resource, replace(resource, stored, merged, opts.subresource, opts.dryRun));
    },
    async delete(resource, key, opts = {}) {
      opts.signal?.throwIfAborted();
      record('delete', resource, formatKey(key));
      const held = remove(resource, key, opts);
      return held && answer(resource, held);
    },
    async deleteCollection(resource, opts) {
      opts.signal?.throwIfAborted();
      record('deletecollection', resource);
      for (const object of [...tableOf(resource).values()].filter(matcher(opts)))
        remove(resource, objectKey(object), opts);
    },
    async createSubresource(resource, key, subresource, body, opts) {
      opts.signal?.throwIfAborted();
      record('post', resource, formatKey(key), subresource);
      find(resource, key);
      return body;
    },
  };
  return client;

  function openWatch<T extends KubeObject>(resource: Resource<T>, opts: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return {
      async *[Symbol.asyncIterator]() {
        record('watch', resource);
        const { signal } = opts;
        signal?.throwIfAborted();
        if (opts.sendInitialEvents === true && options.refuseStreamingLists === true) {
          throw statusError.invalid('meta.k8s.io', 'ListOptions', '', []);
        }
        const channel = new WatchChannel<WatchEvent<T>>();
        const matches = matcher(opts);
        const id = idOf(resource);
        const send = (type: WatchEvent['type'], object: Stored): void =>
          channel.push({ type, object: answer(resource, object) });
        const bookmark = (annotations?: Record<string, string>): void =>
          send('BOOKMARK', {
            apiVersion: formatApiVersion(resource.group, resource.version),
            kind: resource.kind,
            metadata: { resourceVersion: String(revision), ...(annotations && { annotations }) },
          } as Stored);
        const deliver = (change: Change): void => {
          const was = change.previous !== undefined && matches(change.previous);
          const is = change.type !== 'DELETED' && matches(change.object);
          if (is) send(was ? 'MODIFIED' : 'ADDED', change.object);
          // Upstream sends the last matching state with the version of the change.
          else if (was) {
            const { previous = change.object } = change;
            send('DELETED', change.type === 'DELETED' ? change.object : withVersion(previous, change.revision));
          }
        };

        const from = opts.resourceVersion ?? '';
        if (opts.sendInitialEvents === true || from === '' || from === '0') {
          for (const object of tableOf(resource).values()) if (matches(object)) send('ADDED', object);
          if (opts.sendInitialEvents === true) bookmark({ 'k8s.io/initial-events-end': 'true' });
        } else {
          if (!isAtLeast(from, String(compacted))) {
            throw statusError.expired(`too old resource version: ${from} (${compacted})`);
          }
          for (const change of history) if (change.resource === id && change.revision > Number(from)) deliver(change);
        }
        const watcher: Watcher = { resource: id, deliver, end: (error) => channel.end(error) };
        watchers.add(watcher);
        const onAbort = (): void => channel.end();
        signal?.addEventListener('abort', onAbort, { once: true });
        let cancelBookmark = (): void => {};
        const tick = (): void => {
          bookmark();
          cancelBookmark = clock.after(bookmarkPeriodMs, tick);
        };
        if (opts.allowWatchBookmarks === true) cancelBookmark = clock.after(bookmarkPeriodMs, tick);
        const cancelTimeout =
          opts.timeoutSeconds === undefined ? () => {} : clock.after(opts.timeoutSeconds * 1000, () => channel.end());
        try {
          yield* channel;
        } finally {
          watchers.delete(watcher);
          signal?.removeEventListener('abort', onAbort);
          cancelBookmark();
          cancelTimeout();
        }
      },
    };
  }
}
