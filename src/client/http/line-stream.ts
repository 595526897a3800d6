import { WatchDecodeError } from '../errors.ts';

const newline = 0x0a;

/** Far above the object size limit of servers (3 MiB), but small enough for memory if a stream is no watch. */
const defaultMaxLineBytes = 64 * 1024 * 1024;

/**
 * Splits a byte stream into lines. Bytes are decoded per complete line, so characters across chunk borders stay intact.
 * A last line without newline is a truncated event and throws.
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
