import { readFileSync } from 'node:fs';

/** Version from the package.json of the program. */
export const version: string = readVersion();

function readVersion(): string {
  // One level above the bundle, two above the sources.
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {
      // Try the next path.
    }
  }
  return 'unknown';
}
