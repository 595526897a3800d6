import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { goldenCases } from './testing/golden-cases.ts';

// User data as machines get it; CAPSTAN_UPDATE_GOLDEN=1 writes the golden files anew. How well the token is compressed
// depends on the library: in the files it stands as the text it was.
const directory = fileURLToPath(new URL('./testdata/', import.meta.url));

const fileName = (name: string, format: string): string => `${name}.${format === 'ignition' ? 'ign' : 'yaml'}`;

const tokenPattern = /H4sI[A-Za-z0-9+/%]+(?:=|%3D)*/g;

function legible(text: string): string {
  return text.replaceAll(tokenPattern, (token) => {
    const kubeconfig = gunzipSync(Buffer.from(decodeURIComponent(token), 'base64')).toString('utf8');
    return `<${JSON.stringify(parse(kubeconfig))}>`;
  });
}

describe.each(goldenCases)('user data of $name', ({ name, render }) => {
  const { text, format } = render();
  const path = `${directory}${fileName(name, format)}`;

  it('is what the golden file says', () => {
    const shown = legible(text);
    expect(shown).toContain('abcdef.0123456789abcdef');
    if (process.env['CAPSTAN_UPDATE_GOLDEN'] === '1') writeFileSync(path, shown);
    expect(existsSync(path), `${path} is missing; run with CAPSTAN_UPDATE_GOLDEN=1`).toBe(true);
    expect(shown).toBe(readFileSync(path, 'utf8'));
  });

  it('can be read back', () => {
    const value = (format === 'ignition' ? JSON.parse(text) : parse(text, { version: '1.1' })) as object;
    expect(Object.keys(value)).toContain(format === 'ignition' ? 'ignition' : 'runcmd');
  });
});

it('has no golden file that nothing makes', () => {
  const made = goldenCases.map(({ name, render }) => fileName(name, render().format)).sort();
  expect(readdirSync(directory).sort()).toEqual(made);
});
