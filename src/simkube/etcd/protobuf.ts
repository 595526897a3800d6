// The few protobuf messages of etcd that are needed here. Ids have 64 bits, so numbers are bigints throughout.

export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

const varint = 0;
const fixed64 = 1;
const bytes = 2;
const fixed32 = 5;

/** Reads one message: the values of every field in the order they came. Throws RangeError on what is no message. */
export function readFields(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let position = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[position++];
      if (byte === undefined) throw new RangeError('the message ends too early');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new RangeError('a number is too long');
  };
  const take = (length: number): Buffer => {
    if (position + length > message.length) throw new RangeError('the message ends too early');
    position += length;
    return message.subarray(position - length, position);
  };
  while (position < message.length) {
    const tag = Number(readVarint());
    const values = fields.get(tag >>> 3) ?? [];
    fields.set(tag >>> 3, values);
    const type = tag & 7;
    if (type === varint) values.push(readVarint());
    else if (type === bytes) values.push(take(Number(readVarint())));
    else if (type === fixed64) values.push(take(8));
    else if (type === fixed32) values.push(take(4));
    else throw new RangeError(`wire type ${type} is not supported`);
  }
  return fields;
}

export function numberField(fields: Fields, field: number): bigint {
  const value = fields.get(field)?.at(-1);
  return typeof value === 'bigint' ? value : 0n;
}

export function textFields(fields: Fields, field: number): string[] {
  return (fields.get(field) ?? []).map((value) => (typeof value === 'bigint' ? '' : value.toString('utf8')));
}

export type FieldValue = bigint | number | boolean | string | Buffer | readonly (string | Buffer)[] | undefined;

/** Writes a message from its field numbers; zero values are left out, as proto3 does. */
export function writeFields(fields: Readonly<Record<number, FieldValue>>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const field = Number(name);
    if (Array.isArray(value))
      for (const item of value as readonly (string | Buffer)[]) parts.push(lengthField(field, item));
    else if (typeof value === 'string' || Buffer.isBuffer(value)) {
      if (value.length > 0) parts.push(lengthField(field, value));
    } else if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') {
      const number = BigInt(value);
      if (number !== 0n) parts.push(encodeVarint(BigInt(field * 8 + varint)), encodeVarint(number));
    }
  }
  return Buffer.concat(parts);
}

function lengthField(field: number, value: string | Buffer): Buffer {
  const content = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([encodeVarint(BigInt(field * 8 + bytes)), encodeVarint(BigInt(content.length)), content]);
}

function encodeVarint(value: bigint): Buffer {
  const encoded: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    encoded.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  encoded.push(Number(rest));
  return Buffer.from(encoded);
}
