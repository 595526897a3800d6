import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Files below one point, by paths relative to it. */
export interface FileTree {
  read(path: string): string | undefined;
  write(path: string, content: string, mode?: number): void;
  /** a file, or a directory with all below it; not an error when there is none */
  remove(path: string): void;
  /** all paths, in no particular order */
  paths(): Iterable<string>;
}

/** What the files of a directory may take when nobody says how much that is; the memory of this process holds them. */
const usualCapacity = 64 * 1024 * 1024;

/** Contents by path, which together have an end. */
class Contents {
  readonly #files = new Map<string, string>();
  readonly #capacity: number;
  #used = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(path: string): string | undefined {
    return this.#files.get(path);
  }

  /** Throws an error with the code ENOSPC. */
  check(path: string, content: string): void {
    const after = this.#used + sizeOf(path, content) - this.#sizeOf(path);
    if (after > this.#used && after > this.#capacity) {
      throw Object.assign(new Error(`write /${path}: no space left on device`), { code: 'ENOSPC' });
    }
  }

  set(path: string, content: string): void {
    this.#used += sizeOf(path, content) - this.#sizeOf(path);
    this.#files.set(path, content);
  }

  /** a file, or all below a directory */
  remove(path: string): void {
    this.#delete(path);
    for (const name of this.#files.keys()) if (name.startsWith(`${path}/`)) this.#delete(name);
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  #delete(path: string): void {
    this.#used -= this.#sizeOf(path);
    this.#files.delete(path);
  }

  #sizeOf(path: string): number {
    const content = this.#files.get(path);
    return content === undefined ? 0 : sizeOf(path, content);
  }
}

function sizeOf(path: string, content: string): number {
  return path.length + content.length + 64;
}

/** Files that live as long as the process. */
export function memoryTree(capacity: number = usualCapacity): FileTree {
  const files = new Contents(capacity);
  return {
    read: (path) => files.get(path),
    write: (path, content) => {
      files.check(path, content);
      files.set(path, content);
    },
    remove: (path) => files.remove(path),
    paths: () => files.paths(),
  };
}

/** Files of a directory on disk: read once, then kept in memory and written through. */
export function diskTree(root: string, capacity: number = usualCapacity): FileTree {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const files = new Contents(capacity);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    // What a write that was cut off left behind.
    if (entry.name.endsWith(unfinished)) rmSync(path, { force: true });
    else files.set(relative(root, path).replaceAll(sep, '/'), readFileSync(path, 'utf8'));
  }
  const locate = (path: string): string => {
    const found = resolve(root, path);
    if (!found.startsWith(root + sep)) throw Object.assign(new Error(`EACCES: ${path} leads out`), { code: 'EACCES' });
    return found;
  };
  return {
    read: (path) => files.get(path),
    write(path, content, mode = 0o600) {
      const target = locate(path);
      files.check(path, content);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      // The old content or the new one, never half of it, whenever the process ends.
      writeFileSync(target + unfinished, content, { mode });
      renameSync(target + unfinished, target);
      files.set(path, content);
    },
    remove(path) {
      const target = path === '' ? undefined : locate(path);
      if (target !== undefined && statSync(target, { throwIfNoEntry: false })) {
        rmSync(target, { recursive: true, force: true });
      }
      files.remove(path);
    },
    paths: () => files.paths(),
  };
}

const unfinished = '.unfinished~';
