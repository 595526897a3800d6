import type { Clock } from '../../../machinery/index.ts';
import type { OpenStack } from '../../../openstack/index.ts';

/** Caches lookups of names in a cloud briefly, shared by all servers. */
export interface LookupCache {
  /** Returns the cached result or calls `load`, once for concurrent callers; failures are not cached. */
  get<T>(cloud: OpenStack, key: string, load: () => Promise<T>): Promise<T>;
}

export interface LookupCacheOptions {
  readonly clock: Clock;
  /** lifetime of a result; default 60 s */
  readonly ttlMs?: number;
}

interface Entry {
  readonly answer: Promise<unknown>;
  readonly until: number;
}

/** Size limit; the cache is cleared when it is full. */
const maxEntries = 2_000;

export function createLookupCache({ clock, ttlMs = 60_000 }: LookupCacheOptions): LookupCache {
  // keyed by session, so that results go with their credentials
  const clouds = new WeakMap<OpenStack, Map<string, Entry>>();
  return {
    get<T>(cloud: OpenStack, key: string, load: () => Promise<T>): Promise<T> {
      let entries = clouds.get(cloud);
      if (!entries) {
        entries = new Map();
        clouds.set(cloud, entries);
      }
      const now = clock.now();
      const known = entries.get(key);
      // keys include the kind of lookup, so the type matches
      if (known && known.until > now) return known.answer as Promise<T>;
      if (entries.size >= maxEntries) entries.clear();
      const answer = load();
      const entry: Entry = { answer, until: now + ttlMs };
      entries.set(key, entry);
      answer.catch(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      return answer;
    },
  };
}
