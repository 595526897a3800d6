import type { Resource } from '../../machinery/index.ts';
import type { Registry } from './registry.ts';

const neededVerbs = ['list', 'watch', 'delete'];

/** Source of one version of each kind that can be watched, for controllers that handle objects of every kind. */
export interface FollowableResources {
  listResources(): Resource[];
  /** calls back after the list has changed; returns a function that unsubscribes */
  onChange(callback: () => void): () => void;
}

export function followableResources(registry: Registry): FollowableResources {
  return {
    listResources: () => {
      const resources: Resource[] = [];
      for (const { definition } of registry.all()) {
        const version = definition.versions.find(({ served }) => served);
        const verbs: readonly string[] = definition.verbs;
        if (!version || !neededVerbs.every((verb) => verbs.includes(verb))) continue;
        const { group, kind, plural, namespaced } = definition;
        resources.push({ group, version: version.name, kind, plural, namespaced });
      }
      return resources;
    },
    onChange: (callback) => registry.onChange(callback),
  };
}
