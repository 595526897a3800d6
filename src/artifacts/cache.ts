import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Random, systemRandom } from '../machinery/index.ts';
import { type Digest, digestOf } from './digest.ts';

/** Caches content by digest, separated by scope: a scope sees only content fetched for it. */
export interface ContentCache {
  /** Verifies the digest on every read; returns undefined for missing or damaged content. */
  read(scope: string, digest: Digest): Promise<Uint8Array | undefined>;
  write(scope: string, digest: Digest, bytes: Uint8Array): Promise<void>;
}

export interface CacheOptions {
  /** cache size; least recently used content is evicted first */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 1024 * 1024 * 1024;
const defaultMemoryBytes = 64 * 1024 * 1024;

/** Creates a cache in process memory. */
export function memoryCache({ maxBytes = defaultMemoryBytes }: CacheOptions = {}): ContentCache {
  const contents = new Map<string, Uint8Array>();
  let total = 0;
  const forget = (key: string): void => {
    total -= contents.get(key)?.length ?? 0;
    contents.delete(key);
  };
  return {
    async read(scope, digest) {
      const key = `${scope}/${digest}`;
      const bytes = contents.get(key);
      if (!bytes) return undefined;
      contents.delete(key);
      contents.set(key, bytes);
      if (digestOf(bytes) === digest) return bytes;
      forget(key);
      return undefined;
    },
    async write(scope, digest, bytes) {
      const key = `${scope}/${digest}`;
      forget(key);
      if (bytes.length > maxBytes) return;
      contents.set(key, bytes);
      total += bytes.length;
      for (const oldest of contents.keys()) {
        if (total <= maxBytes) break;
        forget(oldest);
      }
    },
  };
}

interface DirectoryCacheOptions extends CacheOptions {
  readonly clock: Clock;
  readonly random?: Random;
}

/**
 * Creates a cache in a directory: `<scope>/<digest>`. Files are written under another name and renamed, so that a crash
 * leaves no partial files. Several processes can share a directory.
 */
export function directoryCache(
  directory: string,
  { clock, random = systemRandom, maxBytes = defaultMaxBytes }: DirectoryCacheOptions,
): ContentCache {
  const fileOf = (scope: string, digest: Digest): string => join(directory, scope, digest.slice('sha256:'.length));
  /** bytes in the directory, as known to this process */
  let total: number | undefined;
  const forget = async (path: string): Promise<void> => {
    await rm(path, { force: true });
  };
  const shrink = async (): Promise<void> => {
    const entries = await filesOf(directory);
    total = entries.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of entries.sort((a, b) => a.usedMs - b.usedMs)) {
      if (total <= maxBytes) break;
      await forget(path);
      total -= size;
    }
  };
  return {
    async read(scope, digest) {
      const path = fileOf(scope, digest);
      let bytes: Uint8Array;
      try {
        bytes = await readFile(path);
      } catch {
        // Unreadable content is fetched again, whatever the reason.
        return undefined;
      }
      if (digestOf(bytes) !== digest) {
        await forget(path).catch(() => undefined);
        return undefined;
      }
      const now = new Date(clock.now());
      await utimes(path, now, now).catch(() => undefined);
      return bytes;
    },
    async write(scope, digest, bytes) {
      if (bytes.length > maxBytes) return;
      const path = fileOf(scope, digest);
      const beside = `${path}.${random.text(8)}.part`;
      await mkdir(join(directory, scope), { recursive: true, mode: 0o700 });
      try {
        await writeFile(beside, bytes, { mode: 0o600, flush: true });
        const now = new Date(clock.now());
        await utimes(beside, now, now);
        await rename(beside, path);
      } catch (error) {
        await forget(beside);
        throw error;
      }
      total = total === undefined ? undefined : total + bytes.length;
      if (total === undefined || total > maxBytes) await shrink();
    },
  };
}

interface CachedFile {
  readonly path: string;
  readonly size: number;
  readonly usedMs: number;
}

async function filesOf(directory: string): Promise<CachedFile[]> {
  const files: CachedFile[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // Another process may have removed the file.
    const found = await stat(path).catch(() => undefined);
    if (found) files.push({ path, size: found.size, usedMs: found.mtimeMs });
  }
  return files;
}
