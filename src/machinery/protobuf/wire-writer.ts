/** A double cannot hold this value and rounds it up to 2^63. */
const maxInt64 = 2n ** 63n - 1n;

export class WireWriter {
  #bytes: Buffer;
  #position = 0;

  constructor(sizeHint = 512) {
    this.#bytes = Buffer.allocUnsafe(sizeHint);
  }

  get position(): number {
    return this.#position;
  }

  /** Returns the written bytes. The writer must not be used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#position);
  }

  tag(field: number, wireType: number): void {
    this.unsigned(field * 8 + wireType);
  }

  /** Writes a non-negative integer up to 2^53. */
  unsigned(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#position++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#position++] = rest;
  }

  /** Writes a signed integer. Negative ones take ten bytes, as int32 and int64 do in protobuf. */
  signed(value: number): void {
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) {
      this.unsigned(value);
      return;
    }
    this.bigInt(value >= 2 ** 63 ? maxInt64 : BigInt(value));
  }

  /** Writes a 64-bit integer exactly. */
  bigInt(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#bytes[this.#position++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#position++] = Number(rest);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#bytes.writeDoubleLE(value, this.#position);
    this.#position += 8;
  }

  string(value: string): void {
    const length = Buffer.byteLength(value);
    this.unsigned(length);
    this.#reserve(length);
    this.#bytes.write(value, this.#position);
    this.#position += length;
  }

  bytes(value: Uint8Array): void {
    this.unsigned(value.byteLength);
    this.raw(value);
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.byteLength);
    this.#bytes.set(value, this.#position);
    this.#position += value.byteLength;
  }

  /** Starts a length-prefixed part. Pass the result to `closeMessage`. */
  openMessage(): number {
    this.#reserve(1);
    this.#position++;
    return this.#position;
  }

  /** Fills in the length of the part that starts at `start`. Moves the part if the length needs more than one byte. */
  closeMessage(start: number): void {
    const length = this.#position - start;
    let extra = 0;
    for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) extra++;
    if (extra > 0) {
      this.#reserve(extra);
      this.#bytes.copyWithin(start + extra, start, this.#position);
    }
    const end = this.#position + extra;
    this.#position = start - 1;
    this.unsigned(length);
    this.#position = end;
  }

  #reserve(length: number): void {
    const needed = this.#position + length;
    if (needed <= this.#bytes.byteLength) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.byteLength * 2));
    this.#bytes.copy(grown, 0, 0, this.#position);
    this.#bytes = grown;
  }
}
