import { type KubeObject, must } from '../../machinery/index.ts';
import { formatKey, keyOf } from '../object-key.ts';
import type { ObjectKey } from '../types.ts';
import type { Indexer, Lister } from './types.ts';

interface Index<T extends KubeObject> {
  indexer: Indexer<T>;
  keys: Map<string, Set<string>>;
}

const namespaceIndex = ' namespace';

/** Indexed objects by key, which readers of an informer use. */
export class ObjectStore<T extends KubeObject> implements Lister<T> {
  #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor() {
    this.addIndexer(namespaceIndex, (object) => [object.metadata.namespace ?? '']);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(formatKey(key));
  }

  getByKey(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  list(options: { namespace?: string; filter?: (object: T) => boolean } = {}): T[] {
    const { namespace, filter } = options;
    const objects = namespace === undefined ? [...this.#objects.values()] : this.byIndex(namespaceIndex, namespace);
    return filter ? objects.filter(filter) : objects;
  }

  byIndex(name: string, value: string): T[] {
    const found: T[] = [];
    for (const key of this.#index(name).keys.get(value) ?? [])
      found.push(must(this.#objects.get(key), 'an indexed object'));
    return found;
  }

  countByIndex(name: string, value: string): number {
    return this.#index(name).keys.get(value)?.size ?? 0;
  }

  indexValues(name: string): Iterable<string> {
    return this.#index(name).keys.keys();
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (!index) throw new TypeError(`the cache has no index "${name}"`);
    return index;
  }

  addIndexer(name: string, indexer: Indexer<T>): void {
    const index: Index<T> = { indexer, keys: new Map() };
    for (const [key, object] of this.#objects) addTo(index, key, object);
    this.#indexes.set(name, index);
  }

  /** Returns the replaced object. */
  put(object: T): T | undefined {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (old !== undefined) {
        const before = index.indexer(old);
        const after = index.indexer(object);
        if (sameValues(before, after)) continue;
        removeFrom(index, key, before);
      }
      addTo(index, key, object);
    }
    return old;
  }

  remove(key: string): T | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) removeFrom(index, key, index.indexer(old));
    return old;
  }

  /** Replaces the content atomically and returns the old content. */
  replace(objects: Map<string, T>): Map<string, T> {
    const old = this.#objects;
    this.#objects = objects;
    for (const index of this.#indexes.values()) {
      index.keys = new Map();
      for (const [key, object] of objects) addTo(index, key, object);
    }
    return old;
  }
}

function addTo<T extends KubeObject>(index: Index<T>, key: string, object: T): void {
  for (const value of index.indexer(object)) {
    const keys = index.keys.get(value);
    if (keys) keys.add(key);
    else index.keys.set(value, new Set([key]));
  }
}

function removeFrom<T extends KubeObject>(index: Index<T>, key: string, values: readonly string[]): void {
  for (const value of values) {
    const keys = index.keys.get(value);
    if (!keys) continue;
    keys.delete(key);
    if (keys.size === 0) index.keys.delete(value);
  }
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
