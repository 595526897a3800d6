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

/** Files that live as long as the process. */
export function memoryTree(): FileTree {
  const files = new Map<string, string>();
  return {
    read: (path) => files.get(path),
    write: (path, content) => {
      files.set(path, content);
    },
    remove: (path) => removeBelow(files, path),
    paths: () => files.keys(),
  };
}

/** Files of a directory on disk: read once, then kept in memory and written through. */
export function diskTree(root: string): FileTree {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const files = new Map<string, string>();
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
      removeBelow(files, path);
    },
    paths: () => files.keys(),
  };
}

const unfinished = '.unfinished~';

function removeBelow(files: Map<string, string>, path: string): void {
  files.delete(path);
  for (const name of files.keys()) if (name.startsWith(`${path}/`)) files.delete(name);
}
