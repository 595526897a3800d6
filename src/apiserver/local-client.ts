import {
  ApiStatusError,
  asJson,
  asTyped,
  clone,
  type JsonValue,
  type KubeObject,
  type ListMeta,
  type ObjectList,
  type ObjectMeta,
  type Resource,
  statusError,
  type UnstructuredObject,
} from '../machinery/index.ts';
import type { StoreRecord } from '../store/index.ts';
import type { InProcessCheck, UserInfo } from './auth/index.ts';
import { viewRecord } from './http/render.ts';
import type { ReviewHandler } from './http/resource-handler.ts';
import type { MaybePromise } from './registry/index.ts';
import { decodeObject } from './service/decode.ts';
import type { DeleteSettings } from './service/delete.ts';
import type { PatchKind } from './service/patch.ts';
import type { ListSettings } from './service/reads.ts';
import type { ResourceApi } from './service/resource-api.ts';
import type { Caller, NamedTarget, Target, WriteSettings } from './service/types.ts';
import type { WatchDelivery, WatchSettings, WatchSink } from './service/watch.ts';
import { nameOfKey, namespaceOfKey } from './storage/keys.ts';
import type { StoredObject } from './storage/stored-object.ts';
import { handleScale } from './subresources/scale.ts';
import type { SubresourceHandlers, SubresourceRequest } from './subresources/types.ts';

interface Options {
  signal?: AbortSignal;
}

interface WriteOptions extends Options {
  fieldManager: string;
  dryRun?: boolean;
  subresource?: string;
}

interface Key {
  namespace?: string;
  name: string;
}

/** Selects listed or watched objects that a client needs completely; others are reduced to their identity. */
export type WantsWhole = (kind: { group: string; plural: string }, name: string) => boolean;

const never = new AbortController().signal;
const ignoreWarning = (): void => {};

/**
 * The API without HTTP, for controllers in the same process. It has the interface of `Client` in the client room.
 * Returned objects are those of the store, shared and immutable. Requests are authorized, admitted and validated like
 * all others.
 */
export class LocalClient {
  readonly #api: ResourceApi;
  readonly #subresources: SubresourceHandlers;
  readonly #reviews: ReadonlyMap<string, ReviewHandler>;
  readonly #user: UserInfo;
  readonly #check: InProcessCheck | undefined;
  readonly #wantsWhole: WantsWhole | undefined;

  constructor(
    api: ResourceApi,
    handlers: { subresources: SubresourceHandlers; reviews: ReadonlyMap<string, ReviewHandler> },
    { user, check }: { user: UserInfo; check: InProcessCheck | undefined },
    wantsWhole?: WantsWhole,
  ) {
    this.#api = api;
    this.#subresources = handlers.subresources;
    this.#reviews = handlers.reviews;
    this.#user = user;
    this.#check = check;
    this.#wantsWhole = wantsWhole;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    options: Options & { resourceVersion?: string } = {},
  ): Promise<T> {
    this.#check?.({ verb: 'get', resource, namespace: key.namespace, name: key.name });
    const target = this.#named(resource, key);
    const record = await this.#api.get(target, this.#caller(options), options.resourceVersion);
    return asTyped<T>(await viewRecord(target, record));
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListSettings & Options & { namespace?: string } = {},
  ): Promise<ObjectList<T>> {
    const { namespace, fieldSelector } = options;
    this.#check?.({ verb: 'list', resource, namespace, fieldSelector });
    const target = this.#target(resource, namespace);
    const page = await this.#api.list(target, this.#caller(options), listSettings(options));
    const items: T[] = [];
    for (const record of page.records) {
      const view = this.#viewListed(target, record);
      items.push(asTyped<T>(view instanceof Promise ? await view : view));
    }
    const metadata: ListMeta = { resourceVersion: page.resourceVersion };
    if (page.continue !== undefined) metadata.continue = page.continue;
    if (page.remainingItemCount !== undefined) metadata.remainingItemCount = page.remainingItemCount;
    return { apiVersion: target.apiVersion, kind: target.resource.definition.listKind, metadata, items };
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchSettings & Options & { namespace?: string } = {},
  ): AsyncGenerator<{ type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: T }> {
    const { namespace, fieldSelector } = options;
    this.#check?.({ verb: 'watch', resource, namespace, fieldSelector });
    const target = this.#target(resource, namespace);
    const caller = this.#caller(options);
    const queue = new DeliveryQueue(caller.signal);
    const stop = await this.#api.watch(target, caller, watchSettings(options), queue);
    try {
      for (;;) {
        const delivery = queue.next() ?? (await queue.more());
        if (!delivery) return;
        switch (delivery.type) {
          case 'ERROR':
            throw new ApiStatusError(delivery.status);
          case 'BOOKMARK':
            yield { type: 'BOOKMARK', object: asTyped<T>(bookmark(target, delivery)) };
            break;
          default: {
            const view = this.#viewListed(target, delivery.record);
            yield { type: delivery.type, object: asTyped<T>(view instanceof Promise ? await view : view) };
          }
        }
      }
    } finally {
      stop();
    }
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions): Promise<T> {
    const { namespace } = object.metadata;
    this.#check?.({ verb: 'create', resource, namespace });
    const target = placed(this.#target(resource, namespace));
    const { definition } = target.resource;
    const body = { value: withTypeMeta(object, target), duplicateFields: [] };
    const review = this.#reviews.get(`${definition.group}/${definition.plural}`);
    if (review) {
      const question = decodeObject(body, target, this.#caller(options), 'Strict');
      return asTyped<T>(await review(question, target, this.#caller(options)));
    }
    const written = await this.#api.create(target, body, this.#caller(options), settingsOf(options));
    return this.#view<T>(target, written.object);
  }

  async update<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions): Promise<T> {
    const { namespace, name } = object.metadata;
    this.#check?.({ verb: 'update', resource, namespace, name, subresource: options.subresource });
    const target = this.#named(resource, keyOf(object));
    if (options.subresource !== undefined && options.subresource !== 'status') {
      const desired = { verb: 'update' as const, body: { value: clone(object), duplicateFields: [] } };
      return this.#callSubresource<T>(target, options.subresource, desired, options);
    }
    const body = { value: withTypeMeta(object, target), duplicateFields: [] };
    const written = await this.#api.update(
      target,
      options.subresource,
      body,
      this.#caller(options),
      settingsOf(options),
    );
    return this.#view<T>(target, written.object);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    kind: PatchKind,
    patch: JsonValue,
    options: WriteOptions,
  ): Promise<T> {
    const { namespace, name } = key;
    this.#check?.({ verb: 'patch', resource, namespace, name, subresource: options.subresource });
    const target = this.#named(resource, key);
    if (options.subresource !== undefined && options.subresource !== 'status') {
      const desired = { verb: 'patch' as const, body: undefined, patch: { kind, value: patch } };
      return this.#callSubresource<T>(target, options.subresource, desired, options);
    }
    const written = await this.#api.patch({
      target,
      subresource: options.subresource,
      kind,
      patch,
      duplicateFields: [],
      caller: this.#caller(options),
      settings: settingsOf(options),
    });
    return this.#view<T>(target, written.object);
  }

