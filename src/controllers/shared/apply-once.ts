import type { Client } from '../../client/index.ts';
import { deepEqual, isJsonObject, type KubeObject, type Resource } from '../../machinery/index.ts';

/** Applies objects, but skips the request if nothing changed. */
export interface ApplyOnce {
  /**
   * Server-side apply with force. Sends nothing if the same spec was applied before and `live` still matches. The
   * server removes fields that the spec no longer has.
   */
  apply<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    desired: Partial<T> & Pick<T, 'metadata'>,
    live: T,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Applies a spec for a new object. */
  create<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    desired: Partial<T> & Pick<T, 'metadata'>,
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * Records that nothing was applied to a new object yet; while it matches the spec it was created with, no apply is
   * needed.
   */
  noteBirth(uid: string): void;
  forget(uid: string): void;
}

/** Marker for a known object to which no spec was applied. */
const nothing = '';

/** The memory only saves requests: without it every spec is applied once more, as a no-op. */
export function createApplyOnce(fieldManager: string): ApplyOnce {
  const applied = new Map<string, string>();
  const send = async <T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    desired: Partial<T> & Pick<T, 'metadata'>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const stored = await client.apply(resource, desired, { fieldManager, force: true, ...(signal && { signal }) });
    applied.set(stored.metadata.uid ?? '', textOf(desired));
    return stored;
  };
  return {
    async apply(client, resource, desired, live, signal) {
      const last = applied.get(live.metadata.uid ?? '');
      const isApplied = last === nothing || (last !== undefined && last === textOf(desired));
      return isApplied && shows(live, desired) ? live : await send(client, resource, desired, signal);
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

/** Excludes the uid, which a new object does not have yet. */
function textOf({ metadata: { uid: _, ...metadata }, ...desired }: Pick<KubeObject, 'metadata'>): string {
  return JSON.stringify({ ...desired, metadata });
}

/**
 * Tells whether the live object contains everything in the spec. Entries of spec lists must exist in the live lists.
 */
export function shows(live: unknown, desired: unknown): boolean {
  if (Array.isArray(desired)) {
    return Array.isArray(live) && desired.every((entry) => live.some((candidate) => shows(candidate, entry)));
  }
  if (isJsonObject(desired)) {
    if (!isJsonObject(live)) return Object.keys(desired).length === 0 && live === undefined;
    for (const key in desired) if (desired[key] !== undefined && !shows(live[key], desired[key])) return false;
    return true;
  }
  return deepEqual(live, desired);
}
