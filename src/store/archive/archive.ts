import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { writeDurably } from '../durable-file.ts';
import type { ArchiveSecret } from './keys.ts';
import { archiveMagic, ByteReader, damaged, openStream, sealStream } from './sealed-stream.ts';

/** A file of an archive. Its path has slashes and never leaves the restore directory. */
export interface ArchiveEntry {
  readonly path: string;
  readonly size: number;
  content(): AsyncIterable<Uint8Array>;
}

const longestPath = 4096;
const noEntry = 0xffffffff;

/** Reports whether a file starts like an archive. A store backup starts differently. */
export async function isArchive(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const start = Buffer.alloc(archiveMagic.length);
    await file.read(start, 0, start.length, 0);
    return start.equals(archiveMagic);
  } finally {
    await file.close();
  }
}

/** Writes an archive. Readers never see a partial file. */
export async function writeArchive(
  path: string,
  secret: ArchiveSecret,
  entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>,
): Promise<void> {
  await writeDurably(path, async (file) => {
    for await (const piece of sealStream(secret, encode(entries))) await file.writeFile(piece);
  });
}

/** Reads an archive. The unread rest of an entry is skipped when the next one is requested. */
export async function* readArchive(path: string, secret: ArchiveSecret): AsyncGenerator<ArchiveEntry, void, undefined> {
  const reader = new ByteReader(openStream(secret, createReadStream(path, { highWaterMark: 1024 * 1024 }), path));
  const need = async (size: number): Promise<Buffer> => {
    const bytes = await reader.take(size);
    if (!bytes) throw damaged(path, 'it ends within a file');
    return bytes;
  };
  for (;;) {
    const nameLength = (await need(4)).readUInt32BE(0);
    if (nameLength === noEntry) break;
    if (nameLength > longestPath) throw damaged(path, 'a name in it has no sane length');
    const name = (await need(nameLength)).toString('utf8');
    if (!isInside(name)) throw damaged(path, `it names a file outside of itself: ${JSON.stringify(name)}`);
    const size = (await need(6)).readUIntBE(0, 6);
    let left = size;
    const content = async function* (): AsyncGenerator<Buffer, void, undefined> {
      while (left > 0) {
        const piece = await reader.some(left);
        if (!piece) throw damaged(path, 'it ends within a file');
        left -= piece.length;
        yield piece;
      }
    };
    yield { path: name, size, content };
    for await (const _rest of content());
  }
  // Reading to the end also verifies the last chunk.
  if (!(await reader.atEnd())) throw damaged(path, 'something follows its end');
}

async function* encode(
  entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { path, size, content } of entries) {
    const name = Buffer.from(path);
    const head = Buffer.alloc(4 + name.length + 6);
    head.writeUInt32BE(name.length, 0);
    name.copy(head, 4);
    head.writeUIntBE(size, 4 + name.length, 6);
    yield head;
    let written = 0;
    for await (const piece of content()) {
      written += piece.length;
      yield piece;
    }
    if (written !== size) throw new Error(`${path} changed while it was read: ${written} bytes instead of ${size}`);
  }
  const end = Buffer.alloc(4);
  end.writeUInt32BE(noEntry);
  yield end;
}

function isInside(path: string): boolean {
  const parts = path.split('/');
  return (
    path !== '' &&
    !path.includes('\0') &&
    !path.includes('\\') &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
