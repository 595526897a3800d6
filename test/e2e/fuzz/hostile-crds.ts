import type { JsonObject, JsonValue } from '../../../src/machinery/index.ts';
import type { Dice } from '../../support/rough/dice.ts';
import { anyValue, spoil } from './samples.ts';

/** Few groups and plurals, so that requests hit kinds that others defined. */
const groups = [
  'fuzz.example.com',
  'other.example.org',
  'core',
  '',
  'k8s.io',
  'apps',
  'cluster.x-k8s.io',
  'constructor.io',
];
const plurals = ['widgets', 'gadgets', 'secrets', 'constructor', 'pods'];

/** Paths of custom objects. */
export const customPaths: readonly string[] = ['fuzz.example.com', 'other.example.org', 'constructor.io'].flatMap(
  (group) =>
    plurals.flatMap((plural) => ['v1', 'v2'].map((version) => `/apis/${group}/${version}/namespaces/fuzz-a/${plural}`)),
);

const regexes = [
  '^a+$',
  '(a+)+$',
  '(?=x)',
  '[',
  '\\',
  '(?P<n>a)',
  'a{1000}',
  'a{100000}',
  '(?i)x',
  '\\p{Greek}',
  '((((((((((a*)*)*)*)*)*)*)*)*)*',
  '(?<!a)b',
  '\\1',
  '',
];

const rules = [
  'self.size() > 0',
  'true',
  'self.x ==',
  'self.all(a, self.all(b, self.all(c, self.all(d, a == b && c == d))))',
  `${'('.repeat(3000)}1${')'.repeat(3000)} == 1`,
  'oldSelf == self',
  'self.matches("(a+)+$")',
  '"x".repeat(1000000).size() > 0',
  `${'!'.repeat(5000)}true`,
  '[1,2,3].map(x, [1,2,3].map(y, [1,2,3].map(z, x*y*z))).size() > 0',
  '1/0 == 0',
  'has(self.constructor)',
  'self.constructor == 1',
  'self.__proto__ == null',
  `[${'0,'.repeat(5000)}0].size() > 0`,
  'self.a.b.c.d.e',
  "duration('9999999999999h') > duration('1s')",
  `${'true || '.repeat(2000)}true`,
];

function leaf(dice: Dice): JsonObject {
  return dice.weighted<JsonObject>([
    [4, () => ({ type: 'string', pattern: dice.pick(regexes) })],
    [2, () => ({ type: 'string', maxLength: dice.pick([0, -1, 1e18, 10]), default: 'abc' })],
    [
      2,
      () => ({
        type: 'integer',
        minimum: dice.pick([5, -1, 1e300]),
        maximum: 3,
        default: 4,
        format: dice.pick(['int32', 'int64', 'x']),
      }),
    ],
    [2, () => ({ type: 'string', enum: Array.from({ length: dice.pick([0, 1, 500, 5000]) }, (_, i) => `e${i}`) })],
    [2, () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })],
    [
      2,
      () => ({
        type: 'object',
        additionalProperties: { type: 'string' },
        'x-kubernetes-validations': [{ rule: dice.pick(rules) }],
      }),
    ],
    [
      2,
      () => ({
        type: 'array',
        items: { type: 'string' },
        'x-kubernetes-list-type': dice.pick(['set', 'map', 'atomic', 'x']),
      }),
    ],
    [1, () => ({ $ref: '#/definitions/x' })],
    [1, () => ({ type: 'string', format: dice.pick(['date-time', 'byte', 'uuid', 'ipv4', 'constructor']) })],
    [1, () => ({ 'x-kubernetes-int-or-string': true })],
    [1, () => ({ oneOf: [{ type: 'string' }, { not: { required: ['a'] } }] })],
    [
      1,
      () => ({ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }),
    ],
    [1, () => anyValue(dice, 3) as JsonObject],
  ]);
}

/** Valid, but difficult to serve. */
function soundSchema(dice: Dice): JsonObject {
  return {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string', pattern: dice.pick(['^a+$', '(a+)+$', '((a*)*)*b', '^.{0,50}$']), maxLength: 200 },
          b: { 'x-kubernetes-preserve-unknown-fields': true },
          size: { 'x-kubernetes-int-or-string': true },
          list: {
            type: 'array',
            maxItems: 20,
            items: { type: 'string', maxLength: 100 },
            'x-kubernetes-list-type': dice.pick(['set', 'atomic']),
          },
          constructor: { type: 'string', default: 'mine', maxLength: 50 },
          toString: { type: 'object', additionalProperties: { type: 'integer' }, default: { x: 1 } },
          replicas: { type: 'integer', format: 'int32', default: 1 },
        },
        ...(dice.chance(0.7) && { 'x-kubernetes-validations': [{ rule: dice.pick(soundRules), message: 'no' }] }),
      },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
}

