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
  /** Applies a wish for something new. */
  create<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    wish: Partial<T> & Pick<T, 'metadata'>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Says that nothing was applied to an object yet: while it shows a wish from birth, nothing has to be. */
  noteBirth(uid: string): void;
  forget(uid: string): void;
}

/** Instead of a wish: the object is known, and none was applied to it. */
const nothing = '';

/** Memory of what was applied only saves requests: without it every wish is applied once more, to no effect. */
export function createApplyOnce(fieldManager: string): ApplyOnce {
  const applied = new Map<string, string>();
  const send = async <T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    wish: Partial<T> & Pick<T, 'metadata'>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const stored = await client.apply(resource, wish, { fieldManager, force: true, ...(signal && { signal }) });
    applied.set(stored.metadata.uid ?? '', textOf(wish));
    return stored;
  };
  return {
    async apply(client, resource, wish, live, signal) {
      const last = applied.get(live.metadata.uid ?? '');
      const isApplied = last === nothing || (last !== undefined && last === textOf(wish));
      return isApplied && shows(live, wish) ? live : await send(client, resource, wish, signal);
    },
    create: send,
    noteBirth(uid) {
      applied.set(uid, nothing);
    },
    forget(uid) {
      applied.delete(uid);
    },
  };
}

/** The identity is what a wish is remembered by; one for something new does not know it yet. */
function textOf({ metadata: { uid: _, ...metadata }, ...wish }: Pick<KubeObject, 'metadata'>): string {
  return JSON.stringify({ ...wish, metadata });
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
