import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Returns all files below a directory by relative path. */
export async function filesBelow(directory: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.sort()) {
    // Skips dangling links.
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.set(relative(directory, path), await readFile(path));
  }
  return files;
}

/** Finds charts below a directory that are not subcharts. */
export async function findCharts(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'Chart.yaml')) return [directory];
  const found: string[] = [];
  for (const entry of entries) if (entry.isDirectory()) found.push(...(await findCharts(join(directory, entry.name))));
  return found.sort();
}
