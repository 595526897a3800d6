import { createInflate, type Inflate, constants as zlib } from 'node:zlib';
import { headerDictionary } from './dictionary.ts';
import { SpdyProtocolError } from './protocol-error.ts';

/** Names are lower case; multiple values of a name are joined by NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** Limit of the decompressed size, against decompression bombs. */
const maxBlockBytes = 64 * 1024;

/**
 * Reads header blocks. All blocks of a connection are one compressed stream, so each block depends on all previous
 * ones.
 */
export interface HeaderBlockReader {
  read(block: Buffer): Promise<SpdyHeaders>;
  close(): void;
}

export function createHeaderBlockReader(): HeaderBlockReader {
  const inflate = createInflate({ dictionary: headerDictionary, flush: zlib.Z_SYNC_FLUSH });
  // `read` reports the error to its caller.
  inflate.on('error', () => {});
  return {
    async read(block) {
      return parseHeaderBlock(await unpack(inflate, block));
    },
    close: () => inflate.destroy(),
  };
}

function unpack(inflate: Inflate, block: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      inflate.off('data', collect);
      inflate.off('error', fail);
    };
    const fail = (cause: unknown): void => {
      stop();
      reject(new SpdyProtocolError('a header block cannot be unpacked', { cause }));
    };
    const collect = (part: Buffer): void => {
      length += part.length;
      if (length > maxBlockBytes) fail(new RangeError(`it has more than ${maxBlockBytes} bytes`));
      else parts.push(part);
    };
    inflate.on('data', collect);
    inflate.on('error', fail);
    inflate.write(block, (error) => {
      if (error) return fail(error);
      stop();
      resolve(Buffer.concat(parts, length));
    });
  });
}

/** Parses a decompressed block: a count, then name and value pairs, each preceded by its length. */
function parseHeaderBlock(block: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  let offset = 0;
  const number = (): number => {
    if (offset + 4 > block.length) throw new SpdyProtocolError('a header block ends early');
    offset += 4;
    return block.readUInt32BE(offset - 4);
  };
  const text = (): string => {
    const end = number() + offset;
    if (end > block.length) throw new SpdyProtocolError('a header block ends early');
    const value = block.toString('utf8', offset, end);
    offset = end;
    return value;
  };
  for (let left = number(); left > 0; left--) {
    const name = text().toLowerCase();
    if (name === '') throw new SpdyProtocolError('a header has no name');
    if (headers.has(name)) throw new SpdyProtocolError(`header ${name} is given twice`);
    headers.set(name, text());
  }
  return headers;
}

/** Start of a zlib stream without dictionary, followed by independent blocks. */
const zlibHead = Buffer.from([0x78, 0x01]);
/** An empty stored block, which flushes everything before it. */
const flushMark = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);

/**
 * Builds the empty header block of a stream reply. It is stored uncompressed, because compressing four bytes gains
 * nothing. So the only state needed is whether it is the first block of the connection.
 */
export function emptyHeaderBlock(first: boolean): Buffer {
  const stored = Buffer.from([0x00, 0x04, 0x00, 0xfb, 0xff, 0x00, 0x00, 0x00, 0x00]);
  return Buffer.concat(first ? [zlibHead, stored, flushMark] : [stored, flushMark]);
}