const soundRules = [
  'true',
  '!has(self.list) || self.list.all(x, x.size() < 90)',
  "!has(self.a) || self.a.matches('(a+)+$')",
  'self.replicas < 100 || self.replicas / 0 == 1',
  'self.replicas == oldSelf.replicas || self.replicas > 0',
  "has(self.constructor) && self.constructor != ''",
  "!has(self.list) || self.list.exists(a, self.list.exists(b, a + b == 'x'))",
];

function deepSchema(depth: number): JsonObject {
  let schema: JsonObject = { type: 'string' };
  for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

function schemaOf(dice: Dice): JsonObject {
  if (dice.chance(0.03)) return deepSchema(dice.pick([50, 300, 900]));
  const properties: JsonObject = {};
  for (let i = dice.between(1, 6); i > 0; i--) {
    properties[dice.pick(['a', 'b', 'size', 'list', 'constructor', 'toString', 'replicas', 'x-y', '$ref'])] =
      leaf(dice);
  }
  return {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties,
        ...(dice.chance(0.4) && { 'x-kubernetes-validations': [{ rule: dice.pick(rules), message: 'no' }] }),
        ...(dice.chance(0.2) && { required: ['constructor', 'a'] }),
        ...(dice.chance(0.1) && { default: anyValue(dice, 2) }),
      },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
}

/** Builds a hostile CustomResourceDefinition. Some are valid. */
export function hostileCrd(dice: Dice): { name: string; crd: JsonValue } {
  const sound = dice.chance(0.4);
  const group = sound || dice.chance(0.7) ? groups[0]! : dice.pick(groups);
  const plural = sound || dice.chance(0.7) ? plurals[0]! : dice.pick(plurals);
  const name = sound || dice.chance(0.95) ? `${plural}.${group}` : 'mismatch.example.com';
  const version = (versionName: string, storage: boolean): JsonObject => ({
    name: versionName,
    served: true,
    storage,
    schema: { openAPIV3Schema: sound ? soundSchema(dice) : schemaOf(dice) },
    ...(dice.chance(0.4) && {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: sound ? '.spec.replicas' : dice.pick(['.spec.replicas', '.spec', '.constructor', 'x']),
          statusReplicasPath: '.status.replicas',
        },
      },
    }),
    ...(dice.chance(0.3) && {
      additionalPrinterColumns: [
        {
          name: 'A',
          type: dice.pick(['string', 'date', 'integer', sound ? 'number' : 'x']),
          jsonPath: sound
            ? dice.pick(['.spec.a', '.spec.list[?(@.a=="b")]', '.constructor.constructor', '.spec.toString'])
            : dice.pick(['.spec.a', '.spec[*]', '..', '.constructor.constructor', '.spec.list[?(@.a=="b")]', '{.a}']),
        },
      ],
    }),
    ...(dice.chance(0.1) && {
      selectableFields: [
        { jsonPath: sound ? '.spec.a' : dice.pick(['.spec.a', '.spec.constructor', '.metadata.name']) },
      ],
    }),
  });
  const two = dice.chance(0.3);
  const crd: JsonObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      scope: sound ? 'Namespaced' : dice.pick(['Namespaced', 'Namespaced', 'Namespaced', 'Cluster', 'x']),
      names: sound
        ? { plural, singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
        : {
            plural,
            singular: dice.pick(['widget', 'gadget', 'pod']),
            kind: dice.pick(['Widget', 'Gadget', 'Secret', 'Constructor']),
            listKind: 'WidgetList',
            shortNames: ['w', 'po'],
          },
      versions: two ? [version('v1', true), version('v2', dice.chance(0.1))] : [version('v1', true)],
    },
  };
  return { name, crd: !sound && dice.chance(0.25) ? spoil(dice, crd) : crd };
}

/** Builds an object for any of the generated schemas. */
export function customObject(dice: Dice, name: string, version: string, group: string): JsonValue {
  const spec: JsonObject = {};
  for (const key of ['a', 'b', 'size', 'list', 'constructor', 'toString', 'replicas']) {
    if (dice.chance(0.4))
      spec[key] = dice.chance(0.7)
        ? dice.pick<JsonValue>(['abc', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', 4, ['x', 'x'], {}, 'e1'])
        : anyValue(dice, 3);
  }
  return {
    apiVersion: `${group}/${version}`,
    kind: dice.pick(['Widget', 'Widget', 'Gadget', 'Secret', 'Constructor']),
    metadata: { name },
    spec,
  };
}
