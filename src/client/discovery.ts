import {
  ApiStatusError,
  CapstanError,
  compareVersionPriority,
  formatApiVersion,
  type GroupKind,
  isNotFound,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../machinery/index.ts';
import type { RawReader } from './http/client.ts';

/** A served kind in discovery. */
export interface DiscoveredResource extends Resource<UnstructuredObject> {
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
  subresources: readonly string[];
}

export interface DiscoverySnapshot {
  /** groups in the server's order of preference, best version of each group first */
  resources: readonly DiscoveredResource[];
  /** group versions without discovery, such as an unavailable aggregated API */
  failedGroupVersions: readonly string[];
}

interface AggregatedList {
  kind: 'APIGroupDiscoveryList';
  items?: {
    metadata: { name?: string };
    versions?: {
      version: string;
      freshness?: string;
      resources?: {
        resource: string;
        responseKind?: { group?: string; version?: string; kind?: string } | null;
        scope?: string;
        singularResource?: string;
        verbs?: string[];
        shortNames?: string[];
        categories?: string[];
        subresources?: { subresource: string }[];
      }[];
    }[];
  }[];
}

interface LegacyResourceList {
  resources?: {
    name: string;
    singularName?: string;
    namespaced?: boolean;
    kind: string;
    group?: string;
    version?: string;
    verbs?: string[];
    shortNames?: string[];
    categories?: string[];
  }[];
}

const aggregatedAccept = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** Reads discovery once: two requests with aggregated discovery, otherwise one per version. */
export async function discover(reader: RawReader, options: { signal?: AbortSignal } = {}): Promise<DiscoverySnapshot> {
  const read = async (path: string): Promise<Record<string, unknown>> => {
    const { body } = await reader.raw(path, { ...options, accept: aggregatedAccept });
    return JSON.parse(body) as Record<string, unknown>;
  };
  const [core, groups] = await Promise.all([readOptional(() => read('/api')), readOptional(() => read('/apis'))]);
  const resources: DiscoveredResource[] = [];
  const failed: string[] = [];
  const legacy: string[] = [];
  if (isAggregated(core)) addAggregated(core, resources, failed);
  else for (const version of (core?.['versions'] as string[] | undefined) ?? []) legacy.push(version);
  if (isAggregated(groups)) addAggregated(groups, resources, failed);
  else {
    const list = (groups?.['groups'] as { versions: { groupVersion: string }[] }[] | undefined) ?? [];
    for (const group of list) for (const { groupVersion } of group.versions) legacy.push(groupVersion);
  }
  const described = await Promise.all(
    legacy.map(async (groupVersion) => {
      try {
        const path = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
        const { body } = await reader.raw(path, options);
        return { groupVersion, list: JSON.parse(body) as LegacyResourceList };
      } catch (error) {
        if (options.signal?.aborted) throw error;
        return { groupVersion, list: undefined };
      }
    }),
  );
  for (const { groupVersion, list } of described) {
    if (list) addLegacy(groupVersion, list, resources);
    else failed.push(groupVersion);
  }
  return { resources, failedGroupVersions: failed };
}

async function readOptional<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    // A server may lack the legacy group or all named groups.
    if (isNotFound(error) || (error instanceof ApiStatusError && error.code === 403)) return undefined;
    throw error;
  }
}

function isAggregated(value: unknown): value is AggregatedList {
  return (value as { kind?: string } | undefined)?.kind === 'APIGroupDiscoveryList';
}

function addAggregated(list: AggregatedList, into: DiscoveredResource[], failed: string[]): void {
  for (const item of list.items ?? []) {
    const group = item.metadata.name ?? '';
    for (const { version, freshness, resources } of item.versions ?? []) {
      if (freshness === 'Stale') failed.push(formatApiVersion(group, version));
      for (const resource of resources ?? []) {
        const kind = resource.responseKind?.kind;
        if (!kind) continue;
        into.push({
          group,
          version,
          kind,
          plural: resource.resource,
          namespaced: resource.scope === 'Namespaced',
          singular: resource.singularResource || kind.toLowerCase(),
          shortNames: resource.shortNames ?? [],
          categories: resource.categories ?? [],
          verbs: resource.verbs ?? [],
          subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
        });
      }
    }
  }
}

