import type { ProcessFiles } from '../process.ts';
import { type FileTree, memoryTree } from './file-tree.ts';
import type { Mount, VolumeFile } from './types.ts';

/** Present content of a volume in a container. */
export type MountedVolume =
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, VolumeFile> }
  | { readonly kind: 'tree'; readonly tree: FileTree };

/**
 * Files of one run of a container: its own, which are deleted with it, overlaid by mounts. Volumes are looked up on
 * every access, so that changed Secrets are visible at once.
 */
export function containerFiles(
  mounts: readonly Mount[],
  volume: (name: string) => MountedVolume | undefined,
  image: readonly (readonly [path: string, content: string])[] = [],
): ProcessFiles {
  const own = memoryTree();
  for (const [path, content] of image) own.write(path, content);
  // The deepest mount takes precedence.
  const deepestFirst = [...mounts]
    .map((mount) => ({ ...mount, path: normalized(mount.path) }))
    .sort((left, right) => right.path.length - left.path.length);
  const mountOf = (path: string): Mount | undefined =>
    deepestFirst.find((mount) => path === mount.path || path.startsWith(mount.path === '/' ? '/' : `${mount.path}/`));

  return {
    read(given) {
      const path = normalized(given);
      const mount = mountOf(path);
      if (!mount) return own.read(path);
      const mounted = volume(mount.volume);
      const inside = pathInside(mount, path);
      if (mounted?.kind === 'files') return mounted.files.get(inside)?.content.toString('utf8');
      return mounted?.tree.read(inside);
    },
    write(given, content, mode) {
      const path = normalized(given);
      const mount = mountOf(path);
      if (!mount) {
        own.write(path, content);
        return;
      }
      writable(mount, volume(mount.volume), path).write(pathInside(mount, path), content, mode);
    },
    remove(given) {
      const path = normalized(given);
      const mount = mountOf(path);
      if (!mount) own.remove(path);
      else writable(mount, volume(mount.volume), path).remove(pathInside(mount, path));
    },
    list(prefix) {
      const found = new Set<string>();
      for (const path of own.paths()) if (path.startsWith(prefix) && !mountOf(path)) found.add(path);
      for (const mount of deepestFirst) {
        for (const inside of pathsOf(volume(mount.volume))) {
          const path = pathOutside(mount, inside);
          if (path?.startsWith(prefix) && mountOf(path) === mount) found.add(path);
        }
      }
      return [...found].sort();
    },
  };
}

function writable(mount: Mount, mounted: MountedVolume | undefined, path: string): FileTree {
  if (mount.readOnly || mounted?.kind !== 'tree') {
    throw Object.assign(new Error(`open ${path}: read-only file system`), { code: 'EROFS' });
  }
  return mounted.tree;
}

function pathsOf(mounted: MountedVolume | undefined): Iterable<string> {
  if (!mounted) return [];
  return mounted.kind === 'files' ? mounted.files.keys() : mounted.tree.paths();
}

/** Converts a container path to the path within the volume. */
function pathInside({ path: mountPath, subPath }: Mount, path: string): string {
  const below = path === mountPath ? '' : path.slice(mountPath === '/' ? 1 : mountPath.length + 1);
  if (!subPath) return below;
  return below === '' ? subPath : `${subPath}/${below}`;
}

/** Converts a volume path to the container path; undefined if the mount shows another part of the volume. */
function pathOutside({ path: mountPath, subPath }: Mount, inside: string): string | undefined {
  const base = mountPath === '/' ? '' : mountPath;
  // A volume with a single file.
  if (inside === '') return mountPath;
  if (!subPath) return `${base}/${inside}`;
  if (inside === subPath) return mountPath;
  return inside.startsWith(`${subPath}/`) ? `${base}/${inside.slice(subPath.length + 1)}` : undefined;
}

/** Normalizes to an absolute path without `.`, `..`, double or trailing slashes. */
function normalized(path: string): string {
  if (!/\/\/|\/\.|\/$/.test(path) && path.startsWith('/')) return path;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