  async apply<T extends KubeObject>(
    resource: Resource<T>,
    object: Partial<T> & Pick<T, 'metadata'>,
    options: WriteOptions & { force?: boolean },
  ): Promise<T> {
    const { namespace, name } = object.metadata;
    this.#check?.({ verb: 'patch', resource, namespace, name, subresource: options.subresource });
    const target = this.#named(resource, keyOf(object));
    const written = await this.#api.apply({
      target,
      subresource: options.subresource,
      body: { value: withTypeMeta(asTyped<KubeObject>(asJson(object)), target), duplicateFields: [] },
      force: options.force ?? false,
      caller: this.#caller(options),
      settings: settingsOf(options),
    });
    return this.#view<T>(target, written.object);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    options: Partial<DeleteSettings> & Options = {},
  ): Promise<T | undefined> {
    this.#check?.({ verb: 'delete', resource, namespace: key.namespace, name: key.name });
    const target = this.#named(resource, key);
    const { signal: _signal, ...rest } = options;
    const result = await this.#api.delete(target, this.#caller(options), { ...rest, dryRun: options.dryRun ?? false });
    return result.gone ? undefined : this.#view<T>(target, result.object);
  }

  async deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: ListSettings & Partial<DeleteSettings> & Options & { namespace?: string },
  ): Promise<void> {
    const { namespace, fieldSelector, propagationPolicy, gracePeriodSeconds, preconditions, dryRun } = options;
    this.#check?.({ verb: 'deletecollection', resource, namespace, fieldSelector });
    const target = this.#target(resource, namespace);
    await this.#api.deleteCollection(target, this.#caller(options), listSettings(options), {
      dryRun: dryRun ?? false,
      ...(propagationPolicy && { propagationPolicy }),
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      ...(preconditions && { preconditions }),
    });
  }

  async createSubresource<T extends KubeObject, R extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    subresource: string,
    body: R,
    options: WriteOptions,
  ): Promise<R> {
    this.#check?.({ verb: 'create', resource, namespace: key.namespace, name: key.name, subresource });
    const desired = { verb: 'create' as const, body: { value: clone(body), duplicateFields: [] } };
    return this.#callSubresource<R>(this.#named(resource, key), subresource, desired, options);
  }

  async #callSubresource<R extends object>(
    target: NamedTarget,
    subresource: string,
    desired: Pick<SubresourceRequest, 'verb' | 'body' | 'patch'>,
    options: WriteOptions,
  ): Promise<R> {
    const { group, plural } = target.resource.definition;
    const scales = subresource === 'scale' && target.version.scale !== undefined;
    const handler = scales ? handleScale : this.#subresources.get(`${group}/${plural}/${subresource}`);
    if (!handler) throw statusError.pathNotFound();
    const answer = await handler({
      ...desired,
      context: this.#api.context,
      target,
      caller: this.#caller(options),
      settings: settingsOf(options),
      query: new URLSearchParams(),
    });
    if (answer.type === 'text' || answer.type === 'conversation') throw statusError.methodNotAllowed();
    return asTyped<R>(answer.type === 'value' ? answer.value : answer.written.object);
  }

  /** Objects that the client needs only by identity are not parsed. */
  #viewListed(target: Target, record: StoreRecord<StoredObject>): MaybePromise<KubeObject> {
    const name = nameOfKey(record.key);
    const { definition } = target.resource;
    if (!this.#wantsWhole || this.#wantsWhole(definition, name)) return viewRecord(target, record);
    const metadata: ObjectMeta = { name, resourceVersion: String(record.revision) };
    if (definition.namespaced) metadata.namespace = namespaceOfKey(record.key);
    record.value.addIdentityTo(metadata);
    return { apiVersion: target.apiVersion, kind: definition.kind, metadata };
  }

  #view<T>(target: Target, object: UnstructuredObject): MaybePromise<T> {
    return target.resource.convert(object, target.version.name) as MaybePromise<UnstructuredObject & T>;
  }

  #target(resource: Resource<unknown>, namespace: string | undefined): Target {
    const { group, version, plural } = resource;
    return this.#api.resolve(group, version, plural, resource.namespaced ? namespace || undefined : undefined);
  }

  #named(resource: Resource<unknown>, key: Key): NamedTarget {
    return { ...placed(this.#target(resource, key.namespace)), name: key.name };
  }

  #caller(options: Options): Caller {
    return { user: this.#user, userAgent: 'capstan', signal: options.signal ?? never, warn: ignoreWarning };
  }
}

