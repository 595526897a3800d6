import { createHash } from 'node:crypto';
import {
  compareVersionPriority,
  formatApiVersion,
  type JsonObject,
  must,
  type ResourceDefinition,
  type VersionDefinition,
} from '../../machinery/index.ts';
import type { Registry } from '../registry/index.ts';

interface DiscoveredSubresource {
  name: string;
  verbs: readonly string[];
  responseKind: { group: string; version: string; kind: string };
}

const statusVerbs = ['get', 'patch', 'update'] as const;
const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

function subresourcesOf(definition: ResourceDefinition, version: VersionDefinition): DiscoveredSubresource[] {
  const list: DiscoveredSubresource[] = [];
  const own = { group: definition.group, version: version.name, kind: definition.kind };
  if (version.hasStatus) list.push({ name: 'status', verbs: statusVerbs, responseKind: own });
  if (version.scale) list.push({ name: 'scale', verbs: statusVerbs, responseKind: scaleKind });
  for (const subresource of definition.subresources) {
    list.push({
      name: subresource.name,
      verbs: subresource.verbs,
      responseKind: { group: subresource.group, version: subresource.version, kind: subresource.kind },
    });
  }
  return list.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Discovery documents, built once per state of the registry. */
export class Discovery {
  readonly #registry: Registry;
  #generation = -1;
  readonly #cache = new Map<string, JsonObject>();
  readonly #etags = new Map<string, string>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Returns `/api` (core group) or `/apis` (all other groups) in the aggregated form. */
  aggregated(core: boolean, version: 'v2' | 'v2beta1'): JsonObject {
    return this.#cached(`aggregated ${core} ${version}`, () => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: this.#groups()
        .filter((group) => (group === '') === core)
        .map((group) => this.#aggregatedGroup(group)),
    }));
  }

  etag(core: boolean, version: 'v2' | 'v2beta1'): string {
    const document = this.aggregated(core, version);
    const key = `aggregated ${core} ${version}`;
    let etag = this.#etags.get(key);
    if (!etag) {
      etag = `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"`;
      this.#etags.set(key, etag);
    }
    return etag;
  }

  /** legacy `/api` */
  apiVersions(serverAddress: string): JsonObject {
    return {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
    };
  }

  /** legacy `/apis` */
  groupList(): JsonObject {
    return this.#cached('groups', () => ({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: this.#groups()
        .filter((group) => group !== '')
        .map((group) => this.#legacyGroup(group)),
    }));
  }

  /** `/apis/<group>`; undefined if the group is not served */
  group(group: string): JsonObject | undefined {
    if (group === '' || !this.#registry.groups().has(group)) return undefined;
    return { kind: 'APIGroup', apiVersion: 'v1', ...this.#legacyGroup(group) };
  }

  /** `/api/v1` and `/apis/<group>/<version>` */
  resourceList(group: string, version: string): JsonObject | undefined {
    if (!this.#registry.groups().get(group)?.includes(version)) return undefined;
    return this.#cached(`resources ${group}/${version}`, () => ({
      kind: 'APIResourceList',
      ...(group !== '' && { apiVersion: 'v1' }),
      groupVersion: formatApiVersion(group, version),
      resources: this.#served(group, version).flatMap(([definition, served]) => legacyResources(definition, served)),
    }));
  }

  /** Built-in groups precede custom groups, so that short names keep their usual meaning. */
  #groups(): string[] {
    const custom = new Map<string, boolean>();
    for (const { definition } of this.#registry.all()) {
      const isCustom = definition.origin === 'custom';
      custom.set(definition.group, (custom.get(definition.group) ?? true) && isCustom);
    }
    return [...this.#registry.groups().keys()].sort(
      (a, b) => Number(custom.get(a)) - Number(custom.get(b)) || (a < b ? -1 : 1),
    );
  }

  #served(group: string, version: string): [ResourceDefinition, VersionDefinition][] {
    const list: [ResourceDefinition, VersionDefinition][] = [];
    for (const { definition } of this.#registry.all()) {
      if (definition.group !== group) continue;
      const served = definition.versions.find((candidate) => candidate.name === version && candidate.served);
      if (served) list.push([definition, served]);
    }
    return list.sort(([a], [b]) => (a.plural < b.plural ? -1 : 1));
  }

  #versions(group: string): string[] {
    return [...(this.#registry.groups().get(group) ?? [])].sort(compareVersionPriority);
  }

  #legacyGroup(group: string): JsonObject {
    const versions = this.#versions(group).map((version) => ({
      groupVersion: formatApiVersion(group, version),
      version,
    }));
    return { name: group, versions, preferredVersion: must(versions[0], 'the first of versions') };
  }

  #aggregatedGroup(group: string): JsonObject {
    return {
      metadata: group === '' ? {} : { name: group },
      versions: this.#versions(group).map((version) => ({
        version,
        resources: this.#served(group, version).map(([definition, served]) => aggregatedResource(definition, served)),
        freshness: 'Current',
      })),
    };
  }

  #cached(key: string, make: () => JsonObject): JsonObject {
    if (this.#generation !== this.#registry.generation) {
      this.#cache.clear();
      this.#etags.clear();
      this.#generation = this.#registry.generation;
    }
    let document = this.#cache.get(key);
    if (!document) {
      document = make();
      this.#cache.set(key, document);
    }
    return document;
  }
}

function aggregatedResource(definition: ResourceDefinition, version: VersionDefinition): JsonObject {
  const subresources = subresourcesOf(definition, version);
  return {
    resource: definition.plural,
    responseKind: { group: definition.group, version: version.name, kind: definition.kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: [...definition.verbs],
    ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((subresource) => ({
        subresource: subresource.name,
        responseKind: subresource.responseKind,
        verbs: [...subresource.verbs],
      })),
    }),
  };
}

function legacyResources(definition: ResourceDefinition, version: VersionDefinition): JsonObject[] {
  const main: JsonObject = {
    name: definition.plural,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: [...definition.verbs],
    ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
    storageVersionHash: storageHash(definition),
  };
  const rest = subresourcesOf(definition, version).map((subresource) => {
    const { group, version: responseVersion, kind } = subresource.responseKind;
    const foreign = group !== definition.group || responseVersion !== version.name;
    return {
      name: `${definition.plural}/${subresource.name}`,
      singularName: '',
      namespaced: definition.namespaced,
      ...(foreign && { group, version: responseVersion }),
      kind,
      verbs: [...subresource.verbs],
    };
  });
  return [main, ...rest];
}

function storageHash(definition: ResourceDefinition): string {
  const text = `${definition.group}/${definition.storageVersion}/${definition.kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}
