import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

/** Returns a cluster-scoped object by name; undefined if there is none. */
export async function findNamed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: string,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get(resource, { name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
