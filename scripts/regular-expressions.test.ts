import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { literalsOf, superlinearText } from './testing/regexp-steps.ts';

describe('superlinearText', () => {
  it.each([
    /^\d+\.?\d*$/,
    /^(?:\d+\.?\d*s)+$/,
    /^(a+)+$/,
    /^(a|a)*$/,
    /^(?:[a-z]+-?)*$/,
    /\s+$/,
    /(\d+)\s*[a-z]+/,
    /^[a-z]*[a-z0-9]*x$/,
    /"(?:[^"]|\\.)*"!/,
  ])('reports %s', (expression) => {
    expect(superlinearText(expression)).toBeDefined();
  });

  it.each([
    /^\d+(?:\.\d*)?$/,
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    /^[^<>]*<([^<>]*)>$/,
    /[\u0080-\u00ff]/,
    /(?<!\d)(\d+)\s*[a-z]+/,
    /^$/,
  ])('accepts %s', (expression) => {
    expect(superlinearText(expression)).toBeUndefined();
  });
});

/**
 * All directories, because tenants control texts in all of them: through objects, their servers, user data and
 * containers.
 */
const rooms = (await readdir(join(import.meta.dirname, '../src'))).sort();

describe('the regular expressions of the program', () => {
  let scanned = 0;
  it.each(rooms)('take linear time when they are written in %s', async (room) => {
    const root = join(import.meta.dirname, '../src', room);
    const found: string[] = [];
    for (const name of await readdir(root, { recursive: true })) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts') || name.includes('testing')) continue;
      for (const { line, expression } of literalsOf(await readFile(join(root, name), 'utf8'))) {
        scanned++;
        const text = superlinearText(expression);
        if (text !== undefined) found.push(`${name}:${line} ${expression} on ${JSON.stringify(text)}…`);
      }
    }
    expect(found).toEqual([]);
  });

  it('were all read', () => expect(scanned).toBeGreaterThan(500));
});
