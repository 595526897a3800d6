import { Duplex } from 'node:stream';
import { dataFrame, resetFrame, resetStatus } from './frames.ts';
import type { SpdyHeaders } from './header-block.ts';

/** Data frames have 24 bit lengths; much smaller frames let streams take turns. */
const maxFrameBytes = 64 * 1024;

export interface StreamLink {
  /** calls back when there is room for more data */
  send(frame: Buffer, sent?: () => void): void;
  /** called when the stream has ended in both directions or was reset */
  forget(): void;
}

/** One stream of a SPDY connection. Ending it sends FIN; destroying it before both sides are done sends RST. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #link: StreamLink;
  #wanted: (() => void) | undefined;
  #receivedLast = false;
  #sentLast = false;
  #gone = false;

  constructor(id: number, headers: SpdyHeaders, link: StreamLink) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.headers = headers;
    this.#link = link;
  }

  /** Processes received data; a returned promise signals backpressure. */
  receive(data: Buffer, last: boolean): Promise<void> | undefined {
    if (this.#receivedLast || this.destroyed) return undefined;
    const hungry = data.length === 0 || this.push(data);
    if (last) {
      this.#receivedLast = true;
      this.push(null);
      this.#forgetWhenDone();
      return undefined;
    }
    if (hungry) return undefined;
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  /** The peer reset the stream or the connection is gone, so no RST is sent. */
  lose(error?: Error): void {
    this.#gone = true;
    this.destroy(error);
  }

  override _read(): void {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    wanted?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    let offset = 0;
    for (; offset + maxFrameBytes < chunk.length; offset += maxFrameBytes) {
      this.#link.send(dataFrame(this.id, chunk.subarray(offset, offset + maxFrameBytes), { last: false }));
    }
    this.#link.send(dataFrame(this.id, chunk.subarray(offset), { last: false }), () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sentLast = true;
    this.#link.send(dataFrame(this.id, Buffer.alloc(0), { last: true }), () => done());
    this.#forgetWhenDone();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#gone && !(this.#receivedLast && this.#sentLast)) {
      this.#link.send(resetFrame(this.id, resetStatus.cancel));
    }
    this.#link.forget();
    this._read();
    done(error);
  }

  #forgetWhenDone(): void {
    if (this.#receivedLast && this.#sentLast) this.#link.forget();
  }
}
