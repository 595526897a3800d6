import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** A file tree with relative paths. */
export interface FileTree {
  read(path: string): string | undefined;
  write(path: string, content: string, mode?: number): void;
  /** removes a file, or a directory with its content; not an error if it does not exist */
  remove(path: string): void;
  /** all paths, unordered */
  paths(): Iterable<string>;
}

/** Default capacity of a directory. The memory of this process holds the files. */
const usualCapacity = 64 * 1024 * 1024;

/** File contents by path, with a total capacity. */
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

  /** Removes a file, or everything below a directory. */
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

/** Creates a tree that lives as long as the process. */
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

/** Creates a tree for a directory on disk: read once, then kept in memory and written through. */
export function diskTree(root: string, capacity: number = usualCapacity): FileTree {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const files = new Contents(capacity);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    // Left over from an interrupted write.
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
      // A crash leaves the old or the new content, never a part.
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
