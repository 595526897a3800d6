import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

export const pageSize = 500;

/** Lists all objects of a kind; empty if the kind is not served. */
export async function listed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  let next: string | undefined;
  do {
    try {
      const list = await client.list(resource, {
        limit: pageSize,
        signal,
        ...(next !== undefined && next !== '' && { continue: next }),
      });
      found.push(...list.items);
      next = list.metadata.continue;
    } catch (error) {
      if (isNotFound(error)) return found;
      throw error;
    }
  } while (next !== undefined && next !== '');
  return found;
}
