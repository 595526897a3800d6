import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { CapstanError } from '../machinery/index.ts';
import { writeDurably } from './durable-file.ts';
import { decodeRecord, encodeRecord } from './record-format.ts';

/**
 * A backup is one file:
 *
 *   "CAPSTAN-BACKUP\n" | format (1 byte) | revision (6) | CRC-32 of the header (4)
 *   per record: length of the key (4) | length of the record (4) | key | record as in record-format.ts
 *   end: four bytes 0xff | number of records (6) | CRC-32 over all record checksums (4)
 */
const magic = Buffer.from('CAPSTAN-BACKUP\n');
const format = 1;
const headerSize = magic.length + 11;
const frameSize = 8;
const trailerSize = 14;
const endMark = 0xffffffff;
const chunkSize = 1024 * 1024;
/** Larger than any key or value the API accepts, so a greater length means damage. */
const maxPartSize = 256 * 1024 * 1024;

export interface BackupRecord {
  key: string;
  revision: number;
  createRevision: number;
  bytes: Uint8Array;
}

export interface BackupSummary {
  revision: number;
  records: number;
}

/** Writes a backup. Readers never see a partial file. */
export async function writeBackup(
  path: string,
  revision: number,
  records: Iterable<BackupRecord> | AsyncIterable<BackupRecord>,
): Promise<void> {
  await writeDurably(path, (file) => writeContents(file, revision, records));
}

async function writeContents(
  file: FileHandle,
  revision: number,
  records: Iterable<BackupRecord> | AsyncIterable<BackupRecord>,
): Promise<void> {
  let parts: Buffer[] = [encodeHeader(revision)];
  let size = headerSize;
  let count = 0;
  let checksums = 0;
  for await (const { key, revision: recordRevision, createRevision, bytes } of records) {
    const keyBytes = Buffer.from(key);
    const record = encodeRecord(keyBytes, recordRevision, createRevision, bytes);
    const frame = Buffer.allocUnsafe(frameSize);
    frame.writeUInt32BE(keyBytes.length, 0);
    frame.writeUInt32BE(record.length, 4);
    parts.push(frame, keyBytes, record);
    size += frameSize + keyBytes.length + record.length;
    checksums = crc32(record.subarray(0, 4), checksums);
    count++;
    if (size >= chunkSize) {
      await file.writeFile(Buffer.concat(parts, size));
      parts = [];
      size = 0;
    }
  }
  const trailer = Buffer.alloc(trailerSize);
  trailer.writeUInt32BE(endMark, 0);
  trailer.writeUIntBE(count, 4, 6);
  trailer.writeUInt32BE(checksums, 10);
  await file.writeFile(Buffer.concat([...parts, trailer]));
}

function encodeHeader(revision: number): Buffer {
  const header = Buffer.alloc(headerSize);
  magic.copy(header);
  header.writeUInt8(format, magic.length);
  header.writeUIntBE(revision, magic.length + 1, 6);
  header.writeUInt32BE(crc32(header.subarray(0, headerSize - 4)), headerSize - 4);
  return header;
}

/** Reads and verifies a whole backup. Calls `onRecord` in file order. Throws CAP_BACKUP_DAMAGED. */
export async function readBackup(
  path: string,
  onRecord: (record: BackupRecord) => void | Promise<void>,
): Promise<BackupSummary> {
  const file = await open(path, 'r');
  try {
    const reader = new ChunkedReader(file, path);
    const revision = decodeHeader(await reader.take(headerSize), path);
    let count = 0;
    let checksums = 0;
    for (;;) {
      const keyLength = (await reader.take(4)).readUInt32BE(0);
      if (keyLength === endMark) break;
      const recordLength = (await reader.take(4)).readUInt32BE(0);
      if (keyLength > maxPartSize || recordLength > maxPartSize)
        throw damaged(path, `record ${count + 1} has no sane length`);
      const key = await reader.take(keyLength);
      const data = await reader.take(recordLength);
      const record = decodeRecord(key, data);
      if (!record) throw damaged(path, `record ${count + 1} (${key.subarray(0, 200).toString()}) fails its checksum`);
      checksums = crc32(data.subarray(0, 4), checksums);
      count++;
      await onRecord({ key: key.toString(), ...record });
    }
    const trailer = await reader.take(trailerSize - 4);
    if (trailer.readUIntBE(0, 6) !== count || trailer.readUInt32BE(6) !== checksums) {
      throw damaged(path, 'its end does not match its records');
    }
    if (!(await reader.atEnd())) throw damaged(path, 'something follows its end');
    return { revision, records: count };
  } finally {
    await file.close();
  }
}

function decodeHeader(header: Buffer, path: string): number {
  if (!header.subarray(0, magic.length).equals(magic)) {
    throw new CapstanError('CAP_BACKUP_UNKNOWN', `${path} is not a backup of a store`);
  }
  const version = header.readUInt8(magic.length);
  if (crc32(header.subarray(0, headerSize - 4)) !== header.readUInt32BE(headerSize - 4)) {
    throw damaged(path, 'its header fails its checksum');
  }
  if (version > format) {
    throw new CapstanError('CAP_BACKUP_TOO_NEW', `${path} has backup format ${version}, this program knows ${format}`, {
      hint: 'use the Capstan version that wrote it, or a newer one',
    });
  }
  return header.readUIntBE(magic.length + 1, 6);
}

function damaged(path: string, detail: string): CapstanError {
  return new CapstanError('CAP_BACKUP_DAMAGED', `the backup ${path} is damaged: ${detail}`, {
    hint: 'use another backup; nothing was changed',
  });
}

/** Returns consecutive pieces of a file, reading it in large chunks. */
class ChunkedReader {
  readonly #file: FileHandle;
  readonly #path: string;
  #chunk: Buffer = Buffer.alloc(0);
  #offset = 0;

  constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  async take(size: number): Promise<Buffer> {
    if (this.#chunk.length - this.#offset < size) await this.#fill(size);
    const part = this.#chunk.subarray(this.#offset, this.#offset + size);
    this.#offset += size;
    return part;
  }

  async atEnd(): Promise<boolean> {
    if (this.#offset < this.#chunk.length) return false;
    return (await this.#file.read(Buffer.alloc(1), 0, 1, null)).bytesRead === 0;
  }

  async #fill(size: number): Promise<void> {
    const rest = this.#chunk.subarray(this.#offset);
    const chunk = Buffer.allocUnsafeSlow(Math.max(chunkSize, size));
    rest.copy(chunk);
    let filled = rest.length;
    while (filled < size) {
      const { bytesRead } = await this.#file.read(chunk, filled, chunk.length - filled, null);
      if (bytesRead === 0) throw damaged(this.#path, 'it ends too early');
      filled += bytesRead;
    }
    this.#chunk = chunk.subarray(0, filled);
    this.#offset = 0;
  }
}
