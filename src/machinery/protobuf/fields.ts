import { ProtobufError } from './error.ts';
import { WireReader, wireBytes, wireFixed32, wireFixed64, wireVarint } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

// Messages without field descriptions. The caller knows the meaning of the field numbers.

/** One field of a message: a number, or the bytes of a text or nested message. */
export interface RawField {
  number: number;
  value: bigint | Buffer;
}

/**
 * Yields the fields of a message in wire order. Numbers are bigint, because they may use 64 bits. Throws ProtobufError.
 */
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

/** Encodes a message with one number field, even if it is zero. Concatenated messages form one message. */
export function numberField(number: number, value: bigint): Buffer {
  const writer = new WireWriter(20);
  writer.tag(number, wireVarint);
  writer.bigInt(value);
  return writer.finish();
}

/** Encodes a message with one field of text, bytes or a nested message. */
export function bytesField(number: number, value: string | Uint8Array): Buffer {
  const content = typeof value === 'string' ? Buffer.from(value) : value;
  const writer = new WireWriter(content.byteLength + 20);
  writer.tag(number, wireBytes);
  writer.bytes(content);
  return writer.finish();
}
