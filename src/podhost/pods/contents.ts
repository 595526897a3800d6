import { type ConfigMap, ConfigMaps, type Pod, type Secret, Secrets } from '../../api/index.ts';
import { configMapNames, secretNames } from '../../apiserver/index.ts';
import { formatKey, type Informer, type InformerFactory, type ObjectKey, objectKey } from '../../client/index.ts';
import { type KubeObject, must, type Resource } from '../../machinery/index.ts';
import { type Watch, watchMapped } from '../../runtime/index.ts';
import type { ContentsAtHand } from '../../simkube/index.ts';
import type { PodReferences } from './references.ts';

/** Secrets and ConfigMaps that Pods of the node use. */
export interface PodContents extends ContentsAtHand {
  /** watches that enqueue Pods when their contents change, if known before the first Pod exists */
  watches(references: PodReferences): readonly Watch[];
  /** enqueues Pods from now on, if no watches are known beforehand */
  start?(references: PodReferences, wake: (pod: ObjectKey) => void): void;
  /** keeps the contents of a Pod in the cache until it is released */
  hold(pod: Pod): void;
  /** takes the key of the Pod */
  release(pod: string): void;
}

/** Contents from shared caches of all objects. Must be called before the caches start. */
export function cachedContents(cache: InformerFactory): PodContents {
  const secrets = cache.informer(Secrets).lister;
  const configMaps = cache.informer(ConfigMaps).lister;
  return {
    secret: (key) => secrets.get(key),
    configMap: (key) => configMaps.get(key),
    watches: (references) => [
      watchMapped(Secrets, (secret) => references.podsOf('secret', secret)),
      watchMapped(ConfigMaps, (map) => references.podsOf('configmap', map)),
    ],
    hold: () => {},
    release: () => {},
  };
}

/** Contents that Pods of the node refer to, each watched by name, because a node may read no others. */
export function namedContents(cache: InformerFactory): PodContents {
  let changed: (kind: Kind, object: KubeObject) => void = () => {};
  const secrets = namedObjects(cache, Secrets, (object) => changed('secret', object));
  const configMaps = namedObjects(cache, ConfigMaps, (object) => changed('configmap', object));
  return {
    secret: (key) => secrets.get(key),
    configMap: (key) => configMaps.get(key),
    watches: () => [],
    start(references, wake) {
      changed = (kind, object) => {
        for (const pod of references.podsOf(kind, object)) wake(pod);
      };
    },
    hold(pod) {
      const holder = formatKey(objectKey(pod));
      const namespace = must(pod.metadata.namespace, 'the namespace of a Pod');
      const spec: Parameters<typeof secretNames>[0] = pod.spec as object;
      secrets.hold(holder, namespace, secretNames(spec));
      configMaps.hold(holder, namespace, configMapNames(spec));
    },
    release(holder) {
      secrets.release(holder);
      configMaps.release(holder);
    },
  };
}

type Kind = 'secret' | 'configmap';

interface NamedObjects<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  /** replaces what the same holder held before */
  hold(holder: string, namespace: string, names: readonly string[]): void;
  release(holder: string): void;
}

function namedObjects<T extends Secret | ConfigMap>(
  cache: InformerFactory,
  resource: Resource<T>,
  changed: (object: T) => void,
): NamedObjects<T> {
  const held = new Map<string, { informer: Informer<T>; holders: Set<string> }>();
  const byHolder = new Map<string, ReadonlySet<string>>();

  const open = (key: string, namespace: string, name: string): { informer: Informer<T>; holders: Set<string> } => {
    const informer = cache.informer(resource, { namespace, fieldSelector: `metadata.name=${name}` });
    informer.addHandler({ onAdd: changed, onUpdate: changed, onDelete: changed });
    const entry = { informer, holders: new Set<string>() };
    held.set(key, entry);
    return entry;
  };
  const drop = (key: string, holder: string): void => {
    const entry = held.get(key);
    entry?.holders.delete(holder);
    if (!entry || entry.holders.size > 0) return;
    held.delete(key);
    cache.forget(entry.informer);
  };

  return {
    get: (key) => held.get(formatKey(key))?.informer.lister.get(key),
    hold(holder, namespace, names) {
      const before = byHolder.get(holder);
      const keys = new Set<string>();
      for (const name of names) {
        const key = formatKey({ namespace, name });
        keys.add(key);
        (held.get(key) ?? open(key, namespace, name)).holders.add(holder);
      }
      byHolder.set(holder, keys);
      for (const key of before ?? []) if (!keys.has(key)) drop(key, holder);
    },
    release(holder) {
      for (const key of byHolder.get(holder) ?? []) drop(key, holder);
      byHolder.delete(holder);
    },
  };
}
