import { Duplex } from 'node:stream';

/**
 * One end of a connection inside the process. What is written arrives a moment later, as on any network: a reader that is called
 * while the writer still writes could answer into the middle of it, and Node's HTTP/2 ends the whole process then.
 */
class PairEnd extends Duplex {
  other: PairEnd | undefined;
  #waiting: (() => void) | undefined;

  override _read(): void {
    const proceed = this.#waiting;
    this.#waiting = undefined;
    proceed?.();
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error) => void): void {
    const { other } = this;
    if (!other || other.destroyed) {
      callback(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      return;
    }
    process.nextTick(() => other.#receive(chunk, callback));
  }

  override _final(callback: () => void): void {
    const { other } = this;
    if (other) process.nextTick(() => other.#receiveEnd());
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const { other } = this;
    this.other = undefined;
    // The writer at the other end must not wait for a reader that is gone.
    this.#waiting?.();
    process.nextTick(() => {
      if (!other || other.destroyed) return;
      other.#receiveEnd();
      other.end();
    });
    callback(error);
  }

  #receive(chunk: Buffer, callback: () => void): void {
    if (this.destroyed || this.push(chunk)) callback();
    else this.#waiting = callback;
  }

  #receiveEnd(): void {
    if (!this.destroyed) this.push(null);
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
