import type { Duplex } from 'node:stream';
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { headerDictionary } from '../dictionary.ts';

/** A frame on the wire: the type of a control frame, or 0 for data. */
export interface WireFrame {
  type: number;
  flags: number;
  payload: Buffer;
  streamId: number;
}

/** A SPDY client independent of the server code, with zlib's own compressor. */
export class SpdyClient {
  readonly frames: WireFrame[] = [];
  readonly #socket: Duplex;
  readonly #deflate: Deflate = createDeflate({ dictionary: headerDictionary, level: 9 });
  readonly #inflate: Inflate = createInflate({ dictionary: headerDictionary, flush: constants.Z_SYNC_FLUSH });
  #pending: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => {});
  }

  #receive(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= 8) {
      const length = this.#pending.readUIntBE(5, 3);
      if (this.#pending.length < 8 + length) return;
      const first = this.#pending.readUInt32BE(0);
      const payload = this.#pending.subarray(8, 8 + length);
      const control = first >= 0x8000_0000;
      this.frames.push({
        type: control ? first & 0xffff : 0,
        flags: this.#pending[4]!,
        payload,
        streamId: control ? payload.readUInt32BE(0) : first,
      });
      this.#pending = this.#pending.subarray(8 + length);
    }
  }

  /** Compresses headers in the state after all previous headers. */
  async pack(headers: Record<string, string>): Promise<Buffer> {
    const parts: Buffer[] = [word(Object.keys(headers).length)];
    for (const [name, value] of Object.entries(headers)) {
      for (const text of [name, value]) parts.push(word(Buffer.byteLength(text)), Buffer.from(text));
    }
    return await through(this.#deflate, Buffer.concat(parts), constants.Z_SYNC_FLUSH);
  }

  async unpack(block: Buffer): Promise<Buffer> {
    return await through(this.#inflate, block, constants.Z_SYNC_FLUSH);
  }

  async openFrame(streamId: number, headers: Record<string, string>, flags = 0): Promise<Buffer> {
    return control(1, Buffer.concat([word(streamId), word(0), Buffer.alloc(2), await this.pack(headers)]), flags);
  }

  async open(streamId: number, headers: Record<string, string>, flags = 0): Promise<void> {
    this.send(await this.openFrame(streamId, headers, flags));
  }

  send(...bytes: Uint8Array[]): void {
    for (const part of bytes) this.#socket.write(part);
  }

  /** data received on a stream so far */
  dataOf(streamId: number): Buffer {
    return Buffer.concat(
      this.frames.filter((frame) => frame.type === 0 && frame.streamId === streamId).map(({ payload }) => payload),
    );
  }

  /** whether the server has ended a stream */
  finished(streamId: number): boolean {
    return this.frames.some((frame) => frame.type === 0 && frame.streamId === streamId && frame.flags === 1);
  }

  ofType(type: number): WireFrame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  close(): void {
    this.#socket.end();
  }
}

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function control(type: number, payload: Buffer, flags = 0, version = 3): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8000 | version);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(payload.length, 4);
  head[4] = flags;
  return Buffer.concat([head, payload]);
}

export function data(streamId: number, bytes: Uint8Array | string, flags = 0): Buffer {
  const payload = Buffer.from(bytes as string);
  const head = Buffer.concat([word(streamId), word(payload.length)]);
  head[4] = flags;
  return Buffer.concat([head, payload]);
}

/** Runs one step of a compressor that stays open. */
async function through(codec: Deflate | Inflate, bytes: Buffer, flush: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  const collect = (part: Buffer): void => {
    parts.push(part);
  };
  codec.on('data', collect);
  await new Promise<void>((resolve) => codec.write(bytes, () => resolve()));
  await new Promise<void>((resolve) => codec.flush(flush, () => resolve()));
  codec.off('data', collect);
  return Buffer.concat(parts);
}
