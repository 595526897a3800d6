import { trimTrailing } from '../../../../machinery/index.ts';
import type { FileTree } from '../../../../simkube/index.ts';
import type { Disk } from '../../types.ts';

/** Mounts a directory or file of the machine into Pods. */
export function diskTree(disk: Disk, root: string): FileTree {
  const base = trimTrailing(root, '/');
  const place = (path: string): string => (path === '' ? base : `${base}/${path}`);
  return {
    read: (path) => disk.read(place(path)),
    write: (path, content, mode) => disk.write(place(path), content, mode),
    remove(path) {
      disk.remove(place(path));
      for (const below of disk.list(`${place(path)}/`)) disk.remove(below);
    },
    *paths() {
      if (disk.read(base) !== undefined) yield '';
      for (const path of disk.list(`${base}/`)) yield path.slice(base.length + 1);
    },
  };
}
