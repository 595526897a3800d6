import type { EncodedValue } from './types.ts';

/** Returns the size on disk in bytes. */
export function encodedLength(value: EncodedValue): number {
  if (value instanceof Uint8Array) return value.length;
  let length = 0;
  for (const piece of value) length += Buffer.byteLength(piece);
  return length;
}

/** Returns the approximate size on disk. Text is counted in characters, which costs nothing and is exact for ASCII. */
export function roughLength(value: EncodedValue): number {
  if (value instanceof Uint8Array) return value.length;
  let length = 0;
  for (const piece of value) length += piece.length;
  return length;
}

/** Writes a value into `target`, which must have enough room. Returns the end offset. */
export function writeEncoded(target: Buffer, offset: number, value: EncodedValue): number {
  if (value instanceof Uint8Array) {
    target.set(value, offset);
    return offset + value.length;
  }
  let end = offset;
  for (const piece of value) end += target.write(piece, end, 'utf8');
  return end;
}

export function toBytes(value: EncodedValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const bytes = Buffer.allocUnsafe(encodedLength(value));
  writeEncoded(bytes, 0, value);
  return bytes;
}
