import { builtinDefinitions, MachineDeployments, MachineSets, ownDefinitions } from '../../../api/index.ts';
import {
  type Indexer,
  type Informer,
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
  type Random,
  type Resource,
  type ResourceDefinition,
  seededRandom,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { nullLogger, type ReconcileContext } from '../../../runtime/index.ts';
import type { ContractKind } from '../contract-resolver.ts';
import type { ExternalObjects, Follower } from '../external-objects.ts';
import { controllerOf, isControlledBy } from '../ownership.ts';

/** Objects in memory for dry runs of controllers. */
export interface RehearsedObjects {
  readonly client: MemoryClient;
  /** always in sync with the client */
  readonly cache: InformerFactory & ReconcileContext['cache'];
  readonly externals: ExternalObjects;
  readonly clock: ManualClock;
  readonly context: ReconcileContext;
  /** random texts used in names; a real run yields others */
  readonly drawn: readonly string[];
  /** stores an object as it is, in the version that the controllers read */
  seed(object: UnstructuredObject): Promise<void>;
  /** undefined for unknown kinds */
  resourceOf(object: UnstructuredObject): Resource<UnstructuredObject> | undefined;
  /** names of sets of new deployments, which depend on a uid that does not exist yet */
  newSetNames(): string[];
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>): T[];
}

export interface RehearsedObjectsOptions {
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export function createRehearsedObjects({ nowMs, signal }: RehearsedObjectsOptions): RehearsedObjects {
  const clock = new ManualClock(nowMs);
  const drawn: string[] = [];
  const seeded = new Set<string>();
  const random = drawing(drawn);
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
    drawn,
    async seed(object) {
      const { group, version } = parseApiVersion(object.apiVersion);
      const { uid } = object.metadata;
      if (uid !== undefined) seeded.add(uid);
      const definition = definitionOf({ apiGroup: group, kind: object.kind });
      if (!definition) throw new Error(`kind ${object.kind} of group ${group} is not known here`);
      const { convert, storageVersion } = definition;
      const stored = convert && version !== storageVersion ? await convert(object, storageVersion) : object;
      client.seed(resourceOf(definition), stored);
    },
    resourceOf({ apiVersion, kind }) {
      const reference = { apiGroup: parseApiVersion(apiVersion).group, kind };
      return definitionOf(reference) ? kindOf(reference).resource : undefined;
    },
    newSetNames() {
      const deployments = new Map(client.stored(MachineDeployments).map((one) => [one.metadata.uid, one]));
      return client.stored(MachineSets).flatMap((set) => {
        const owner = controllerOf(set);
        return owner && deployments.has(owner.uid) && !seeded.has(owner.uid) ? [set.metadata.name ?? ''] : [];
      });
    },
    get: (resource, key) => client.peek(resource, key),
    list: (resource) => client.stored(resource),
  };
}

/** No letter of it occurs in real random names. */
const rehearsedAlphabet = 'aeiou013';

/** Draws random texts that are recognizable and never repeat. */
function drawing(drawn: string[]): Random {
  const seeded = seededRandom(1);
  return {
    next: () => seeded.next(),
    uuid: () => seeded.uuid(),
    text(length) {
      let rest = drawn.length;
      let text = '';
      for (let index = 0; index < length; index++) {
        text = `${rehearsedAlphabet[rest % rehearsedAlphabet.length]}${text}`;
        rest = Math.floor(rest / rehearsedAlphabet.length);
      }
      drawn.push(text);
      return text;
    },
  };
}

/** A cache directly on the store, without delay. */
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

const definitionOf = ({ apiGroup, kind }: KindReference): ResourceDefinition | undefined =>
  [...ownDefinitions, ...builtinDefinitions].find((one) => one.group === apiGroup && one.kind === kind);

const resourceOf = ({
  group,
  storageVersion,
  kind,
  plural,
  namespaced,
}: ResourceDefinition): ContractKind['resource'] => ({
  group,
  version: storageVersion,
  kind,
  plural,
  namespaced,
});

/** Resolves only known kinds; a dry run creates nothing of other providers. */
function kindOf(reference: KindReference): ContractKind {
  const definition = definitionOf(reference);
  if (definition) return { resource: resourceOf(definition), contract: 'v1beta2' };
  throw new Error(`kind ${reference.kind} of group ${reference.apiGroup} is not known here`);
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
