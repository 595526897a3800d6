import { ProtobufError } from './error.ts';

export const wireVarint = 0;
export const wireFixed64 = 1;
export const wireBytes = 2;
export const wireFixed32 = 5;

/** Reads the protobuf wire format from a window of bytes. Every read is bounds checked and throws ProtobufError. */
export class WireReader {
  position = 0;
  /** end of the present message; reading a nested message narrows it temporarily */
  end: number;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.byteLength;
  }

  /** Reads a varint of at most 32 significant bits. Higher bits are dropped, as in Go. */
  varint32(): number {
    const bytes = this.#bytes;
    let result = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= this.end) throw truncated();
      const byte = bytes[this.position++] ?? 0;
      if (shift < 32) result |= (byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    throw new ProtobufError('protobuf: a varint is longer than 10 bytes');
  }

  /** Reads a signed 64-bit varint. Magnitudes above 2^53 lose precision, as they would in JSON. */
  varint64(): number {
    const bytes = this.#bytes;
    let low = 0;
    let middle = 0;
    let high = 0;
    for (let index = 0; index < 10; index++) {
      if (this.position >= this.end) throw truncated();
      const byte = bytes[this.position++] ?? 0;
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index < 8) middle |= bits << (7 * (index - 4));
      else high |= bits << (7 * (index - 8));
      if (byte < 0x80) return combine(low, middle, high);
    }
    throw new ProtobufError('protobuf: a varint is longer than 10 bytes');
  }

  /** Reads an unsigned 64-bit varint exactly. */
  varintBigInt(): bigint {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.position >= this.end) throw truncated();
      const byte = this.#bytes[this.position++] ?? 0;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new ProtobufError('protobuf: a varint is longer than 10 bytes');
  }

  double(): number {
    if (this.position + 8 > this.end) throw truncated();
    const value = this.#bytes.readDoubleLE(this.position);
    this.position += 8;
    return value;
  }

  /** Reads the length prefix of a string, bytes or message, and checks it against the remaining bytes. */
  length(): number {
    const length = this.varint32();
    if (length < 0 || length > this.end - this.position) throw truncated();
    return length;
  }

  string(): string {
    const length = this.length();
    const start = this.position;
    this.position += length;
    return length === 0 ? '' : this.#bytes.toString('utf8', start, this.position);
  }

  base64(): string {
    const length = this.length();
    const start = this.position;
    this.position += length;
    return this.#bytes.toString('base64', start, this.position);
  }

  /** Returns a view of the next `length` bytes and skips them. */
  view(length: number): Uint8Array {
    const start = this.position;
    this.position += length;
    return this.#bytes.subarray(start, this.position);
  }

  /** Returns a view of the next `length` bytes. Throws if fewer remain. */
  take(length: number): Buffer {
    const start = this.position;
    this.#advance(length);
    return this.#bytes.subarray(start, this.position);
  }

  /** Skips an unknown field. Groups are not supported: protobuf deprecated them before Kubernetes existed. */
  skip(wireType: number): void {
    switch (wireType) {
      case wireVarint:
        this.varint64();
        return;
      case wireFixed64:
        this.#advance(8);
        return;
      case wireBytes:
        this.#advance(this.length());
        return;
      case wireFixed32:
        this.#advance(4);
        return;
      default:
        throw new ProtobufError(`protobuf: wire type ${wireType} is not supported`);
    }
  }

  #advance(length: number): void {
    if (length > this.end - this.position) throw truncated();
    this.position += length;
  }
}

function truncated(): ProtobufError {
  return new ProtobufError('protobuf: the message ends too early');
}

/** Joins 28 + 28 + 8 bits of two's complement. Like Go, drops bits of the tenth byte beyond the 64th. */
function combine(low: number, middle: number, high: number): number {
  if ((high & 0x80) === 0) return low + middle * 2 ** 28 + (high & 0x7f) * 2 ** 56;
  const inverted = (~low & 0xfffffff) + (~middle & 0xfffffff) * 2 ** 28 + (~high & 0xff) * 2 ** 56;
  return -inverted - 1;
}