/** A namespaced object requires a namespace; otherwise its key could match another object. */
function placed(target: Target): Target {
  if (target.namespace !== undefined || !target.resource.definition.namespaced) return target;
  throw statusError.badRequest('an empty namespace may not be set when a resource name is provided');
}

function keyOf(object: { metadata: { name?: string; namespace?: string } }): Key {
  const { name, namespace } = object.metadata;
  return { name: name ?? '', ...(namespace !== undefined && { namespace }) };
}

/** Returns a private copy with apiVersion and kind, which controllers may omit. */
function withTypeMeta(object: KubeObject, target: Target): unknown {
  return { ...clone(object), apiVersion: target.apiVersion, kind: target.resource.definition.kind };
}

function settingsOf(options: WriteOptions): WriteSettings {
  // Our controllers are typed, so an unknown field is a bug and not worth only a warning.
  return { dryRun: options.dryRun ?? false, fieldManager: options.fieldManager, fieldValidation: 'Strict' };
}

function listSettings(options: ListSettings): ListSettings {
  const { labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options;
  return {
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(limit !== undefined && { limit }),
    ...(options.continue !== undefined && { continue: options.continue }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(resourceVersionMatch !== undefined && { resourceVersionMatch }),
  };
}

function watchSettings(options: WatchSettings & Options & { namespace?: string }): WatchSettings {
  const { signal: _signal, namespace: _namespace, ...settings } = options;
  return settings;
}

function bookmark(target: Target, delivery: Extract<WatchDelivery, { type: 'BOOKMARK' }>): KubeObject {
  return {
    apiVersion: target.apiVersion,
    kind: target.resource.definition.kind,
    metadata: {
      resourceVersion: String(delivery.revision),
      ...(delivery.initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  };
}

/** Maximum backlog of an in-process watcher; beyond it the watch ends. */
const maxQueued = 100_000;

/** Queues pushed deliveries until the reader takes them. */
class DeliveryQueue implements WatchSink {
  #items: WatchDelivery[] = [];
  #position = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.#ended = true;
    else if (signal !== never) signal.addEventListener('abort', () => this.end(), { once: true });
  }

  deliver(deliveries: readonly WatchDelivery[]): void {
    if (this.#ended) return;
    for (const delivery of deliveries) this.#items.push(delivery);
    if (this.#items.length - this.#position > maxQueued) this.#ended = true;
    // A reader that is always slightly behind never empties the queue, so read items are removed in between.
    if (this.#position > 1000 && this.#position * 2 > this.#items.length) {
      this.#items.splice(0, this.#position);
      this.#position = 0;
    }
    this.#wake?.();
  }

  ready(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  next(): WatchDelivery | undefined {
    const next = this.#items[this.#position];
    if (next) this.#position++;
    return next;
  }

  /** Waits for the next delivery; undefined at the end. */
  async more(): Promise<WatchDelivery | undefined> {
    for (;;) {
      const next = this.next();
      if (next) return next;
      this.#items = [];
      this.#position = 0;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
