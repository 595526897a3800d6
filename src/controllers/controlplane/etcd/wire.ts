import { EtcdError } from './types.ts';

const varint = 0;
const fixed64 = 1;
const bytes = 2;
const fixed32 = 5;

/** One field of a message: a number, or the bytes of a text or of a message inside. */
export interface WireField {
  number: number;
  value: bigint | Buffer;
}

/** Reads the fields of a protobuf message. Ids of etcd use all 64 bits, hence bigint. */
export function* readFields(message: Buffer): Generator<WireField> {
  let position = 0;
  const readVarint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[position++];
      if (byte === undefined) throw broken();
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw broken();
  };
  const take = (length: number): Buffer => {
    if (length < 0 || position + length > message.length) throw broken();
    position += length;
    return message.subarray(position - length, position);
  };
  while (position < message.length) {
    const tag = Number(readVarint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case varint:
        yield { number, value: readVarint() };
        break;
      case bytes:
        yield { number, value: take(Number(readVarint())) };
        break;
      case fixed64:
        yield { number, value: take(8).readBigUInt64LE() };
        break;
      case fixed32:
        yield { number, value: BigInt(take(4).readUInt32LE()) };
        break;
      default:
        throw broken();
    }
  }
}

function broken(): EtcdError {
  return new EtcdError('the answer of etcd is not a protobuf message');
}

export const textOf = ({ value }: WireField): string => (typeof value === 'bigint' ? '' : value.toString('utf8'));
export const numberOf = ({ value }: WireField): number => (typeof value === 'bigint' ? Number(value) : 0);
export const idOf = ({ value }: WireField): string => (typeof value === 'bigint' ? value.toString(16) : '0');
export const messageOf = ({ value }: WireField): Buffer => (typeof value === 'bigint' ? Buffer.alloc(0) : value);

/** A message with one number field; the zero value is left out, as protobuf 3 has it. */
export function numberMessage(number: number, value: bigint): Buffer {
  return value === 0n ? Buffer.alloc(0) : Buffer.from([(number << 3) | varint, ...varintBytes(value)]);
}

/** A message with one field of text, bytes or a message inside; messages are joined by putting them one after another. */
export function bytesMessage(number: number, value: string | Uint8Array): Buffer {
  const content = Buffer.from(value as Uint8Array);
  const head = Buffer.from([(number << 3) | bytes, ...varintBytes(BigInt(content.length))]);
  return Buffer.concat([head, content]);
}

function varintBytes(value: bigint): number[] {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 0x80n; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return out;
}

/** The id as protobuf carries it. */
export function parseId(id: string): bigint {
  if (!/^[0-9a-f]{1,16}$/.test(id)) throw new EtcdError(`${JSON.stringify(id)} is not the id of an etcd member`);
  return BigInt(`0x${id}`);
}
