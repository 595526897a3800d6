import { ownDefinitions } from '../../../api/index.ts';
import {
  type Informer,
  type Indexer,
  type InformerFactory,
  type Lister,
  type MemoryClient,
  memoryClient,
  type ObjectKey,
  resourceId,
} from '../../../client/index.ts';
import {
  asTyped,
  asUnstructured,
  isNotFound,
  type KubeObject,
  ManualClock,
  parseApiVersion,
  type Resource,
  seededRandom,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { nullLogger, type ReconcileContext } from '../../../runtime/index.ts';
import type { ContractKind } from '../contract-resolver.ts';
import type { ExternalObjects, Follower } from '../external-objects.ts';
import { isControlledBy } from '../ownership.ts';

/** Objects in memory, for controllers that are to show what they would do with them. */
export interface RehearsedObjects {
  readonly client: MemoryClient;
  /** never late, and filled with what the client has */
  readonly cache: InformerFactory & ReconcileContext['cache'];
  readonly externals: ExternalObjects;
  readonly clock: ManualClock;
  readonly context: ReconcileContext;
  /** puts an object in as it is, in the version the controllers read it */
  seed(object: UnstructuredObject): Promise<void>;
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>): T[];
}

export interface RehearsedObjectsOptions {
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export function createRehearsedObjects({ nowMs, signal }: RehearsedObjectsOptions): RehearsedObjects {
  const clock = new ManualClock(nowMs);
  const random = seededRandom(1);
  const client = memoryClient({ clock, random });
  const cache = cacheOver(client);
  const externals = externalsOver(client);
  const context: ReconcileContext = {
    client,
    cache,
    clock,
    random,
    signal,
    log: nullLogger,
    events: { event: () => {} },
  };
  return {
    client,
    cache,
    externals,
    clock,
    context,
    async seed(object) {
      const { group, version } = parseApiVersion(object.apiVersion);
      const kind = kindOf({ apiGroup: group, kind: object.kind });
      const definition = definitionOf({ apiGroup: group, kind: object.kind });
      const stored =
        version === kind.resource.version || !definition?.convert
          ? object
          : await definition.convert(object, kind.resource.version);
      client.seed(kind.resource, stored);
    },
    get: (resource, key) => client.peek(resource, key),
    list: (resource) => client.stored(resource),
  };
}

/** A cache that is the store itself: nothing has to arrive in it. */
function cacheOver(client: MemoryClient): RehearsedObjects['cache'] {
  const indexers = new Map<string, Map<string, Indexer<KubeObject>>>();
  const indexersOf = (resource: Resource): Map<string, Indexer<KubeObject>> => {
    const id = resourceId(resource);
    const known = indexers.get(id) ?? new Map<string, Indexer<KubeObject>>();
    indexers.set(id, known);
    return known;
  };

  const listerOf = <T extends KubeObject>(resource: Resource<T>): Lister<T> => {
    const all = (): T[] => client.stored(resource);
    const byIndex = (index: string, value: string): T[] => {
      const indexer = indexersOf(resource).get(index);
      if (!indexer) throw new Error(`no index "${index}" of ${resource.plural}`);
      return all().filter((object) => indexer(object).includes(value));
    };
    return {
      get: (key) => client.peek(resource, key),
      list: ({ namespace, filter } = {}) =>
        all().filter(
          (object) =>
            (namespace === undefined || object.metadata.namespace === namespace) && (filter?.(object) ?? true),
        ),
      byIndex,
      countByIndex: (index, value) => byIndex(index, value).length,
      indexValues: (index) => new Set(all().flatMap((object) => indexersOf(resource).get(index)?.(object) ?? [])),
      get size() {
        return all().length;
      },
    };
  };

  const informerOf = <T extends KubeObject>(resource: Resource<T>): Informer<T> => ({
    resource,
    namespace: undefined,
    labelSelector: undefined,
    fieldSelector: undefined,
    lister: listerOf(resource),
    run: async () => {},
    hasSynced: () => true,
    waitForSync: async () => {},
    addHandler: () => () => {},
    addIndexer: (name, indexer) => {
      indexersOf(resource).set(name, (object) => indexer(asTyped<T>(object)));
    },
    resourceVersion: () => String(client.revision),
    waitForResourceVersion: async () => true,
    lastError: () => undefined,
  });
  return {
    lister: (resource) => listerOf(resource),
    informer: (resource) => informerOf(resource),
    forget: () => {},
    informers: () => [],
    run: async () => {},
    waitForSync: async () => {},
  };
}

type KindReference = Parameters<Follower['kindOf']>[0];

const definitionOf = ({ apiGroup, kind }: KindReference) =>
  ownDefinitions.find((one) => one.group === apiGroup && one.kind === kind);

/** Kinds of others are taken in no version at all: nothing of them is made in a rehearsal. */
function kindOf({ apiGroup, kind }: KindReference): ContractKind {
  const definition = definitionOf({ apiGroup, kind });
  if (!definition) throw new Error(`kind ${kind} of group ${apiGroup} is not known here`);
  const { group, plural, namespaced, storageVersion } = definition;
  return { resource: { group, version: storageVersion, kind, plural, namespaced }, contract: 'v1beta2' };
}

function externalsOver(client: MemoryClient): ExternalObjects {
  const follower: Follower = {
    source: { start: () => {} },
    kindOf: async (reference) => kindOf(reference),
    async get(reference, namespace) {
      const kind = kindOf(reference);
      try {
        const object = await client.get(kind.resource, { namespace, name: reference.name });
        return { object, contract: kind.contract };
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async controlledBy(owner, reference) {
      return client
        .stored(kindOf(reference).resource)
        .map(asUnstructured)
        .filter((object) => isControlledBy(object, owner));
    },
  };
  return { follow: () => follower };
}
