import type { EncodedValue } from './types.ts';

/** Size on disk in bytes. */
export function encodedLength(value: EncodedValue): number {
  if (value instanceof Uint8Array) return value.length;
  let length = 0;
  for (const piece of value) length += Buffer.byteLength(piece);
  return length;
}

/** About the size on disk: text is counted by characters, which is exact for ASCII and free. */
export function roughLength(value: EncodedValue): number {
  if (value instanceof Uint8Array) return value.length;
  let length = 0;
  for (const piece of value) length += piece.length;
  return length;
}

/** Writes a value into `target`, which must have room for it; returns where it ends. */
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
