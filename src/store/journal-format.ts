import { crc32 } from 'node:zlib';
import { encodedLength, writeEncoded } from './encoded-value.ts';
import type { EngineWrite } from './types.ts';

/**
 * A journal is one file:
 *
 *   "CAPSTAN-JOURNAL\n" | format (1 byte)
 *   per commit: length of the body (4) | CRC-32 of the body (4) | body
 *   body: newest revision (6), then per write: key length (4) | value length (4) | revision (6) | revision of the creation (6)
 *         | key | value; a deleted key has the value length 0xffffffff and no value
 */
export const headerBytes: Buffer = Buffer.from('CAPSTAN-JOURNAL\n\u0001', 'latin1');
const frameHeader = 8;
const revisionBytes = 6;
const writeHeader = 8 + 2 * revisionBytes;
const deletedMark = 0xffffffff;

/** Result of replaying all commits of a journal. */
export interface FoldedJournal {
  /** in order of the last write; the bytes share memory with the input */
  readonly records: ReadonlyMap<string, { revision: number; createRevision: number; bytes: Buffer }>;
  readonly revision: number;
  /** size of the remaining keys and values */
  readonly liveBytes: number;
  /** size of the input */
  readonly length: number;
  /** end of the last complete commit */
  readonly end: number;
}

/** Encodes one commit. `revision` is the newest revision, if the writes do not contain it. */
export function encodeFrame(writes: readonly EngineWrite[], revision?: number): Buffer {
  let size = frameHeader + revisionBytes;
  for (const write of writes) {
    size += writeHeader + Buffer.byteLength(write.key) + (write.type === 'put' ? encodedLength(write.value) : 0);
  }
  const frame = Buffer.allocUnsafeSlow(size);
  frame.writeUIntBE(revision ?? writes.at(-1)?.revision ?? 0, frameHeader, revisionBytes);
  let offset = frameHeader + revisionBytes;
  for (const write of writes) offset = encodeWrite(frame, offset, write);
  frame.writeUInt32BE(size - frameHeader, 0);
  frame.writeUInt32BE(crc32(frame.subarray(frameHeader)), 4);
  return frame;
}

function encodeWrite(frame: Buffer, offset: number, write: EngineWrite): number {
  const isPut = write.type === 'put';
  const keyStart = offset + writeHeader;
  const keyEnd = keyStart + frame.write(write.key, keyStart, 'utf8');
  const end = isPut ? writeEncoded(frame, keyEnd, write.value) : keyEnd;
  frame.writeUInt32BE(keyEnd - keyStart, offset);
  frame.writeUInt32BE(isPut ? end - keyEnd : deletedMark, offset + 4);
  frame.writeUIntBE(write.revision, offset + 8, revisionBytes);
  frame.writeUIntBE(isPut ? write.createRevision : write.revision, offset + 8 + revisionBytes, revisionBytes);
  return end;
}

/**
 * Replays all commits. An incomplete last commit was interrupted by a crash and never acknowledged. Damage before the
 * end is an error, because acknowledged commits would be lost.
 */
export function foldJournal(content: Buffer): FoldedJournal | { readonly problem: string } {
  const { length } = content;
  const records = new Map<string, { revision: number; createRevision: number; bytes: Buffer }>();
  // A crash may have happened before the header was complete.
  if (length < headerBytes.length && headerBytes.subarray(0, length).equals(content)) {
    return { records, revision: 0, liveBytes: 0, length, end: 0 };
  }
  if (!content.subarray(0, headerBytes.length).equals(headerBytes)) return { problem: 'it has another header' };
  let end = headerBytes.length;
  let revision = 0;
  while (end + frameHeader <= length) {
    const bodyStart = end + frameHeader;
    const bodyEnd = bodyStart + content.readUInt32BE(end);
    if (bodyEnd > length) break;
    const body = content.subarray(bodyStart, bodyEnd);
    if (body.length < revisionBytes || crc32(body) !== content.readUInt32BE(end + 4)) {
      if (bodyEnd === length || isBlank(content.subarray(end))) break;
      return { problem: `the commit at byte ${end} fails its checksum` };
    }
    revision = Math.max(revision, body.readUIntBE(0, revisionBytes));
    foldBody(body, records);
    end = bodyEnd;
  }
  let liveBytes = 0;
  for (const { bytes } of records.values()) liveBytes += bytes.length;
  return { records, revision, liveBytes, length, end };
}

function foldBody(
  body: Buffer,
  records: Map<string, { revision: number; createRevision: number; bytes: Buffer }>,
): void {
  for (let offset = revisionBytes; offset < body.length; ) {
    const keyStart = offset + writeHeader;
    const keyEnd = keyStart + body.readUInt32BE(offset);
    const valueLength = body.readUInt32BE(offset + 4);
    const key = body.toString('utf8', keyStart, keyEnd);
    // Deleted first, so that the map is in order of the last write.
    records.delete(key);
    if (valueLength === deletedMark) {
      offset = keyEnd;
      continue;
    }
    offset = keyEnd + valueLength;
    records.set(key, {
      revision: body.readUIntBE(keyStart - 2 * revisionBytes, revisionBytes),
      createRevision: body.readUIntBE(keyStart - revisionBytes, revisionBytes),
      bytes: body.subarray(keyEnd, offset),
    });
  }
}

/** Reports whether the rest is zeros: space allocated for a commit whose data was never written. */
function isBlank(rest: Buffer): boolean {
  return rest.every((byte) => byte === 0);
}
