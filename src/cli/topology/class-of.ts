import { type ClassVariable, type ClusterClass, ClusterClasses, type Topology } from '../../api/index.ts';
import { ApiStatusError } from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';

/** Returns the class of a topology; undefined if it does not exist or cannot be read. */
export async function classOf(
  { client, namespace }: Connection,
  { classRef }: Topology,
  signal: AbortSignal,
): Promise<ClusterClass | undefined> {
  try {
    const key = { namespace: classRef.namespace ?? namespace, name: classRef.name };
    return await client.get(ClusterClasses, key, { signal });
  } catch (error) {
    if (error instanceof ApiStatusError && (error.code === 404 || error.code === 403)) return undefined;
    throw error;
  }
}

/** Returns the variables of a class from its status, otherwise from its spec. */
export function variablesOf({ spec, status }: ClusterClass): Map<string, ClassVariable['schema']['openAPIV3Schema']> {
  const found = new Map((spec.variables ?? []).map(({ name, schema }) => [name, schema.openAPIV3Schema]));
  for (const { name, definitions } of status?.variables ?? []) {
    const [first] = definitions;
    if (first && !found.has(name)) found.set(name, first.schema.openAPIV3Schema);
  }
  return found;
}

/** Tells whether extensions may define variables that are not discovered yet. */
export function hasUnknownVariables({ spec, status }: ClusterClass): boolean {
  return status?.variables === undefined && (spec.patches ?? []).some(({ external }) => external !== undefined);
}
