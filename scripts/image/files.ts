import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TarEntry } from '../../src/artifacts/testing/tar.ts';

/** Builds the entry of a local file under another path. */
export async function fileEntry(from: string, to: string): Promise<TarEntry> {
  const { mode } = await stat(from);
  return { path: to, content: await readFile(from), mode: mode & 0o111 ? 0o755 : 0o644 };
}

/** Builds the entries of a local directory in a fixed order, filtered. */
export async function treeEntries(
  from: string,
  to: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<TarEntry[]> {
  const entries: TarEntry[] = [directoryEntry(to)];
  const children = await readdir(from, { withFileTypes: true });
  for (const child of children.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const source = join(from, child.name);
    const target = `${to}/${child.name}`;
    if (!isWanted(target)) continue;
    if (child.isDirectory()) entries.push(...(await treeEntries(source, target, isWanted)));
    else if (child.isSymbolicLink()) entries.push(linkEntry(target, await readlink(source)));
    else entries.push(await fileEntry(source, target));
  }
  return entries;
}

export function directoryEntry(path: string, rights: { mode?: number; owner?: number } = {}): TarEntry {
  return { path: `${path}/`, type: '5', mode: 0o755, ...rights };
}

export function linkEntry(path: string, linkTo: string): TarEntry {
  return { path, type: '2', linkTo, mode: 0o777 };
}
