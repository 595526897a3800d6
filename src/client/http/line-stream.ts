import { WatchDecodeError } from '../errors.ts';

const newline = 0x0a;

/** Far above any object a server accepts (3 MiB), small enough not to fill the memory when a stream is not a watch. */
const defaultMaxLineBytes = 64 * 1024 * 1024;

/**
 * Cuts a byte stream into lines. Bytes are decoded only once a line is whole, so a character split over two chunks is
 * never damaged. A last line without its newline is an event that broke off: an error, never silence.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number = defaultMaxLineBytes,
): AsyncGenerator<string, void, undefined> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      let line: string;
      if (pending.length === 0) {
        line = bytes.toString('utf8', start, end);
      } else {
        pending.push(bytes.subarray(start, end));
        line = Buffer.concat(pending).toString('utf8');
        pending = [];
        pendingBytes = 0;
      }
      start = end + 1;
      if (line.length > 0 && line !== '\r') yield line;
    }
    if (start < bytes.length) {
      pending.push(bytes.subarray(start));
      pendingBytes += bytes.length - start;
      if (pendingBytes > maxLineBytes) {
        throw new WatchDecodeError(`a watch event is larger than ${maxLineBytes} bytes`);
      }
    }
  }
  if (pendingBytes > 0 && Buffer.concat(pending).toString('utf8').trim() !== '') {
    throw new WatchDecodeError(`the watch stream ended inside an event, after ${pendingBytes} bytes of it`);
  }
}
