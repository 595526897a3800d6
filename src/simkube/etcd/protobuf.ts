import { bytesField, numberField, readRawFields } from '../../machinery/index.ts';

// The subset of etcd's protobuf messages used here. Ids have 64 bits, so all numbers are bigints.

export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Decodes one message: the values of every field in wire order. Throws ProtobufError. */
export function readFields(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  for (const { number, value } of readRawFields(message)) {
    const values = fields.get(number) ?? [];
    fields.set(number, values);
    values.push(value);
  }
  return fields;
}

export function numberOf(fields: Fields, field: number): bigint {
  const value = fields.get(field)?.at(-1);
  return typeof value === 'bigint' ? value : 0n;
}

export function textsOf(fields: Fields, field: number): string[] {
  return (fields.get(field) ?? []).map((value) => (typeof value === 'bigint' ? '' : value.toString('utf8')));
}

export type FieldValue = bigint | number | boolean | string | Buffer | readonly (string | Buffer)[] | undefined;

/** Encodes a message by field numbers. Omits zero values, as proto3 does. */
export function writeFields(fields: Readonly<Record<number, FieldValue>>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const field = Number(name);
    if (Array.isArray(value))
      for (const item of value as readonly (string | Buffer)[]) parts.push(bytesField(field, item));
    else if (typeof value === 'string' || Buffer.isBuffer(value)) {
      if (value.length > 0) parts.push(bytesField(field, value));
    } else if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') {
      const number = BigInt(value);
      if (number !== 0n) parts.push(numberField(field, number));
    }
  }
  return Buffer.concat(parts);
}
