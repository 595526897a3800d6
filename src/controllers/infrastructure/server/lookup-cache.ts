import type { Clock } from '../../../machinery/index.ts';
import type { OpenStack } from '../../../openstack/index.ts';

/** Remembers for a short while what names in a cloud mean, for all servers that use them. */
export interface LookupCache {
  /** The answer of `load`, asked for once however many want it; failures are not remembered. */
  get<T>(cloud: OpenStack, key: string, load: () => Promise<T>): Promise<T>;
}

export interface LookupCacheOptions {
  readonly clock: Clock;
  /** how long an answer holds; default 60 s */
  readonly ttlMs?: number;
}

interface Entry {
  readonly answer: Promise<unknown>;
  readonly until: number;
}

/** Names beyond this many are looked up again: an answer costs memory, a question a request. */
const maxEntries = 2_000;

export function createLookupCache({ clock, ttlMs = 60_000 }: LookupCacheOptions): LookupCache {
  // sessions come and go with credentials; what was known through one goes with it
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
      // keys name what is loaded, so an entry is of the type its key stands for
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
