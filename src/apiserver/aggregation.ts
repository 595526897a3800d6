import { type JsonObject, must } from '../machinery/index.ts';

/** A resource of another server, from its discovery. */
export interface AggregatedResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** One group version that another server serves. */
export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly AggregatedResource[];
}

export interface AggregatedAnswer {
  readonly status: number;
  readonly body: string;
}

/** API groups that other servers serve: APIServices that refer to a Service. */
export interface Aggregation {
  available(): Promise<readonly AggregatedApi[]>;
  /** whether an APIService claims the group version, available or not */
  claims(group: string, version: string): boolean;
  /** forwards a GET of a path with its query; the caller is already authorized */
  get(group: string, version: string, path: string): Promise<AggregatedAnswer>;
}

/** Returns the groups of other servers in the legacy form of discovery. */
export function legacyGroups(apis: readonly AggregatedApi[]): JsonObject[] {
  return groupNames(apis).map((name) => {
    const versions = apis
      .filter(({ group }) => group === name)
      .map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: must(versions[0], 'the first of versions') };
  });
}

/** Returns the groups of other servers in the aggregated form of discovery. */
export function aggregatedGroups(apis: readonly AggregatedApi[]): JsonObject[] {
  return groupNames(apis).map((name) => ({
    metadata: { name },
    versions: apis
      .filter(({ group }) => group === name)
      .map(({ group, version, resources }) => ({
        version,
        freshness: 'Current',
        resources: resources.map((resource) => ({
          resource: resource.name,
          responseKind: { group, version, kind: resource.kind },
          scope: resource.namespaced ? 'Namespaced' : 'Cluster',
          singularResource: resource.singularName,
          verbs: [...resource.verbs],
        })),
      })),
  }));
}

/** `/apis/<group>/<version>` */
export function legacyResourceList({ group, version, resources }: AggregatedApi): JsonObject {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group}/${version}`,
    resources: resources.map((resource) => ({ ...resource, verbs: [...resource.verbs] })),
  };
}

function groupNames(apis: readonly AggregatedApi[]): string[] {
  return [...new Set(apis.map(({ group }) => group))].sort();
}
