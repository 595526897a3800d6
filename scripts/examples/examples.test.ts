import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleFiles } from './files.ts';

describe('examples', () => {
  it.each([...exampleFiles()])('%s equals its filled-in template (npm run examples:write)', async (path, text) => {
    expect(await readFile(resolve(import.meta.dirname, '../../examples', path), 'utf8')).toBe(text);
    expect(text).not.toContain('$' + '{');
  });
});
