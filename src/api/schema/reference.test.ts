import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../machinery/index.ts';
import { builtinComponents, gvksOfComponent, publishedSchema } from './index.ts';

// Schemas published by a real kube-apiserver, one file per group version, without descriptions.
const directory = process.env['CAPSTAN_REFERENCE_DATA'];
const folder = directory === undefined ? '' : join(directory, 'kubernetes');
const available = folder !== '' && existsSync(folder);

describe.skipIf(!available)('built-in schemas against kube-apiserver (set CAPSTAN_REFERENCE_DATA to run)', () => {
  const published = available ? readPublished(folder) : {};
  const ours = new Set(builtinComponents());

  it('covers every published component', () => {
    expect(Object.keys(published).filter((component) => !ours.has(component))).toEqual([]);
  });

  it.each(Object.keys(published).sort())('match kube-apiserver for %s', (component) => {
    const { 'x-kubernetes-group-version-kind': kinds, ...schema } = published[component]!;
    expect(normalize(publishedSchema(component))).toEqual(normalize(schema));
    const own = gvksOfComponent(component);
    if (own.length <= 1) expect(own).toEqual(kinds ?? []);
    else expect(kinds).toEqual(expect.arrayContaining(own));
  });
});

function readPublished(path: string): Record<string, JsonObject> {
  const all: Record<string, JsonObject> = {};
  for (const file of readdirSync(path)) {
    if (/^openapi_.*\.json$/.test(file)) Object.assign(all, JSON.parse(readFileSync(join(path, file), 'utf8')));
  }
  return all;
}

/** Our descriptions differ from upstream's, and `{allOf: [{$ref}]}` is equivalent to `{$ref}`. */
function normalize(value: JsonValue | undefined, isPropertyMap = false): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((element) => normalize(element) as JsonValue);
  if (typeof value !== 'object' || value === null) return value;
  const result: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === 'description' && !isPropertyMap) continue;
    if (key === 'allOf' && !isPropertyMap) Object.assign(result, (member as JsonObject[])[0]);
    else result[key] = normalize(member, key === 'properties' && !isPropertyMap);
  }
  return result;
}
