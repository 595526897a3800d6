import type { Status, UnstructuredObject } from '../../machinery/index.ts';
import type { AnswerHead } from './connection.ts';

/** One line of a watch: an object, or a Status for type ERROR. */
export interface WatchEvent {
  type: string;
  object: UnstructuredObject & Partial<Status>;
}

/** Reads the JSON lines of a watch. */
export class WatchStream {
  readonly status: number;
  readonly headers: AnswerHead['headers'];
  readonly #stream: AnswerHead['stream'];
  readonly #queue: WatchEvent[] = [];
  /** pieces of an unfinished line */
  #pieces: Buffer[] = [];
  #ended = false;
  #cut = false;
  #wake: (() => void) | undefined;

  constructor(head: AnswerHead) {
    this.status = head.status;
    this.headers = head.headers;
    this.#stream = head.stream;
    head.stream.on('data', (chunk: Buffer) => this.#take(chunk));
    head.stream.on('end', () => this.#finish(false));
    head.stream.on('error', () => this.#finish(true));
    head.stream.on('aborted', () => this.#finish(true));
    head.stream.on('close', () => this.#finish(false));
  }

  /** whether the stream ended with an error */
  get wasCut(): boolean {
    return this.#cut;
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, start);
      if (end < 0) break;
      const line = Buffer.concat([...this.#pieces, chunk.subarray(start, end)]).toString('utf8');
      this.#pieces = [];
      this.#queue.push(JSON.parse(line) as WatchEvent);
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
    this.#wake?.();
  }

  #finish(cut: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cut = cut;
    this.#wake?.();
  }

  /** Returns the next event; undefined at the end of the stream. */
  async next(): Promise<WatchEvent | undefined> {
    for (;;) {
      const event = this.#queue.shift();
      if (event || this.#ended) return event;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (!event) throw new Error(`the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  async rest(): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (!event) return events;
      events.push(event);
    }
  }

  /** Returns all events up to and including the first one that satisfies `isLast`. */
  async until(isLast: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (;;) {
      const [event] = await this.take(1);
      events.push(event!);
      if (isLast(event!)) return events;
    }
  }

  /** Stops reading without disconnecting, like a stuck client. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  close(): void {
    this.#stream.destroy();
  }
}

/** Formats each event as `TYPE name`. */
export function summary(events: readonly WatchEvent[]): string[] {
  return events.map(({ type, object }) => (object.metadata.name ? `${type} ${object.metadata.name}` : type));
}
