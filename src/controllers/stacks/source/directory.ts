import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { classNameOf, releaseNameOf } from '../../../api/index.ts';
import { readFolder } from './read-folder.ts';
import type { FetchChart, ReleaseSource } from './types.ts';

const pollMs = 60_000;

/**
 * Reads releases from a local directory, one folder each; also from `cluster-stacks/` in it, as upstream's operator
 * lays them out.
 */
export function directorySource(directory: string, chart: FetchChart): ReleaseSource {
  const roots = [join(directory, 'cluster-stacks'), directory];
  const foldersOf = async (root: string): Promise<string[]> => {
    try {
      const entries = await readdir(root, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    } catch (error) {
      if (isMissing(error) && root !== directory) return [];
      throw error;
    }
  };
  return {
    name: `directory ${directory}`,
    pollMs,
    isPinned: true,
    chart,
    async tags() {
      const names = await Promise.all(roots.map(foldersOf));
      return [...new Set(names.flat())].filter((name) => name !== 'cluster-stacks').sort();
    },
    async files(id, signal) {
      for (const root of roots) {
        for (const name of [releaseNameOf(id), classNameOf(id)]) {
          try {
            return await readFolder(join(root, name), signal);
          } catch (error) {
            if (!isMissing(error)) throw error;
          }
        }
      }
      return undefined;
    },
  };
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes(String((error as { code?: unknown } | undefined)?.code));
