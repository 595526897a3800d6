import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

/** An object outside of namespaces, or undefined where there is none of that name. */
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
