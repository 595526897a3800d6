import type { ContractReference } from '../../api/index.ts';
import {
  type Client,
  formatKey,
  type Informer,
  type InformerFactory,
  type ObjectKey,
  resourceId,
} from '../../client/index.ts';
import {
  deepEqual,
  isNotFound,
  type JsonObject,
  type KubeObject,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { changedBesidesStatus, type ExternalSource } from '../../runtime/index.ts';
import type { ProviderObject } from './contract.ts';
import type { ContractKind, ContractResolver } from './contract-resolver.ts';
import { controllerOf } from './ownership.ts';

const controllerIndex = 'controller';

/** Reads provider objects by reference, and enqueues the objects that refer to them. */
export interface ExternalObjects {
  /** one per controller; `keysOf` maps a provider object to the controller's keys */
  follow(keysOf: (object: UnstructuredObject) => readonly ObjectKey[]): Follower;
}

export interface Follower {
  /** must be a source of the controller */
  readonly source: ExternalSource;
  /**
   * Returns the object with its contract version; undefined if it does not exist, or the cache does not show it and
   * nobody else is to be asked. Throws ContractError.
   */
  get(
    reference: ContractReference,
    namespace: string,
    options: { client: Client; signal?: AbortSignal; onlyCached?: boolean },
  ): Promise<ProviderObject | undefined>;
  /** objects of a kind controlled by an owner */
  controlledBy(
    owner: KubeObject,
    reference: Pick<ContractReference, 'apiGroup' | 'kind'>,
    options: { client: Client; signal?: AbortSignal },
  ): Promise<UnstructuredObject[]>;
  kindOf(reference: Pick<ContractReference, 'apiGroup' | 'kind'>, signal?: AbortSignal): Promise<ContractKind>;
}

export function createExternalObjects(options: {
  cache: InformerFactory;
  contracts: ContractResolver;
}): ExternalObjects {
  const { cache, contracts } = options;
  return {
    follow(keysOf) {
      const followed = new Map<string, Informer<UnstructuredObject>>();
      const removers: (() => void)[] = [];
      let enqueue: ((key: ObjectKey) => void) | undefined;
      let enqueuePatiently: ((key: ObjectKey) => void) | undefined;

      const listen = (informer: Informer<UnstructuredObject>): void => {
        const wake = (object: UnstructuredObject): void => {
          for (const key of keysOf(object)) enqueue?.(key);
        };
        const tell = (object: UnstructuredObject): void => {
          for (const key of keysOf(object)) enqueuePatiently?.(key);
        };
        removers.push(
          informer.addHandler({
            // also for objects of the initial list: they may have changed since the referring object was reconciled
            onAdd: wake,
            onUpdate: (object, old) => {
              if (object.metadata.resourceVersion === old.metadata.resourceVersion) return;
              if (isStep(object, old)) wake(object);
              else tell(object);
            },
            onDelete: wake,
          }),
        );
      };
      const informerOf = (kind: ContractKind): Informer<UnstructuredObject> => {
        const id = resourceId(kind.resource);
        const known = followed.get(id);
        if (known) return known;
        const informer = cache.informer(kind.resource);
        informer.addIndexer(controllerIndex, (object) => {
          const owner = controllerOf(object);
          return owner ? [owner.uid] : [];
        });
        followed.set(id, informer);
        if (enqueue) listen(informer);
        return informer;
      };

      return {
        source: {
          start({ signal, ...queue }) {
            ({ enqueue, enqueuePatiently } = queue);
            for (const informer of followed.values()) listen(informer);
            signal.addEventListener(
              'abort',
              () => {
                for (const remove of removers.splice(0)) remove();
                enqueue = undefined;
                enqueuePatiently = undefined;
              },
              { once: true },
            );
          },
        },
        kindOf: ({ apiGroup, kind }, signal) => contracts.resolve(apiGroup, kind, signal),
        async get(reference, namespace, { client, signal, onlyCached = false }) {
          const kind = await contracts.resolve(reference.apiGroup, reference.kind, signal);
          const key = kind.resource.namespaced ? { namespace, name: reference.name } : { name: reference.name };
          const informer = informerOf(kind);
          const cached = informer.hasSynced() ? informer.lister.get(key) : undefined;
          if (onlyCached && !cached) return undefined;
          if (cached) return { object: cached, contract: kind.contract };
          // the cache may be stale, and "not found" can have irreversible consequences, so ask the API
          try {
            const object = await client.get(kind.resource, key, signal ? { signal } : {});
            return { object, contract: kind.contract };
          } catch (error) {
            if (isNotFound(error)) return undefined;
            throw error;
          }
        },
        async controlledBy(owner, reference, { client, signal }) {
          const kind = await contracts.resolve(reference.apiGroup, reference.kind, signal);
          const informer = informerOf(kind);
          const uid = owner.metadata.uid ?? '';
          if (informer.hasSynced()) return informer.lister.byIndex(controllerIndex, uid);
          const { namespace } = owner.metadata;
          const list = await client.list(kind.resource, {
            ...(namespace !== undefined && { namespace }),
            ...(signal && { signal }),
          });
          return list.items.filter((object) => controllerOf(object)?.uid === uid);
        },
      };
    },
  };
}

/** Status fields that contracts wait for; changes of other fields get low priority. */
const awaited = ['initialization', 'initialized', 'ready', 'dataSecretName', 'failureReason', 'failureMessage'];

/** Tells whether a change may unblock the objects that refer to it. */
function isStep(object: UnstructuredObject, old: UnstructuredObject): boolean {
  if (changedBesidesStatus({ type: 'update', object, old })) return true;
  const status = (of: UnstructuredObject, field: string): unknown => (of as { status?: JsonObject }).status?.[field];
  return awaited.some((field) => !deepEqual(status(object, field), status(old, field)));
}

/** Index value of objects with this reference. */
export function referenceIndexValue(reference: ContractReference, namespace: string): string {
  return `${reference.kind}.${reference.apiGroup}/${namespace}/${reference.name}`;
}

/** Same for the referenced object. */
export function objectIndexValue(object: KubeObject): string {
  const slash = object.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
  return `${object.kind}.${group}/${formatKey({ namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' })}`;
}
