import { Duplex } from 'node:stream';

/**
 * One end of a connection inside the process. Written data arrives asynchronously, as on a network. If a reader ran
 * while the writer still writes, it could answer in the middle of the write, and Node's HTTP/2 would then terminate the
 * process.
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
    // The other end must not wait for a destroyed reader.
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

/** Creates two connected streams: data written to one is read from the other. */
export function duplexPair(): [Duplex, Duplex] {
  const left = new PairEnd();
  const right = new PairEnd();
  left.other = right;
  right.other = left;
  return [left, right];
}
