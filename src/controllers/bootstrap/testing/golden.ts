import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** Rendered user data of one case. */
export interface RenderedCase {
  name: string;
  render(): { text: string; format: string };
}

const fileName = (name: string, format: string): string => `${name}.${format === 'ignition' ? 'ign' : 'yaml'}`;

/**
 * Compares user data with golden files, one directory per bootstrap provider; CAPSTAN_UPDATE_GOLDEN=1 rewrites them.
 * `show` decodes parts that are unreadable or differ between systems.
 */
export function describeGolden(
  cases: readonly RenderedCase[],
  testdata: URL,
  show: (text: string) => string = (text) => text,
): void {
  const directory = fileURLToPath(testdata);

  describe.each(cases)('the user data of $name', ({ name, render }) => {
    const { text, format } = render();
    const path = `${directory}${fileName(name, format)}`;

    it('equals its golden file', () => {
      const shown = show(text);
      if (process.env['CAPSTAN_UPDATE_GOLDEN'] === '1') writeFileSync(path, shown);
      expect(existsSync(path), `${path} is missing; run with CAPSTAN_UPDATE_GOLDEN=1`).toBe(true);
      expect(shown).toBe(readFileSync(path, 'utf8'));
    });

    it('can be parsed', () => {
      const value = (format === 'ignition' ? JSON.parse(text) : parse(text, { version: '1.1' })) as object;
      expect(Object.keys(value)).toContain(format === 'ignition' ? 'ignition' : 'runcmd');
    });
  });

  it('has no golden file without a case', () => {
    const made = cases.map(({ name, render }) => fileName(name, render().format)).sort();
    expect(readdirSync(directory).sort()).toEqual(made);
  });
}
