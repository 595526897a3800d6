import { readFileSync } from 'node:fs';

/** The package's version, from the manifest that ships with the program. */
export const version: string = readVersion();

function readVersion(): string {
  // One level up from the bundle, two from the sources.
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {
      // try the next place
    }
  }
  return 'unknown';
}
