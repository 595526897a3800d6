import { normalPath, type ShellDisk } from '../../../simkube/index.ts';
import type { DiskStore } from '../../core/contracts.ts';
import type { Disk } from '../types.ts';

/** Directories that do not survive a reboot. */
const volatile = /^\/(?:run|tmp|dev|proc|sys)\//;
const usualMode = 0o644;
const usualDirectoryMode = 0o755;

/** Maximum size of a machine's files, which this process holds in memory. */
const capacity = 32 * 1024 * 1024;

function sizeOf(path: string, content: string): number {
  return path.length + content.length + 64;
}

/** A disk with directories and modes, for the boot sequence and the shell. */
export type MachineDisk = Disk & ShellDisk;

interface StoredFile {
  readonly content: string;
  readonly mode: number;
}

/** Opens the disk of a machine for one run. Files below /run and similar directories are lost with the run. */
export function openDisk(store: DiskStore, serverId: string): MachineDisk {
  const passing = new Map<string, StoredFile>();
  const isVolatile = (path: string): boolean => volatile.test(path);
  let used = 0;
  for (const path of store.paths(serverId)) used += sizeOf(path, store.file(serverId, path)?.content ?? '');
  const get = (path: string): StoredFile | undefined =>
    isVolatile(path) ? passing.get(path) : store.file(serverId, path);
  const put = (path: string, content: string, mode: number): void => {
    const before = get(path);
    const after = used + sizeOf(path, content) - (before ? sizeOf(path, before.content) : 0);
    if (after > used && after > capacity) {
      throw Object.assign(new Error(`write ${path}: no space left on device`), { code: 'ENOSPC' });
    }
    used = after;
    if (isVolatile(path)) passing.set(path, { content, mode });
    else store.put(serverId, path, content, mode);
  };
  const drop = (path: string): void => {
    const before = get(path);
    if (before) used -= sizeOf(path, before.content);
    if (isVolatile(path)) passing.delete(path);
    else if (store.file(serverId, path)) store.remove(serverId, path);
  };
  const all = (prefix: string): string[] => {
    const found: string[] = [];
    for (const path of passing.keys()) if (path.startsWith(prefix)) found.push(path);
    for (const path of store.paths(serverId)) if (path.startsWith(prefix)) found.push(path);
    return found.sort();
  };
  const directory = (path: string): string => `${path === '/' ? '' : path}/`;
  return {
    read: (path) => get(normalPath(path))?.content,
    write(given, content, mode) {
      const path = normalPath(given);
      put(path, content, mode ?? get(path)?.mode ?? usualMode);
    },
    remove: (path) => drop(normalPath(path)),
    list: (prefix) => all(prefix).filter((path) => !path.endsWith('/')),
    mode: (given) => {
      const path = normalPath(given);
      return (get(path) ?? get(directory(path)))?.mode;
    },
    changeMode(given, mode) {
      const path = normalPath(given);
      const at = get(path) ? path : directory(path);
      const file = get(at);
      if (file && file.mode !== mode) put(at, file.content, mode);
    },
    makeDirectory(given) {
      const path = directory(normalPath(given));
      if (path !== '/' && !get(path)) put(path, '', usualDirectoryMode);
    },
    isDirectory(given) {
      const path = normalPath(given);
      return path === '/' || all(directory(path)).length > 0 || usualDirectories.has(path);
    },
    removeTree(given) {
      const path = normalPath(given);
      const paths = all(directory(path));
      if (get(path)) paths.push(path);
      for (const each of paths) drop(each);
      return paths.length > 0;
    },
  };
}

/** Directories of every image. */
const usualDirectories: ReadonlySet<string> = new Set(
  [
    ['bin', 'boot', 'dev', 'etc', 'home', 'lib', 'media', 'mnt', 'opt', 'proc', 'root', 'run', 'sbin', 'srv', 'sys'],
    ['tmp', 'usr', 'usr/bin', 'usr/local', 'usr/local/bin', 'usr/sbin', 'var', 'var/lib', 'var/log', 'etc/default'],
    ['etc/kubernetes', 'etc/systemd', 'etc/systemd/system', 'etc/sysctl.d', 'etc/modules-load.d', 'etc/containerd'],
    ['var/lib/kubelet', 'var/lib/containerd', 'etc/cni', 'etc/cni/net.d', 'opt/cni', 'opt/cni/bin', 'etc/ssl/certs'],
  ]
    .flat()
    .map((path) => `/${path}`),
);
