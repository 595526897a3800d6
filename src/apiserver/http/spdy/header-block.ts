import { createInflate, type Inflate, constants as zlib } from 'node:zlib';
import { headerDictionary } from './dictionary.ts';
import { SpdyProtocolError } from './protocol-error.ts';

/** Names are in lower case; several values of one name are joined by NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** A block that is longer once unpacked is an attack, not a request. */
const maxBlockBytes = 64 * 1024;

/** Reads header blocks, which are one compressed stream over the life of a connection: each depends on all before it. */
export interface HeaderBlockReader {
  read(block: Buffer): Promise<SpdyHeaders>;
  close(): void;
}

export function createHeaderBlockReader(): HeaderBlockReader {
  const inflate = createInflate({ dictionary: headerDictionary, flush: zlib.Z_SYNC_FLUSH });
  // whoever waits for a block hears of it there
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

/** Unpacked: how many, then name and value of each, every text preceded by its length. */
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

/** Begins a stream of zlib's that uses no dictionary; the rest of it are blocks which stand for themselves. */
const zlibHead = Buffer.from([0x78, 0x01]);
/** An empty stored block: what compressors write to say that everything so far can be read. */
const flushMark = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);

/**
 * The block without headers that answers to new streams carry. Stored, not compressed: nothing would be won on four
 * bytes, and so writing needs no state beyond whether it is the first of its connection.
 */
export function emptyHeaderBlock(first: boolean): Buffer {
  const stored = Buffer.from([0x00, 0x04, 0x00, 0xfb, 0xff, 0x00, 0x00, 0x00, 0x00]);
  return Buffer.concat(first ? [zlibHead, stored, flushMark] : [stored, flushMark]);
}
