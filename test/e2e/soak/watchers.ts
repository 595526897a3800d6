import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Resource, UnstructuredObject } from '../../../src/machinery/index.ts';
import type { InProcessServer } from '../../support/rough/in-process-server.ts';
import { emptyTally, type Selection, type Tally } from './tally.ts';

/** Format of a watcher's events. */
export type Shape = 'object' | 'table' | 'partial';

const accepts: Record<Shape, string> = {
  object: 'application/json',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  partial: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
};

/** Watches a selection from a revision on and checks the order of events. */
export abstract class Watcher {
  readonly selection: Selection;
  readonly tally: Tally = emptyTally();
  /** newest revision seen */
  revision: number;
  problem: string | undefined;

  constructor(selection: Selection, revision: number) {
    this.selection = selection;
    this.revision = revision;
  }

  abstract get description(): string;

  protected onEvent(type: string, revision: number): void {
    if (type === 'BOOKMARK') return;
    if (!(revision > this.revision)) {
      this.problem ??= `${type} at ${revision} came after ${this.revision}`;
    }
    this.revision = revision;
    if (type === 'DELETED') this.tally.deletes++;
    else if (type === 'ADDED' || type === 'MODIFIED') {
      this.tally.puts++;
      this.tally.sum += revision;
    } else this.problem ??= `${type} at ${revision}`;
  }
}

/** A watch over HTTP/2, with many watches per connection. */
export class HttpWatcher extends Watcher {
  readonly #shape: Shape;
  readonly #path: string;
  #stream: ClientHttp2Stream | undefined;
  #rest = '';
  resumed = 0;

  constructor(selection: Selection, revision: number, path: string, shape: Shape) {
    super(selection, revision);
    this.#path = path;
    this.#shape = shape;
  }

  get description(): string {
    return `HTTP, ${this.#shape}, ${this.selection.name}, resumed ${this.resumed} times`;
  }

  /** Starts, or resumes after `stop`. */
  start(session: ClientHttp2Session): Promise<void> {
    const selector = encodeURIComponent(this.selection.labelSelector);
    const query = `watch=true&resourceVersion=${this.revision}&labelSelector=${selector}`;
    const stream = session.request({ ':path': `${this.#path}?${query}`, accept: accepts[this.#shape] });
    this.#stream = stream;
    this.#rest = '';
    stream.setEncoding('utf8');
    stream.on('error', () => {});
    stream.on('data', (text: string) => {
      if (this.#stream === stream) this.#onText(text);
    });
    stream.on('end', () => {
      if (this.#stream === stream) this.problem ??= 'the server ended the watch';
    });
    return new Promise((resolve) => stream.once('response', () => resolve()));
  }

  stop(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.close(constants.NGHTTP2_CANCEL);
  }

  #onText(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const type = /^\{"type":"([A-Z]+)"/.exec(line)?.[1] ?? 'NOTHING';
      const revision = Number(/"resourceVersion":"(\d+)"/.exec(line)?.[1]);
      if (type === 'ERROR') this.problem ??= line.slice(0, 300);
      this.onEvent(type, revision);
    }
  }
}

/** A watch of an in-process client. */
export class LocalWatcher extends Watcher {
  readonly #stop = new AbortController();

  get description(): string {
    return `in process, ${this.selection.name}`;
  }

  run({ server }: InProcessServer, resource: Resource<UnstructuredObject>): Promise<void> {
    const { labelSelector } = this.selection;
    const events = server.localClient().watch(resource, {
      resourceVersion: String(this.revision),
      signal: this.#stop.signal,
      ...(labelSelector !== '' && { labelSelector }),
    });
    return (async () => {
      for await (const { type, object } of events) this.onEvent(type, Number(object.metadata.resourceVersion));
      if (!this.#stop.signal.aborted) this.problem ??= 'the server ended the watch';
    })();
  }

  stop(): void {
    this.#stop.abort();
  }
}

export function openSession({ admin }: InProcessServer): ClientHttp2Session {
  const { host, port, ca, cert, key } = admin;
  const session = connect(`https://${host}:${port}`, { ca, cert: cert!, key: key! });
  session.on('error', () => {});
  session.setMaxListeners(0);
  return session;
}
