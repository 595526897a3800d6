import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Finds a folder that ships with the program, for both source and bundle layouts. */
export function installedFolder(...path: readonly string[]): string | undefined {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const found = join(directory, ...path);
    if (existsSync(found)) return found;
    if (dirname(directory) === directory) return undefined;
  }
}
