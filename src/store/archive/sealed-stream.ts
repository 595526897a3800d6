import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { CapstanError } from '../../machinery/index.ts';
import { type ArchiveKey, type ArchiveSecret, deriveKey, isSame, newDerivation, parseDerivation } from './keys.ts';

/**
 * An archive is one file:
 *
 *   "CAPSTAN-ARCHIVE\n" | format (1 byte) | length of the header (4) | header, JSON in clear: key derivation
 *   per chunk: length (4) | AES-256-GCM of up to 1 MiB | tag (16)
 *
 * The nonce of a chunk consists of a random prefix, the number of the chunk, and whether it is the last. Chunks can
 * therefore not be removed, reordered or truncated. The header is authenticated with every chunk.
 */
export const archiveMagic: Buffer = Buffer.from('CAPSTAN-ARCHIVE\n');
const format = 1;
const chunkSize = 1024 * 1024;
const tagLength = 16;
const prefixLength = 7;
const longestHeader = 4096;

interface Header {
  readonly key: ArchiveKey;
  readonly prefix: Buffer;
  /** digest of the header, authenticated with every chunk */
  readonly digest: Buffer;
}

export async function* sealStream(
  secret: ArchiveSecret,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  const kdf = newDerivation(secret);
  const key = await deriveKey(secret, kdf);
  const prefix = randomBytes(prefixLength);
  const text = Buffer.from(
    JSON.stringify({
      kdf,
      cipher: 'aes-256-gcm',
      prefix: prefix.toString('base64'),
      check: key.check.toString('base64'),
    }),
  );
  const start = Buffer.alloc(archiveMagic.length + 5);
  archiveMagic.copy(start);
  start.writeUInt8(format, archiveMagic.length);
  start.writeUInt32BE(text.length, archiveMagic.length + 1);
  const head = Buffer.concat([start, text]);
  yield head;
  const header: Header = { key, prefix, digest: createHash('sha256').update(head).digest() };

  let number = 0;
  let pending: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    for (let offset = 0; offset < piece.length; ) {
      // A full chunk is held back until more data follows, because the last chunk is sealed differently.
      if (size === chunkSize) {
        yield sealChunk(header, number++, 'inner', Buffer.concat(pending, size));
        pending = [];
        size = 0;
      }
      const part = piece.subarray(offset, offset + chunkSize - size);
      pending.push(part);
      size += part.length;
      offset += part.length;
    }
  }
  yield sealChunk(header, number, 'last', Buffer.concat(pending, size));
}

/** Opens a sealed stream. Yields only authenticated data, and detects truncation at the end. */
export async function* openStream(
  secret: ArchiveSecret,
  source: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  const reader = new ByteReader(source);
  const header = await readHeader(reader, secret, name);
  for (let number = 0; ; number++) {
    const length = (await reader.take(4))?.readUInt32BE(0);
    if (length === undefined) throw damaged(name, 'it ends too early');
    if (length < tagLength || length > chunkSize + tagLength)
      throw damaged(name, `part ${number + 1} has no sane length`);
    const sealed = await reader.take(length);
    if (!sealed) throw damaged(name, 'it ends too early');
    const last = await reader.atEnd();
    const plain = openChunk(header, number, last ? 'last' : 'inner', sealed);
    if (!plain) {
      throw damaged(
        name,
        last && openChunk(header, number, 'inner', sealed) ? 'it ends too early' : `part ${number + 1} was changed`,
      );
    }
    yield plain;
    if (last) return;
  }
}

async function readHeader(reader: ByteReader, secret: ArchiveSecret, name: string): Promise<Header> {
  const start = await reader.take(archiveMagic.length + 5);
  if (!start?.subarray(0, archiveMagic.length).equals(archiveMagic)) {
    throw new CapstanError('CAP_BACKUP_UNKNOWN', `${name} is not an archive of capstan`);
  }
  const version = start.readUInt8(archiveMagic.length);
  if (version > format) {
    throw new CapstanError(
      'CAP_BACKUP_TOO_NEW',
      `${name} has archive format ${version}, this program knows ${format}`,
      {
        hint: 'use the Capstan version that wrote it, or a newer one',
      },
    );
  }
  const length = start.readUInt32BE(archiveMagic.length + 1);
  const text = length > longestHeader ? undefined : await reader.take(length);
  const fields = text && parseFields(text);
  const derivation = parseDerivation(fields?.['kdf']);
  if (!text || !fields || !derivation || fields['cipher'] !== 'aes-256-gcm')
    throw damaged(name, 'its header is not whole');
  const key = await deriveKey(secret, derivation);
  if (!isSame(key.check, Buffer.from(String(fields['check']), 'base64'))) {
    const what = secret.kind === 'key' ? 'key file' : 'passphrase';
    throw new CapstanError('CAP_ARCHIVE_SECRET', `the ${what} is not the one ${name} was sealed with`, {
      hint: 'nothing was changed; try again with the right one',
    });
  }
  const prefix = Buffer.from(String(fields['prefix']), 'base64');
  if (prefix.length !== prefixLength) throw damaged(name, 'its header is not whole');
  return { key, prefix, digest: createHash('sha256').update(start).update(text).digest() };
}

function parseFields(text: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function nonceOf({ prefix }: Header, number: number, place: 'last' | 'inner'): Buffer {
  const nonce = Buffer.alloc(12);
  prefix.copy(nonce);
  nonce.writeUInt32BE(number, prefixLength);
  nonce.writeUInt8(place === 'last' ? 1 : 0, 11);
  return nonce;
}

function sealChunk(header: Header, number: number, place: 'last' | 'inner', plain: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', header.key.bytes, nonceOf(header, number, place));
  cipher.setAAD(header.digest);
  const text = cipher.update(plain);
  cipher.final();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length + tagLength);
  return Buffer.concat([length, text, cipher.getAuthTag()]);
}

function openChunk(header: Header, number: number, place: 'last' | 'inner', sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', header.key.bytes, nonceOf(header, number, place), {
    authTagLength: tagLength,
  });
  decipher.setAAD(header.digest);
  decipher.setAuthTag(sealed.subarray(sealed.length - tagLength));
  try {
    const plain = decipher.update(sealed.subarray(0, sealed.length - tagLength));
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

export function damaged(name: string, detail: string): CapstanError {
  return new CapstanError('CAP_BACKUP_DAMAGED', `the archive ${name} is damaged: ${detail}`, {
    hint: 'use another archive; nothing was changed',
  });
}

/** Reads pieces of exact size from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #pieces: Buffer[] = [];
  #size = 0;
  #ended = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** returns the next bytes, or undefined if there are fewer */
  async take(size: number): Promise<Buffer | undefined> {
    while (this.#size < size) if (!(await this.#more())) return undefined;
    const [first] = this.#pieces;
    const all = first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#size);
    this.#size -= size;
    this.#pieces = this.#size > 0 ? [all.subarray(size)] : [];
    return all.subarray(0, size);
  }

  /** returns at least one and at most `size` available bytes, or undefined at the end */
  async some(size: number): Promise<Buffer | undefined> {
    if (this.#size === 0 && !(await this.#more())) return undefined;
    return await this.take(Math.min(size, this.#size));
  }

  async atEnd(): Promise<boolean> {
    return this.#size === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    while (!this.#ended) {
      const { done, value } = await this.#source.next();
      if (done) this.#ended = true;
      else if (value.length > 0) {
        this.#pieces.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
        this.#size += value.length;
        return true;
      }
    }
    return false;
  }
}
