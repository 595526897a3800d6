import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import {
  asJson,
  clone,
  parseApiVersion,
  type ResourceDefinition,
  type UnstructuredObject,
  validateAgainstSchema,
} from '../machinery/index.ts';
import { ownDefinitions } from './own.ts';

// Manifests of users and the objects stored for them. CAPSTAN_UPDATE_GOLDEN=1 rewrites the golden files.
const file = (name: string): string => fileURLToPath(new URL(`./testdata/${name}`, import.meta.url));

function documents(name: string): UnstructuredObject[] {
  return parseAllDocuments(readFileSync(file(name), 'utf8')).map((document) => document.toJS() as UnstructuredObject);
}

function definitionOf(object: UnstructuredObject): ResourceDefinition {
  const { group } = parseApiVersion(object.apiVersion);
  return ownDefinitions.find((definition) => definition.group === group && definition.kind === object.kind)!;
}

function convert(object: UnstructuredObject, version: string): UnstructuredObject {
  return definitionOf(object).convert!(object, version) as UnstructuredObject;
}

const manifests = ['hosted-k0smotron', 'hosted-kamaji', 'hosted-teutonet', 'kubeadm-v1alpha3', 'kubeadm-v1beta1'];

describe.each(manifests)('the manifest %s', (name) => {
  const written = documents(`${name}.yaml`);
  const stored = written.map((object) => convert(object, definitionOf(object).storageVersion));

  it('is stored in the hub version as its golden file says', () => {
    const text = stored.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
    if (process.env['CAPSTAN_UPDATE_GOLDEN'] === '1') writeFileSync(file(`${name}.golden.yaml`), text);
    expect(text).toBe(readFileSync(file(`${name}.golden.yaml`), 'utf8'));
  });

  it.each(stored.map((object) => ({ kind: object.kind, object })))(
    'gives a $kind that the hub version accepts after defaulting',
    ({ object }) => {
      const definition = definitionOf(object);
      const draft = clone(object);
      definition.strategy.applyDefaults!(draft);
      const { schema } = definition.versions[0]!;
      expect(validateAgainstSchema(asJson(draft), schema)).toEqual([]);
      const context = { nowMs: 0, random: undefined as never, user: 'u' };
      expect(definition.strategy.validateCreate?.(draft, context) ?? []).toEqual([]);
    },
  );

  it.each(written.map((object, i) => ({ kind: object.kind, i })))(
    'gives $kind back unchanged in the version it was written in',
    ({ i }) => {
      const { version } = parseApiVersion(written[i]!.apiVersion);
      expect(convert(stored[i]!, version)).toEqual(written[i]);
    },
  );
});
