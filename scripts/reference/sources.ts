import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { transformSync } from 'esbuild';

const root = resolve(import.meta.dirname, '../../src');

/** Returns the source of every file of the program except tests, without comments and types. */
export function programSources(except: readonly string[]): Map<string, string> {
  const sources = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(root, file);
    const isTest = /\.test(-support)?\.ts$/.test(path) || /(^|\/)(testing|testkit|testdata)\//.test(path);
    if (!entry.isFile() || !path.endsWith('.ts') || isTest || except.includes(path)) continue;
    sources.set(path, transformSync(readFileSync(file, 'utf8'), { loader: 'ts' }).code);
  }
  return sources;
}

/** Returns the strings of a source, with constants of the same file substituted and `*` for other variables. */
export function stringsOf(source: string): string[] {
  const constants = new Map(
    [...source.matchAll(/const (\w+) = "([^"\\]*)"/g)].map(([, name = '', text = '']) => [name, text] as const),
  );
  const plain = [...source.matchAll(/"([^"\\\n]*)"/g)].map(([, text = '']) => text);
  const templates = [...source.matchAll(/`((?:[^`\\]|\\.)*)`/g)].map(([, text = '']) =>
    text.replaceAll(/\$\{([^{}]*)\}/g, (_, name: string) => constants.get(name) ?? '*'),
  );
  return [...plain, ...templates];
}
