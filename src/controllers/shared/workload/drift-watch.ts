import {
  type Client,
  createInformer,
  dropManagedFields,
  formatKey,
  type Informer,
  isAtLeast,
  type ObjectKey,
  objectKey,
  resourceId,
} from '../../../client/index.ts';
import type { Clock, KubeObject, Random, Resource, UnstructuredObject } from '../../../machinery/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';
import { projectionOf } from './projection.ts';

/** An object in a workload cluster to keep as it was applied. */
export interface AppliedObject {
  readonly resource: Resource<UnstructuredObject>;
  readonly desired: UnstructuredObject;
  /** result of the last write, in the fields of `desired` */
  readonly expected: string;
  readonly resourceVersion: string;
}

/** Detects changes and deletions of applied objects by watches, without polling. */
export interface DriftWatch {
  /** sets the objects of one source in a cluster; replaces earlier ones */
  follow(cluster: ObjectKey, client: Client, source: string, objects: readonly AppliedObject[]): void;
  /** whether a source is followed through this client without drift */
  isSettled(cluster: ObjectKey, client: Client, source: string): boolean;
  isFollowed(cluster: ObjectKey, client: Client, source: string): boolean;
  /** drops all sources of a cluster except these; with none left, its watches */
  keepOnly(cluster: ObjectKey, sources: ReadonlySet<string>): void;
  /** true if some objects are not watched, because of too many kinds and namespaces */
  isPartial(cluster: ObjectKey): boolean;
  /** enqueues clusters */
  readonly source: ExternalSource;
}

/** Each watch takes a connection of the workload API. A network plugin with all its kinds needs about a dozen. */
const maxWatches = 24;
/** Limit per kind and namespace. */
const maxObjects = 10_000;

interface Scope {
  readonly informer: Informer<UnstructuredObject>;
  readonly stop: AbortController;
}

interface Followed extends AppliedObject {
  readonly source: string;
}

interface Entry {
  readonly client: Client;
  readonly sources: Map<string, readonly AppliedObject[]>;
  readonly scopes: Map<string, Scope>;
  readonly drifted: Set<string>;
  /** by resource and name */
  objects: ReadonlyMap<string, readonly Followed[]>;
  isPartial: boolean;
}

