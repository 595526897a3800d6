import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/machinery/index.ts';
import { type InProcessServer, startInProcess } from '../../support/rough/in-process-server.ts';
import { http1Client, sendJson, type WireClient } from '../../support/rough/wire.ts';

let server: InProcessServer;
let client: WireClient;

beforeAll(async () => {
  server = await startInProcess();
  client = http1Client(server.admin);
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const group = 'hostile.example.com';
const text: JsonObject = { type: 'string' };
const texts: JsonObject = { type: 'array', items: text };

function ruled(properties: JsonObject, rule: string): JsonObject {
  return { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] };
}

function plain(properties: JsonObject): JsonObject {
  return { type: 'object', properties };
}

function nested<T extends JsonValue>(depth: number, leaf: T, wrap: (inner: JsonValue) => JsonValue): JsonValue {
  let value: JsonValue = leaf;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

const many = Array.from({ length: 3000 }, (_, i) => `s${i}`);
const a = (count: number): string => 'a'.repeat(count);

/** Valid definitions with objects that make them expensive, and the expected status. */
const cases: [what: string, spec: JsonObject, value: JsonValue, status: number][] = [
  [
    'a rule cubic in a list without limit',
    ruled({ l: texts }, "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c != 'x')))"),
    { l: many },
    422,
  ],
  [
    'a rule that adds texts to themselves',
    ruled(
      { s: text },
      '[1,2,3,4,5,6,7,8].map(x, self.s + self.s + self.s).map(y, y + y + y + y).map(z, z + z + z + z + z + z + z + z).size() > 0',
    ),
    { s: a(100_000) },
    422,
  ],
  [
    'a rule that replaces a text by itself',
    ruled({ s: text }, "self.s.replace('a', self.s).replace('a', self.s).replace('a', self.s).size() > 0"),
    { s: a(1000) },
    422,
  ],
  [
    'a rule that replaces it with a limit',
    ruled({ s: text }, "self.s.replace('a', self.s, 5000).replace('a', self.s, -1).replace('', self.s).size() > 0"),
    { s: a(3000) },
    422,
  ],
  [
    'a rule with a regular expression from the object',
    ruled({ s: text, r: text }, 'self.s.matches(self.r)'),
    { s: `${a(200_000)}!`, r: '(((a*)*)*)*b' },
    422,
  ],
  ['a rule that compares sets', ruled({ l: texts }, 'sets.equivalent(self.l, self.l)'), { l: many }, 422],
  [
    'a pattern that is exponential elsewhere',
    plain({ s: { type: 'string', pattern: '^(a+)+$' } }),
    { s: `${a(100_000)}!` },
    422,
  ],
  [
    'a pattern with many stars',
    plain({ s: { type: 'string', pattern: '(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[^a]$' } }),
    { s: a(300_000) },
    422,
  ],
  [
    'a pattern that counts',
    plain({ s: { type: 'string', pattern: '^((a{1,100}){1,9})$' } }),
    { s: `${a(30_000)}!` },
    422,
  ],
  [
    'a set of very many',
    plain({ l: { ...texts, 'x-kubernetes-list-type': 'set' } }),
    { l: Array.from({ length: 30_000 }, (_, i) => `s${i}`) },
    201,
  ],
  [
    'a map of very many',
    plain({
      l: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: text } },
      },
    }),
    { l: Array.from({ length: 10_000 }, (_, i) => ({ k: `s${i}` })) },
    201,
  ],
  [
    'a schema very deep',
    nested(150, text, (inner) => plain({ a: inner })) as JsonObject,
    nested(150, 'x', (inner) => ({ a: inner })),
    201,
  ],
  [
    'a schema very wide',
    plain(
      Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, { type: 'string', pattern: `^a${i}$` }])),
    ),
    { p1: 'a1' },
    201,
  ],
  [
    'an enumeration very long',
    plain({ e: { type: 'string', enum: Array.from({ length: 10_000 }, (_, i) => `e${i}`) } }),
    { e: 'e9999' },
    201,
  ],
  [
    'fields named as what every object inherits',
    plain({
      constructor: { type: 'string', default: 'x' },
      toString: { type: 'integer' },
      hasOwnProperty: { type: 'object', additionalProperties: text },
    }),
    { toString: 1, hasOwnProperty: { valueOf: 'v' } },
    201,
  ],
];

describe('a hostile definition', () => {
  it.each(cases)('with %s does not bring the server down', async (_what, spec, value, wanted) => {
    const plural = `things${cases.findIndex(([, candidate]) => candidate === spec)}`;
    const kind = `K${plural}`;
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind, singular: `one${plural}`, listKind: `${kind}List` },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: plain({ spec }) } }],
      },
    };
    const defined = await sendJson(client, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    expect(defined.status, JSON.stringify(defined.value).slice(0, 500)).toBe(201);
    const object = { apiVersion: `${group}/v1`, kind, metadata: { name: 'x' }, spec: value };
    const made = await sendJson(client, 'POST', `/apis/${group}/v1/namespaces/default/${plural}`, object);
    expect(made.status, JSON.stringify(made.value).slice(0, 500)).toBe(wanted);
    expect(server.unexpected).toEqual([]);
    // Documents that list all kinds must survive as well.
    const document = await client.send({ method: 'GET', path: `/openapi/v3/apis/${group}/v1` });
    expect(document.status).toBe(200);
  });
});
