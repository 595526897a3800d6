import type { Client } from '../../client/index.ts';
import { deepEqual, isJsonObject, type KubeObject, type Resource } from '../../machinery/index.ts';

/** Applies wishes, and stays silent while the world is as wished. */
export interface ApplyOnce {
  /**
   * Server-side apply with force. Nothing is sent when this wish was applied before and `live` still shows all of it; what
   * the wish no longer names is given up by the server.
   */
  apply<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    wish: Partial<T> & Pick<T, 'metadata'>,
    live: T,
    signal?: AbortSignal,
  ): Promise<T>;
  forget(uid: string): void;
}

/** Memory of what was applied only saves requests: without it every wish is applied once more, to no effect. */
export function createApplyOnce(fieldManager: string): ApplyOnce {
  const applied = new Map<string, string>();
  return {
    async apply(client, resource, wish, live, signal) {
      const uid = live.metadata.uid ?? '';
      const text = JSON.stringify(wish);
      if (applied.get(uid) === text && shows(live, wish)) return live;
      const stored = await client.apply(resource, wish, { fieldManager, force: true, ...(signal && { signal }) });
      applied.set(uid, text);
      return stored;
    },
    forget(uid) {
      applied.delete(uid);
    },
  };
}

/** Everything the wish says is so. Lists of a wish must be part of the live ones, entry by entry. */
export function shows(live: unknown, wish: unknown): boolean {
  if (Array.isArray(wish)) {
    return Array.isArray(live) && wish.every((entry) => live.some((candidate) => shows(candidate, entry)));
  }
  if (isJsonObject(wish)) {
    if (!isJsonObject(live)) return Object.keys(wish).length === 0 && live === undefined;
    for (const key in wish) if (wish[key] !== undefined && !shows(live[key], wish[key])) return false;
    return true;
  }
  return deepEqual(live, wish);
}
