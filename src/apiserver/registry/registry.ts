import {
  compareVersionPriority,
  formatApiVersion,
  must,
  type ResourceDefinition,
  type VersionDefinition,
} from '../../machinery/index.ts';
import { RegisteredResource } from './registered-resource.ts';

/** A kind in one of its served versions, as named by a URL. */
export interface ServedResource {
  resource: RegisteredResource;
  version: VersionDefinition;
  apiVersion: string;
}

/** All kinds that a server currently serves. Custom kinds change with their CustomResourceDefinitions. */
export class Registry {
  readonly #resources = new Map<string, RegisteredResource>();
  readonly #served = new Map<string, ServedResource>();
  readonly #listeners = new Set<() => void>();
  #groups: ReadonlyMap<string, readonly string[]> | undefined;
  /** increases with every change; part of cache keys and ETags */
  generation = 0;

  set(definition: ResourceDefinition, schemaRevision = 0): RegisteredResource {
    const key = `${definition.group}/${definition.plural}`;
    const resource = new RegisteredResource(definition, schemaRevision);
    this.#forget(key);
    this.#resources.set(key, resource);
    for (const version of definition.versions) {
      if (!version.served) continue;
      this.#served.set(`${definition.group}/${version.name}/${definition.plural}`, {
        resource,
        version,
        apiVersion: formatApiVersion(definition.group, version.name),
      });
    }
    this.#changed();
    return resource;
  }

  remove(group: string, plural: string): void {
    if (this.#forget(`${group}/${plural}`)) this.#changed();
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#served.get(`${group}/${version}/${plural}`);
  }

  get(group: string, plural: string): RegisteredResource | undefined {
    return this.#resources.get(`${group}/${plural}`);
  }

  all(): IterableIterator<RegisteredResource> {
    return this.#resources.values();
  }

  /**
   * Returns the served versions per group, most preferred first. The order of groups is stable, with the core group
   * first.
   */
  groups(): ReadonlyMap<string, readonly string[]> {
    this.#groups ??= this.#computeGroups();
    return this.#groups;
  }

  #computeGroups(): Map<string, string[]> {
    const versions = new Map<string, Set<string>>();
    for (const { definition } of this.#resources.values()) {
      let set = versions.get(definition.group);
      if (!set) {
        set = new Set();
        versions.set(definition.group, set);
      }
      for (const version of definition.versions) if (version.served) set.add(version.name);
    }
    const result = new Map<string, string[]>();
    for (const group of [...versions.keys()].sort()) {
      const names = [...must(versions.get(group), 'versions.get(group)')].sort(compareVersionPriority);
      if (names.length > 0) result.set(group, names);
    }
    return result;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #forget(key: string): boolean {
    const known = this.#resources.get(key);
    if (!known) return false;
    this.#resources.delete(key);
    for (const [servedKey, served] of this.#served) if (served.resource === known) this.#served.delete(servedKey);
    return true;
  }

  #changed(): void {
    this.generation++;
    this.#groups = undefined;
    for (const listener of this.#listeners) listener();
  }
}
