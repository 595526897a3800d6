import type { Client } from '../../client/index.ts';
import { deepEqual, isJsonObject, type KubeObject, type Resource } from '../../machinery/index.ts';

/** Applies desired objects, and stays silent while the world is as desired. */
export interface ApplyOnce {
  /**
   * Server-side apply with force. Nothing is sent when this spec was applied before and `live` still shows all of it; what
   * the spec no longer names is given up by the server.
   */
  apply<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    desired: Partial<T> & Pick<T, 'metadata'>,
    live: T,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Applies a spec for something new. */
  create<T extends KubeObject>(
    client: Client,
    resource: Resource<T>,
    desired: Partial<T> & Pick<T, 'metadata'>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Says that nothing was applied to an object yet: while it shows a spec from birth, nothing has to be. */
  noteBirth(uid: string): void;
  forget(uid: string): void;
}

/** Instead of a spec: the object is known, and none was applied to it. */
const nothing = '';

/** Memory of what was applied only saves requests: without it every spec is applied once more, to no effect. */
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

/** The identity is what a spec is remembered by; one for something new does not know it yet. */
function textOf({ metadata: { uid: _, ...metadata }, ...desired }: Pick<KubeObject, 'metadata'>): string {
  return JSON.stringify({ ...desired, metadata });
}

/** Everything the spec says is so. Lists of a spec must be part of the live ones, entry by entry. */
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
