import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder that comes with the program, wherever the program itself lies: in its sources or in one bundle. */
export function installedFolder(...path: readonly string[]): string | undefined {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const found = join(directory, ...path);
    if (existsSync(found)) return found;
    if (dirname(directory) === directory) return undefined;
  }
}
