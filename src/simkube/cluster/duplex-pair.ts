import { Duplex } from 'node:stream';

/** One end of a connection inside the process. */
class PairEnd extends Duplex {
  other: PairEnd | undefined;
  #waiting: (() => void) | undefined;

  override _read(): void {
    const proceed = this.#waiting;
    this.#waiting = undefined;
    proceed?.();
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error) => void): void {
    if (!this.other || this.other.destroyed) {
      callback(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      return;
    }
    this.other.#receive(chunk, callback);
  }

  override _final(callback: () => void): void {
    this.other?.push(null);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const { other } = this;
    this.other = undefined;
    // The writer at the other end must not wait for a reader that is gone.
    this.#waiting?.();
    if (other && !other.destroyed) {
      other.push(null);
      other.end();
    }
    callback(error);
  }

  #receive(chunk: Buffer, callback: () => void): void {
    if (this.push(chunk)) callback();
    else this.#waiting = callback;
  }
}

/** Two streams: what is written to one is read from the other. */
export function duplexPair(): [Duplex, Duplex] {
  const left = new PairEnd();
  const right = new PairEnd();
  left.other = right;
  right.other = left;
  return [left, right];
}
