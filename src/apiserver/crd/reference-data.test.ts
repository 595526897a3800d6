import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applySchemaDefaults, formatFieldError, type JsonObject, pruneUnknownFields } from '../../machinery/index.ts';
import { defaultCrd, prepareCrdStatus } from './defaults.ts';
import { definitionFromCrd } from './definition.ts';
import type { CustomResourceDefinition } from './types.ts';
import { validateCrd } from './validate.ts';

/** Directory with definitions of real projects as JSON files under `crds/`. Not part of this repository. */
const data = process.env['CAPSTAN_REFERENCE_DATA'];
const directory = data === undefined ? undefined : join(data, 'crds');
const available = directory !== undefined && existsSync(directory);

const files = available
  ? readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
  : [];

describe.runIf(available)('definitions of real projects', () => {
  it.each(files)('%s is valid with its rules and can be served', (file) => {
    const crd = JSON.parse(readFileSync(join(directory!, file), 'utf8')) as CustomResourceDefinition;
    defaultCrd(crd);
    prepareCrdStatus(crd);
    expect(validateCrd(crd).map(formatFieldError)).toEqual([]);
    const definition = definitionFromCrd(crd, {});
    for (const version of definition.versions) {
      const draft: JsonObject = { apiVersion: 'x', kind: definition.kind, metadata: { name: 'x' }, spec: { '#': 1 } };
      pruneUnknownFields(draft, version.schema);
      applySchemaDefaults(draft, version.schema);
      expect(version.printer.row(draft as never, 0)).toHaveLength(version.printer.columns.length);
    }
  });
});

describe.skipIf(available)(
  'definitions of real projects (set CAPSTAN_REFERENCE_DATA to a directory with crds/)',
  () => {
    it.skip('need reference data', () => {});
  },
);
