import { clone, isJsonObject, type JsonObject, type JsonValue } from '../../../src/machinery/index.ts';
import type { Dice } from '../../support/rough/dice.ts';
import { type Encoded, hostileYaml, jsonBytes } from './encode.ts';
import { anyKey, anyValue, edgeValues, spoil } from './samples.ts';

const pointers = [
  '',
  '/',
  '/metadata',
  '/metadata/labels',
  '/metadata/labels/app',
  '/metadata/name',
  '/metadata/resourceVersion',
  '/metadata/finalizers/-',
  '/metadata/finalizers/0',
  '/metadata/finalizers/-1',
  '/metadata/finalizers/99999999',
  '/spec',
  '/spec/containers/0/image',
  '/spec/replicas',
  '/status',
  '/data/a',
  '/constructor',
  '/__proto__',
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/metadata/__proto__/polluted',
  '/metadata/managedFields',
  '~',
  '/~2',
  '/~0/~1',
  'x',
  '/data/length',
  '/metadata/finalizers/length',
  '/metadata/finalizers/1e2',
  '/metadata/finalizers/01',
];

function operation(dice: Dice, object: JsonValue): JsonValue {
  return dice.weighted<JsonValue>([
    [
      8,
      () => ({
        op: dice.pick(['add', 'replace', 'test', 'remove', 'copy', 'move', 'x', 'constructor']),
        path: dice.pick(pointers),
        from: dice.pick(pointers),
        value: dice.chance(0.5) ? anyValue(dice, 3) : part(dice, object),
      }),
    ],
    [1, () => anyValue(dice, 2)],
    [1, () => ({ op: 'add', path: dice.pick(edgeValues), value: null })],
  ]);
}

function part(dice: Dice, value: JsonValue): JsonValue {
  if (!isJsonObject(value) || dice.chance(0.3)) return value;
  const members = Object.values(value);
  return members.length === 0 ? value : part(dice, dice.pick(members) ?? null);
}

/** Each `copy` into itself doubles the document. */
function doubling(steps: number): JsonValue {
  return [
    { op: 'add', path: '/metadata/annotations', value: { a: 'x'.repeat(100) } },
    ...Array.from({ length: steps }, (_, i) => ({
      op: 'copy',
      from: '/metadata/annotations',
      path: `/metadata/annotations/k${i}`,
    })),
  ];
}

function jsonPatch(dice: Dice, object: JsonValue): JsonValue {
  return dice.weighted<JsonValue>([
    [20, () => Array.from({ length: dice.between(0, 6) }, () => operation(dice, object))],
    [2, () => doubling(dice.pick([3, 12, 30]))],
    [0.3, () => Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/metadata', value: {} }))],
    [2, () => anyValue(dice, 3)],
  ]);
}

function strategicPatch(dice: Dice, object: JsonValue): JsonValue {
  const patch: JsonObject = isJsonObject(object) ? clone(object) : {};
  return dice.weighted<JsonValue>([
    [3, () => ({ ...patch, $patch: dice.pick(['replace', 'delete', 'merge', 'x', 1] as JsonValue[]) })],
    [
      2,
      () => ({
        spec: {
          containers: [
            { name: 'main', $patch: dice.pick(['delete', 'replace', 'x']) },
            ...(dice.chance(0.3) ? [{ $patch: 'replace' }, { image: 'x' }] : []),
          ],
        },
      }),
    ],
    [2, () => ({ spec: { $retainKeys: anyValue(dice, 1), strategy: { $retainKeys: ['type'], type: 'Recreate' } } })],
    [
      2,
      () => ({
        spec: { '$setElementOrder/containers': anyValue(dice, 2), containers: [{ name: 'b' }, { name: 'main' }] },
      }),
    ],
    [
      2,
      () => ({
        metadata: {
          '$deleteFromPrimitiveList/finalizers': anyValue(dice, 2),
          '$setElementOrder/finalizers': ['a', 'a'],
        },
      }),
    ],
    [2, () => ({ [anyKey(dice)]: anyValue(dice, 3) })],
    [3, () => spoil(dice, patch)],
  ]);
}

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** Builds a patch of any type. Most do not fit the object. */
export function hostilePatch(dice: Dice, object: JsonValue): Encoded {
  const contentType = dice.pick(patchTypes);
  const value = (): JsonValue => {
    switch (contentType) {
      case 'application/json-patch+json':
        return jsonPatch(dice, object);
      case 'application/merge-patch+json':
        return dice.chance(0.5) ? anyValue(dice, 4) : spoil(dice, object);
      case 'application/strategic-merge-patch+json':
        return strategicPatch(dice, object);
      default:
        return dice.chance(0.6) ? withoutServerFields(object) : spoil(dice, object);
    }
  };
  if (contentType === 'application/apply-patch+yaml' && dice.chance(0.05)) {
    return { contentType, bytes: Buffer.from(dice.pick(hostileYaml)) };
  }
  const sent = dice.chance(0.03)
    ? dice.pick(['constructor', 'application/json', 'application/apply-patch+cbor', '__proto__', 'toString'])
    : contentType;
  return { contentType: sent, bytes: jsonBytes(dice, value()) };
}

function withoutServerFields(object: JsonValue): JsonValue {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return object;
  const { managedFields, resourceVersion, uid, ...metadata } = object['metadata'];
  return { ...object, metadata };
}
