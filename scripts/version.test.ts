import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { version } from '../src/cli/version.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

describe('the version', () => {
  it('is the same in package.json, the lock file, the command and the changelog', () => {
    const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: { '': { version: string } } };
    const released = /^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/m.exec(read('CHANGELOG.md'))?.[1];
    expect({ lock: lock.version, root: lock.packages[''].version, command: version, changelog: released }).toEqual({
      lock: version,
      root: version,
      command: (JSON.parse(read('package.json')) as { version: string }).version,
      changelog: version,
    });
  });

  it('has a changelog in the usual sections', () => {
    const usual = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
    const headings = [...read('CHANGELOG.md').matchAll(/^### (.+)$/gm)].map((match) => match[1]!);
    expect(headings.filter((heading) => !usual.includes(heading))).toEqual([]);
    expect(headings).not.toEqual([]);
  });
});