function addLegacy(groupVersion: string, list: LegacyResourceList, into: DiscoveredResource[]): void {
  const { group, version } = parseApiVersion(groupVersion);
  const subresources = new Map<string, string[]>();
  for (const { name } of list.resources ?? []) {
    const slash = name.indexOf('/');
    if (slash < 0) continue;
    const parent = name.slice(0, slash);
    subresources.set(parent, [...(subresources.get(parent) ?? []), name.slice(slash + 1)]);
  }
  for (const resource of list.resources ?? []) {
    if (resource.name.includes('/')) continue;
    into.push({
      group,
      version,
      kind: resource.kind,
      plural: resource.name,
      namespaced: resource.namespaced === true,
      singular: resource.singularName || resource.kind.toLowerCase(),
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      verbs: resource.verbs ?? [],
      subresources: subresources.get(resource.name) ?? [],
    });
  }
}

/** Resolves names from users and references to resources. */
export interface RestMapper {
  /**
   * Accepts a kind, plural, singular or short name in any case, optionally followed by `.group` or `.version.group`.
   * Throws CapstanError `CAP_UNKNOWN_RESOURCE`.
   */
  resolve(name: string, options?: { signal?: AbortSignal }): Promise<DiscoveredResource>;
  /** returns the preferred or requested version of a kind; undefined if it is not served */
  forKind(
    kind: GroupKind & { version?: string },
    options?: { signal?: AbortSignal },
  ): Promise<DiscoveredResource | undefined>;
  /** returns all served resources, best versions first */
  all(options?: { signal?: AbortSignal }): Promise<DiscoverySnapshot>;
  /** drops the cache, for example after creating a CustomResourceDefinition */
  invalidate(): void;
}

/** Creates a mapper that runs discovery on first use and again for unknown names. */
export function restMapper(reader: RawReader): RestMapper {
  let known: Promise<DiscoverySnapshot> | undefined;

  const load = (options?: { signal?: AbortSignal }): Promise<DiscoverySnapshot> => {
    if (!known) {
      const loading = discover(reader, options);
      known = loading;
      // Failures are not cached.
      loading.catch(() => {
        if (known === loading) known = undefined;
      });
    }
    return known;
  };

  /** Searches the cache, then once more after a refresh. */
  const find = async <R>(
    pick: (resources: readonly DiscoveredResource[]) => R | undefined,
    options?: { signal?: AbortSignal },
  ): Promise<R | undefined> => {
    const wasKnown = known !== undefined;
    const found = pick((await load(options)).resources);
    if (found !== undefined || !wasKnown) return found;
    known = undefined;
    return pick((await load(options)).resources);
  };

  return {
    async resolve(name, options) {
      const found = await find((resources) => pickByName(resources, name), options);
      if (found) return found;
      throw new CapstanError('CAP_UNKNOWN_RESOURCE', `the server doesn't have a resource type "${name}"`, {
        hint: 'check the spelling, or install the provider that defines this kind',
      });
    },
    forKind: (kind, options) =>
      find(
        (resources) =>
          best(
            resources.filter(
              (resource) =>
                resource.group === kind.group &&
                resource.kind === kind.kind &&
                (kind.version === undefined || resource.version === kind.version),
            ),
          ),
        options,
      ),
    all: load,
    invalidate() {
      known = undefined;
    },
  };
}

/** Prefers the first group (the server's order) and its first version, which discovery lists first if preferred. */
function best(candidates: readonly DiscoveredResource[]): DiscoveredResource | undefined {
  const first = candidates[0];
  if (!first) return undefined;
  return candidates
    .filter(({ group }) => group === first.group)
    .sort((a, b) => compareVersionPriority(a.version, b.version))[0];
}

function pickByName(resources: readonly DiscoveredResource[], name: string): DiscoveredResource | undefined {
  const lower = name.toLowerCase();
  const [head = '', ...rest] = lower.split('.');
  const named = (text: string): DiscoveredResource[] => {
    const exact = resources.filter(
      ({ plural, singular, kind }) => plural === text || singular === text || kind.toLowerCase() === text,
    );
    // As in kubectl, short names match only if no full name does.
    return exact.length > 0 ? exact : resources.filter(({ shortNames }) => shortNames.includes(text));
  };
  if (rest.length === 0) return best(named(lower));
  const candidates = named(head);
  const group = rest.join('.');
  const inGroup = candidates.filter((resource) => resource.group === group || resource.group.startsWith(`${group}.`));
  if (inGroup.length > 0) return best(inGroup);
  const [version, ...groupParts] = rest;
  const exactGroup = groupParts.join('.');
  return candidates.find((resource) => resource.version === version && resource.group === exactGroup);
}
