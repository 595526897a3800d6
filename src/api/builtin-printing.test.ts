import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonValue, UnstructuredObject } from '../machinery/index.ts';
import { builtinDefinitions } from './builtin.ts';

interface RowCase {
  name: string;
  nowMs: number;
  object: UnstructuredObject;
  cells: JsonValue[];
}

/** Objects and their table rows, recorded from kube-apiserver 1.34.4. */
const cases = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata/builtin-rows.json'), 'utf8')) as RowCase[];

describe('a table row', () => {
  it.each(cases.map((entry) => [entry.name, entry] as const))(
    'has the cells kube-apiserver prints: %s',
    (_name, { object, nowMs, cells }) => {
      const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : '';
      const definition = builtinDefinitions.find((entry) => entry.group === group && entry.kind === object.kind)!;
      expect(definition.versions[0]!.printer.row(object, nowMs)).toEqual(cells);
    },
  );

  it.each(builtinDefinitions.map((definition) => [definition.kind, definition] as const))(
    'has one cell per column: %s',
    (_kind, definition) => {
      const minimal = cases.find(({ object }) => object.kind === definition.kind)?.object;
      const object = minimal ?? ({ ...empty, kind: definition.kind } as UnstructuredObject);
      for (const { printer } of definition.versions) {
        expect(printer.row(object, 0)).toHaveLength(printer.columns.length);
      }
    },
  );
});

/** Minimal object for kinds without a recorded one. */
const empty = {
  apiVersion: 'v1',
  metadata: { name: 'x' },
  spec: { scaleTargetRef: {}, source: {} },
  roleRef: {},
  status: {},
};
