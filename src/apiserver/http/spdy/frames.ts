import type { HeaderBlockReader, SpdyHeaders } from './header-block.ts';
import { SpdyProtocolError } from './protocol-error.ts';

/** Received frames that a server handles. */
export type Frame =
  | { type: 'open'; streamId: number; headers: SpdyHeaders; last: boolean }
  /** a piece of a stream; one frame on the wire may give several pieces */
  | { type: 'data'; streamId: number; data: Buffer; last: boolean }
  | { type: 'reset'; streamId: number }
  | { type: 'ping'; id: number }
  | { type: 'go-away' };

const version = 3;
const headBytes = 8;
const finFlag = 0x01;
/** Control frames are buffered completely; data frames of any length are streamed. */
const maxControlBytes = 64 * 1024;

const types = { open: 1, reply: 2, reset: 3, ping: 6, goAway: 7, headers: 8 } as const;

export const resetStatus = { refusedStream: 3, cancel: 5 } as const;

/** Splits the bytes of a connection into frames. SETTINGS, WINDOW_UPDATE and unknown frames are skipped. */
export async function* readFrames(
  input: AsyncIterable<Buffer>,
  headerBlocks: HeaderBlockReader,
): AsyncGenerator<Frame, void, undefined> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of input) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (pending.length >= headBytes) {
      const first = pending.readUInt32BE(0);
      const length = pending.readUIntBE(5, 3);
      const flags = pending[4] ?? 0;
      if (first < 0x8000_0000) {
        const available = pending.length - headBytes;
        if (available < length) {
          const data = pending.subarray(headBytes);
          if (available > 0) yield { type: 'data', streamId: first, data, last: false };
          // The rest of the data becomes another frame.
          pending = dataHead(first, length - available, (flags & finFlag) !== 0);
          break;
        }
        const data = pending.subarray(headBytes, headBytes + length);
        pending = pending.subarray(headBytes + length);
        yield { type: 'data', streamId: first, data, last: (flags & finFlag) !== 0 };
        continue;
      }
      if (length > maxControlBytes) throw new SpdyProtocolError(`a control frame has ${length} bytes`);
      if (pending.length < headBytes + length) break;
      const payload = pending.subarray(headBytes, headBytes + length);
      pending = pending.subarray(headBytes + length);
      const frame = await readControl(first, flags, payload, headerBlocks);
      if (frame) yield frame;
    }
  }
}

async function readControl(
  first: number,
  flags: number,
  payload: Buffer,
  headerBlocks: HeaderBlockReader,
): Promise<Frame | undefined> {
  const spoken = (first >>> 16) & 0x7fff;
  if (spoken !== version) throw new SpdyProtocolError(`SPDY version ${spoken} is not supported`);
  const type = first & 0xffff;
  const word = (offset: number): number => {
    if (payload.length < offset + 4) throw new SpdyProtocolError(`a control frame of type ${type} is too short`);
    return payload.readUInt32BE(offset);
  };
  switch (type) {
    case types.open: {
      const streamId = word(0) & 0x7fff_ffff;
      word(6);
      const headers = await headerBlocks.read(payload.subarray(10));
      return { type: 'open', streamId, headers, last: (flags & finFlag) !== 0 };
    }
    case types.reply:
    case types.headers: {
      // The headers are ignored, but later blocks depend on the decompressor state.
      word(0);
      await headerBlocks.read(payload.subarray(4));
      return undefined;
    }
    case types.reset:
      return { type: 'reset', streamId: word(0) & 0x7fff_ffff };
    case types.ping:
      return { type: 'ping', id: word(0) };
    case types.goAway:
      return { type: 'go-away' };
    default:
      return undefined;
  }
}

function dataHead(streamId: number, length: number, last: boolean): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(streamId);
  head.writeUInt32BE(length, 4);
  if (last) head[4] = finFlag;
  return head;
}

/** Builds a data frame; at most 16 MiB. */
export function dataFrame(streamId: number, data: Uint8Array, { last }: { last: boolean }): Buffer {
  return Buffer.concat([dataHead(streamId, data.length, last), data]);
}

function controlFrame(type: number, words: readonly number[], rest?: Buffer): Buffer {
  const length = words.length * 4 + (rest?.length ?? 0);
  const frame = Buffer.alloc(headBytes + length);
  frame.writeUInt16BE(0x8000 | version);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt32BE(length, 4);
  words.forEach((word, index) => {
    frame.writeUInt32BE(word, headBytes + index * 4);
  });
  rest?.copy(frame, headBytes + words.length * 4);
  return frame;
}

export const replyFrame = (streamId: number, headerBlock: Buffer): Buffer =>
  controlFrame(types.reply, [streamId], headerBlock);

export const resetFrame = (streamId: number, status: number): Buffer => controlFrame(types.reset, [streamId, status]);

export const pingFrame = (id: number): Buffer => controlFrame(types.ping, [id]);
