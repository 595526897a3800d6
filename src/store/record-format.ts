import { crc32 } from 'node:zlib';
import { encodedLength, roughLength, writeEncoded } from './encoded-value.ts';
import type { EncodedValue } from './types.ts';

/**
 * Format of a record on disk, in the database and in backups: CRC-32 of the rest and the key (4 bytes), revision (6),
 * revision of the creation (6), value. Six bytes hold revisions for 1,000 years at 8,000 writes a second.
 */
export const recordHeaderSize = 16;

export interface DecodedRecord {
  revision: number;
  createRevision: number;
  bytes: Buffer;
}

export function encodedSize(value: EncodedValue): number {
  return recordHeaderSize + encodedLength(value);
}

/** Returns an upper bound of the record's size without scanning its text. A UTF-16 unit takes at most three bytes. */
export function mostEncodedBytes(value: EncodedValue): number {
  return recordHeaderSize + (value instanceof Uint8Array ? value.length : 3 * roughLength(value));
}

/**
 * Writes a record into `target` at `offset`, which must have room for `encodedSize(value)` bytes. Returns the end
 * offset.
 */
export function encodeRecordInto(
  target: Buffer,
  offset: number,
  key: Uint8Array,
  { revision, createRevision, value }: { revision: number; createRevision: number; value: EncodedValue },
): number {
  target.writeUIntBE(revision, offset + 4, 6);
  target.writeUIntBE(createRevision, offset + 10, 6);
  const end = writeEncoded(target, offset + recordHeaderSize, value);
  target.writeUInt32BE(checksum(key, target.subarray(offset + 4, end)), offset);
  return end;
}

export function encodeRecord(key: Uint8Array, revision: number, createRevision: number, value: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(encodedSize(value));
  encodeRecordInto(record, 0, key, { revision, createRevision, value });
  return record;
}

/** Decodes a record. Its value shares memory with `data`. Returns undefined if the checksum does not match. */
export function decodeRecord(key: Uint8Array, data: Buffer): DecodedRecord | undefined {
  if (data.length < recordHeaderSize || checksum(key, data.subarray(4)) !== data.readUInt32BE(0)) return undefined;
  return {
    revision: data.readUIntBE(4, 6),
    createRevision: data.readUIntBE(10, 6),
    bytes: data.subarray(recordHeaderSize),
  };
}

function checksum(key: Uint8Array, rest: Uint8Array): number {
  return crc32(rest, crc32(key));
}
