import { type CustomResourceDefinition, notActedOn } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import type { KnownManager } from './known-managers.ts';
import type { FoundManager } from './managers.ts';

/** Lists what prevents an adoption, each with a suggested solution. */
export async function obstaclesOf(
  client: Client,
  managers: readonly FoundManager[],
  definitions: readonly CustomResourceDefinition[],
  { ours, signal }: { ours: ReadonlyMap<string, CustomResourceDefinition>; signal: AbortSignal },
): Promise<string[]> {
  return [
    ...managers.flatMap((manager) => versionObstacle(manager, manager.known.versions)),
    ...(await planeVersionObstacles(client, managers, definitions, signal)),
    ...(await planeObstacles(client, managers, definitions, signal)),
    ...(await unusedKindObstacles(client, definitions, signal)),
    ...definitions.flatMap((definition) => storedObstacle(definition, ours)),
  ];
}

function versionObstacle(
  { known, namespace, name, version }: FoundManager,
  versions: KnownManager['versions'],
): string[] {
  if (known.fate === 'stays' || !versions) return [];
  const [from, before] = versions;
  const where = `${known.title} (Deployment ${namespace}/${name})`;
  if (version === undefined) {
    return [
      `the version of ${where} is not known: its image has no tag, and clusterctl's inventory no entry; give it one of them`,
    ];
  }
  const number = numberOf(version);
  if (number < numberOf(from)) return [`${where} has ${version}: upgrade it to ${from} or newer first`];
  if (number >= numberOf(before)) {
    return [`${where} has ${version}, which is newer than this program knows (before ${before}): use a newer Capstan`];
  }
  return [];
}

/** Converts `v1.14.2` or `1.14` to a number for comparison; only major and minor count. */
function numberOf(version: string): number {
  const [, major = '0', minor = '0'] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) * 10_000 + Number(minor);
}

/** Refuses programs whose Pods of control planes are not known, if there are any. */
async function planeVersionObstacles(
  client: Client,
  managers: readonly FoundManager[],
  definitions: readonly CustomResourceDefinition[],
  signal: AbortSignal,
): Promise<string[]> {
  const obstacles: string[] = [];
  for (const manager of managers) {
    const { planes } = manager.known;
    if (!planes || !(await someOf(client, definitions, planes.kind, signal))[0]) continue;
    obstacles.push(...versionObstacle(manager, planes.versions));
  }
  return obstacles;
}

/**
 * Refuses control planes that run as Pods. Capstan uses the same names for most parts but builds the Pods differently:
 * StatefulSets would roll, and data in other volumes would not be found. So their provider keeps them.
 */
async function planeObstacles(
  client: Client,
  managers: readonly FoundManager[],
  definitions: readonly CustomResourceDefinition[],
  signal: AbortSignal,
): Promise<string[]> {
  const obstacles: string[] = [];
  const kinds = new Map<string, string>();
  for (const { known } of managers) for (const kind of known.planeKinds ?? []) kinds.set(kind, known.title);
  for (const [kind, title] of kinds) {
    const [first, count] = await someOf(client, definitions, kind, signal);
    if (!first) continue;
    obstacles.push(
      `${placeOf(first)}${count > 1 ? ` and ${count - 1} more` : ''} of ${kind} run as Pods that ${title} made: taken over, their Pods would be created again without their data; back up their etcd and restore it into new planes, here after the old ones are gone or in another management cluster`,
    );
  }
  return obstacles;
}

/** Refuses kinds without a controller in Capstan, because nobody would manage their machines. */
async function unusedKindObstacles(
  client: Client,
  definitions: readonly CustomResourceDefinition[],
  signal: AbortSignal,
): Promise<string[]> {
  const obstacles: string[] = [];
  for (const { kind, resource, note } of notActedOn) {
    const [first, count] = await someOf(client, definitions, resource, signal);
    if (first)
      obstacles.push(
        `${count} ${kind} exist, among them ${placeOf(first)}, and no controller of ours acts on them. ${note}`,
      );
  }
  return obstacles;
}

/** Refuses versions of stored objects that our definition lacks, because those objects would be lost. */
function storedObstacle(
  { metadata, status }: CustomResourceDefinition,
  ours: ReadonlyMap<string, CustomResourceDefinition>,
): string[] {
  const wanted = ours.get(metadata.name ?? '');
  if (!wanted) return [];
  const known = new Set(wanted.spec.versions.map(({ name }) => name));
  const lost = (status?.storedVersions ?? []).filter((version) => !known.has(version));
  if (lost.length === 0) return [];
  return [
    `objects of ${metadata.name} may be stored as ${lost.join(', ')}, which this program does not know: let the provider migrate them (clusterctl upgrade does), so that status.storedVersions of the definition does not name it any more`,
  ];
}

/** Returns the first object of a kind and the number of objects. */
async function someOf(
  client: Client,
  definitions: readonly CustomResourceDefinition[],
  name: string,
  signal: AbortSignal,
): Promise<[first: KubeObject | undefined, count: number]> {
  const definition = definitions.find(({ metadata }) => metadata.name === name);
  const version = definition?.spec.versions.find(({ storage }) => storage)?.name;
  if (!definition || version === undefined) return [undefined, 0];
  const { group, names, scope } = definition.spec;
  const resource: Resource<KubeObject> = {
    group,
    version,
    kind: names.kind,
    plural: names.plural,
    namespaced: scope === 'Namespaced',
  };
  try {
    const { items, metadata } = await client.list(resource, { limit: 100, signal });
    return [items[0], items.length + Number(metadata.remainingItemCount ?? 0)];
  } catch (error) {
    if (isNotFound(error)) return [undefined, 0];
    throw error;
  }
}

function placeOf({ metadata: { namespace, name = '' } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