export function createDriftWatch(options: { clock: Clock; random: Random }): DriftWatch {
  const entries = new Map<string, Entry>();
  let wake: (cluster: ObjectKey) => void = () => {};
  let isStopped = false;

  /** objects reduced to their name, whose content is unknown */
  const slim = new WeakSet<UnstructuredObject>();
  const nameOf = (object: UnstructuredObject): UnstructuredObject => {
    const name = nameOnly(object);
    slim.add(name);
    return name;
  };

  const close = (entry: Entry): void => {
    for (const { stop } of entry.scopes.values()) stop.abort();
    entry.scopes.clear();
  };

  const drift = (cluster: ObjectKey, entry: Entry, sources: Iterable<string>): void => {
    for (const source of sources) entry.drifted.add(source);
    wake(cluster);
  };

  const look = (cluster: ObjectKey, entry: Entry, id: string, live: UnstructuredObject | undefined): void => {
    if (live && slim.has(live)) return;
    const changed = (entry.objects.get(id) ?? []).filter(
      ({ desired, expected, resourceVersion }) =>
        live === undefined ||
        live.metadata.deletionTimestamp !== undefined ||
        (isAtLeast(live.metadata.resourceVersion ?? '', resourceVersion) && projectionOf(live, desired) !== expected),
    );
    if (changed.length > 0) drift(cluster, entry, new Set(changed.map(({ source }) => source)));
  };

  const open = (cluster: ObjectKey, entry: Entry, scope: WantedScope): Scope => {
    const { resource, namespace, name } = scope;
    const idOf = (object: KubeObject): string => objectId(resource, objectKey(object));
    const stop = new AbortController();
    const informer = createInformer<UnstructuredObject>({
      client: entry.client,
      resource,
      clock: options.clock,
      random: options.random,
      maxObjects,
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
      // drop the content of objects that are not followed
      transform: (object) => (entry.objects.has(idOf(object)) ? dropManagedFields(object) : nameOf(object)),
    });
    informer.addHandler({
      onAdd: (object) => look(cluster, entry, idOf(object), object),
      onUpdate: (object) => look(cluster, entry, idOf(object), object),
      onDelete: (object) => look(cluster, entry, idOf(object), undefined),
    });
    void informer.run(stop.signal);
    informer.waitForSync(stop.signal).then(
      () => {
        // deleted before the watch began
        for (const [id, [one]] of entry.objects) {
          if (!one || scopeOf(one) !== scopeId(resource, namespace)) continue;
          if (name !== undefined && one.desired.metadata.name !== name) continue;
          if (!informer.lister.get(objectKey(one.desired))) look(cluster, entry, id, undefined);
        }
      },
      () => {},
    );
    return { informer, stop };
  };

  const arrange = (cluster: ObjectKey, entry: Entry): void => {
    const objects = new Map<string, Followed[]>();
    for (const [source, applied] of entry.sources) {
      for (const one of applied) {
        const id = objectId(one.resource, objectKey(one.desired));
        objects.set(id, [...(objects.get(id) ?? []), { ...one, source }]);
      }
    }
    entry.objects = objects;
    const wanted = wantedScopes(objects);
    entry.isPartial = wanted.size > maxWatches;
    const kept = new Map([...wanted].slice(0, maxWatches));
    for (const [id, { stop }] of entry.scopes) {
      if (kept.has(id)) continue;
      stop.abort();
      entry.scopes.delete(id);
    }
    for (const [id, scope] of kept) if (!entry.scopes.has(id)) entry.scopes.set(id, open(cluster, entry, scope));
  };

  return {
    follow(cluster, client, source, applied) {
      const id = formatKey(cluster);
      let entry = entries.get(id);
      if (isStopped) return;
      if (entry && entry.client !== client) {
        close(entry);
        entry = undefined;
      }
      entry ??= {
        client,
        sources: new Map(),
        scopes: new Map(),
        drifted: new Set(),
        objects: new Map(),
        isPartial: false,
      };
      entries.set(id, entry);
      entry.sources.set(source, applied);
      entry.drifted.delete(source);
      arrange(cluster, entry);
      // changes between the last write and now
      for (const { resource, desired } of applied) {
        const key = objectKey(desired);
        for (const { informer } of entry.scopes.values()) {
          if (resourceId(informer.resource) !== resourceId(resource) || !informer.hasSynced()) continue;
          const live = informer.lister.get(key);
          if (live) look(cluster, entry, objectId(resource, key), live);
        }
      }
    },
    isSettled(cluster, client, source) {
      const entry = entries.get(formatKey(cluster));
      return entry?.client === client && entry.sources.has(source) && !entry.drifted.has(source);
    },
    isFollowed(cluster, client, source) {
      const entry = entries.get(formatKey(cluster));
      return entry?.client === client && entry.sources.has(source);
    },
    keepOnly(cluster, sources) {
      const id = formatKey(cluster);
      const entry = entries.get(id);
      if (!entry) return;
      const gone = [...entry.sources.keys()].filter((source) => !sources.has(source));
      for (const source of gone) {
        entry.sources.delete(source);
        entry.drifted.delete(source);
      }
      if (entry.sources.size === 0) {
        close(entry);
        entries.delete(id);
      } else if (gone.length > 0) arrange(cluster, entry);
    },
    isPartial: (cluster) => entries.get(formatKey(cluster))?.isPartial === true,
    source: {
      start({ enqueue, signal }) {
        wake = enqueue;
        signal.addEventListener(
          'abort',
          () => {
            isStopped = true;
            wake = () => {};
            for (const entry of entries.values()) close(entry);
            entries.clear();
          },
          { once: true },
        );
      },
    },
  };
}

interface WantedScope {
  readonly resource: Resource<UnstructuredObject>;
  readonly namespace: string | undefined;
  /** with a single object in a namespace, only that one is watched */
  readonly name: string | undefined;
}

function wantedScopes(objects: ReadonlyMap<string, readonly Followed[]>): Map<string, WantedScope> {
  const names = new Map<string, { one: Followed; names: Set<string> }>();
  for (const [one] of objects.values()) {
    if (!one) continue;
    const id = scopeOf(one);
    const group = names.get(id) ?? { one, names: new Set() };
    group.names.add(one.desired.metadata.name ?? '');
    names.set(id, group);
  }
  const scopes = new Map<string, WantedScope>();
  for (const [id, { one, names: all }] of names) {
    const [name] = all.size === 1 ? all : [];
    const { resource, desired } = one;
    scopes.set(`${id} ${name ?? ''}`, { resource, namespace: desired.metadata.namespace, name });
  }
  return scopes;
}

const scopeId = (resource: Resource, namespace: string | undefined): string =>
  `${resourceId(resource)} ${namespace ?? ''}`;
const scopeOf = ({ resource, desired }: AppliedObject): string => scopeId(resource, desired.metadata.namespace);
const objectId = (resource: Resource, key: ObjectKey): string => `${resourceId(resource)} ${formatKey(key)}`;

function nameOnly({ apiVersion, kind, metadata }: UnstructuredObject): UnstructuredObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}
