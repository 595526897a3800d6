import { ProtobufError } from './error.ts';
import { WireReader, wireBytes, wireFixed32, wireFixed64, wireVarint } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

// Messages without a description of their fields: who reads them knows what the numbers mean.

/** One field of a message: a number, or the bytes of a text or of a message inside. */
export interface RawField {
  number: number;
  value: bigint | Buffer;
}

/** The fields of a message in the order they came. Numbers use all 64 bits, hence bigint. Throws ProtobufError. */
export function* readRawFields(message: Uint8Array): Generator<RawField> {
  const reader = new WireReader(message);
  while (reader.position < reader.end) {
    const tag = reader.varint32();
    const number = tag >>> 3;
    switch (tag & 7) {
      case wireVarint:
        yield { number, value: reader.varintBigInt() };
        break;
      case wireBytes:
        yield { number, value: reader.take(reader.length()) };
        break;
      case wireFixed64:
        yield { number, value: reader.take(8).readBigUInt64LE() };
        break;
      case wireFixed32:
        yield { number, value: BigInt(reader.take(4).readUInt32LE()) };
        break;
      default:
        throw new ProtobufError(`protobuf: wire type ${tag & 7} is not supported`);
    }
  }
}

/** A message of one number field, zero included. Messages are joined by putting them one after another. */
export function numberField(number: number, value: bigint): Buffer {
  const writer = new WireWriter(20);
  writer.tag(number, wireVarint);
  writer.bigInt(value);
  return writer.finish();
}

/** A message of one field of text, bytes or a message inside. */
export function bytesField(number: number, value: string | Uint8Array): Buffer {
  const content = typeof value === 'string' ? Buffer.from(value) : value;
  const writer = new WireWriter(content.byteLength + 20);
  writer.tag(number, wireBytes);
  writer.bytes(content);
  return writer.finish();
}
