import { protobufRegistry } from '../../../src/api/index.ts';
import {
  encodeKubernetesProtobuf,
  formatYaml,
  type JsonValue,
  protobufMediaType,
  type UnstructuredObject,
} from '../../../src/machinery/index.ts';
import type { Dice } from '../../support/rough/dice.ts';

export interface Encoded {
  contentType: string;
  bytes: Buffer;
}

/** Encodes a value in some format, sometimes damaged afterwards. */
export function encode(dice: Dice, value: JsonValue): Encoded {
  const encoded = dice.weighted<Encoded>([
    [12, () => ({ contentType: 'application/json', bytes: jsonBytes(dice, value) })],
    [3, () => ({ contentType: 'application/yaml', bytes: yamlBytes(value) })],
    [3, () => protobufBytes(value)],
    [1, () => ({ contentType: dice.pick(contentTypes), bytes: jsonBytes(dice, value) })],
  ]);
  return dice.chance(0.15) ? { ...encoded, bytes: damage(dice, encoded.bytes) } : encoded;
}

export const contentTypes: readonly string[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;stream=watch',
  'APPLICATION/JSON',
  'application/yaml',
  'text/yaml',
  protobufMediaType,
  `${protobufMediaType};stream=watch`,
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
  'application/cbor',
  'text/plain',
  'multipart/form-data; boundary=x',
  'constructor',
  '__proto__',
  'toString;q=1',
  '*/*',
  ';;;',
  ',',
  '',
];

/** Writes unusual JSON. */
export function jsonBytes(dice: Dice, value: JsonValue): Buffer {
  let text = JSON.stringify(value) ?? 'null';
  if (dice.chance(0.06)) text = text.replace(/"(name|spec|data|metadata)":/, (key) => `${key}1,${key}`);
  if (dice.chance(0.04)) text = text.replace(/[{]/, '{"__proto__":{"polluted":true},');
  if (dice.chance(0.03)) text = text.replace(/:\s*[0-9]+/, `:${dice.pick(hugeNumbers)}`);
  if (dice.chance(0.01)) text = `\ufeff${text}`;
  if (dice.chance(0.01)) text = `${text}${text}`;
  if (dice.chance(0.004)) text = nested(dice);
  return Buffer.from(text);
}

const hugeNumbers = [
  '1e400',
  '-1e400',
  '9'.repeat(400),
  '0'.repeat(20),
  '1e-400',
  '0x10',
  '1_000',
  '.5',
  '-0',
  'NaN',
  '18446744073709551616',
];

function nested(dice: Dice): string {
  const depth = dice.pick([200, 249, 499, 501, 9_999, 100_000]);
  const [open, close] = dice.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"metadata":', '}'],
    ['{"spec":{"template":', '}}'],
  ] as const);
  return `${open.repeat(depth)}1${close.repeat(dice.chance(0.8) ? depth : 0)}`;
}

function yamlBytes(value: JsonValue): Buffer {
  return Buffer.from(formatYaml(value));
}

/** Values without a protobuf message are sent as JSON with the protobuf content type. */
function protobufBytes(value: JsonValue): Encoded {
  try {
    const bytes = encodeKubernetesProtobuf(value as unknown as UnstructuredObject, protobufRegistry);
    return { contentType: protobufMediaType, bytes: Buffer.from(bytes) };
  } catch {
    return { contentType: protobufMediaType, bytes: Buffer.from(JSON.stringify(value) ?? '') };
  }
}

/** YAML with expensive or surprising semantics. */
export const hostileYaml: readonly string[] = [
  'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n',
  '&a {self: *a}\n',
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {<<: {a: "1"}}\n',
  '!!js/function "x"\n',
  '--- 1\n--- 2\n',
  '? {a: b}\n: c\n',
  '%YAML 9.9\n---\na: b\n',
  '- - - - - - - - - - -\n'.repeat(200),
  '{'.repeat(5000),
  'a: !!binary "@@@@"\n',
  'a:\t"x"\n\tb: 1\n',
  '"\\x',
  '__proto__: {polluted: true}\n',
  'a: .inf\nb: .nan\nc: 0o777\n',
];

/** Removes, duplicates or overwrites a part of the bytes. */
export function damage(dice: Dice, bytes: Buffer): Buffer {
  if (bytes.length === 0) return dice.bytes(8);
  const at = dice.between(0, bytes.length - 1);
  return dice.weighted<Buffer>([
    [3, () => bytes.subarray(0, at)],
    [3, () => Buffer.concat([bytes.subarray(0, at), dice.bytes(dice.between(1, 4)), bytes.subarray(at + 1)])],
    [1, () => Buffer.concat([bytes.subarray(0, at), bytes])],
    [1, () => Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), bytes.subarray(at)])],
    [1, () => Buffer.concat([bytes, dice.bytes(6)])],
    [1, () => Buffer.alloc(0)],
  ]);
}
