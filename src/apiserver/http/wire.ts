import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';

export type ResponseHeaders = Record<string, string | number | string[]>;

/** A request as it came in and the way its answer goes out: what HTTP/1.1 and HTTP/2 have in common. */
export interface Wire {
  readonly method: string;
  /** path and query */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** names and values in turn, as they were sent */
  readonly rawHeaders: readonly string[];
  /** body of the request */
  readonly input: Readable;
  /** false when nothing comes after the headers */
  readonly hasBody: boolean;
  /** body of the answer; ending it ends the exchange */
  readonly output: Writable;
  readonly socket: TLSSocket | undefined;
  readonly remoteAddress: string | undefined;
  readonly headersSent: boolean;
  /** takes ownership of the headers */
  writeHead(code: number, headers: ResponseHeaders): void;
  /** sends the head without waiting for the body */
  flushHead(): void;
  /** says that this answer is the last on the connection, where the protocol can */
  announceClose(): void;
  /** takes the last piece of the body back, once all of it has been read; where it exists, nobody waits for 'end' */
  putBackLast?(piece: Buffer): void;
  /** goes on in the protocol the request asks for and one of these offers; rejects when none does */
  upgrade?(offers: readonly UpgradeOffer[]): Promise<void>;
}

/** A protocol that a connection can go on with. */
export type UpgradeOffer = MessagesOffer | StreamsOffer;

interface Offer {
  protocol: string;
  /** throws what is wrong with the request, while it can still be answered */
  check?(): void;
}

/** The messages of a WebSocket. */
interface MessagesOffer extends Offer {
  over: 'websocket';
  serve(socket: WebSocket): void;
}

/** Streams within SPDY/3.1, on the connection itself or inside a WebSocket. */
interface StreamsOffer extends Offer {
  over: 'spdy';
  serve(connection: Duplex): void;
}

/** What a request of HTTP/1.1 says, however its answer goes out. */
export abstract class RequestWire implements Wire {
  abstract readonly input: Readable;
  abstract readonly hasBody: boolean;
  abstract readonly output: ServerResponse;
  protected readonly request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.request = request;
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  get url(): string {
    return this.request.url ?? '/';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  get socket(): TLSSocket | undefined {
    return asTlsSocket(this.request.socket);
  }

  get remoteAddress(): string | undefined {
    return this.request.socket.remoteAddress;
  }

  get headersSent(): boolean {
    return this.output.headersSent;
  }

  writeHead(code: number, headers: ResponseHeaders): void {
    this.output.writeHead(code, headers);
  }

  flushHead(): void {
    this.output.flushHeaders();
  }

  announceClose(): void {
    this.output.setHeader('connection', 'close');
  }
}

export class Http1Wire extends RequestWire {
  readonly input: IncomingMessage;
  readonly output: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    super(request);
    this.input = request;
    this.output = response;
  }

  get hasBody(): boolean {
    return this.headers['transfer-encoding'] !== undefined || Number(this.headers['content-length'] ?? 0) > 0;
  }
}

/** HTTP/2 on the bare stream: Node's imitation of the HTTP/1.1 classes would cost a quarter of a small request. */
export class Http2Wire implements Wire {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly input: ServerHttp2Stream;
  readonly output: ServerHttp2Stream;
  #hasWholeBody = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) {
    this.input = stream;
    this.output = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': constants.HTTP_STATUS_CONTINUE });
  }

  get hasBody(): boolean {
    return !this.input.endAfterHeaders;
  }

  get method(): string {
    return this.headers[':method'] as string;
  }

  get url(): string {
    return (this.headers[':path'] as string | undefined) ?? '/';
  }

  get socket(): TLSSocket | undefined {
    const { session } = this.output;
    return session && socketOf(session as ServerHttp2Session);
  }

  get remoteAddress(): string | undefined {
    return this.socket?.remoteAddress;
  }

  get headersSent(): boolean {
    return this.output.headersSent;
  }

  writeHead(code: number, headers: ResponseHeaders): void {
    const stream = this.output;
    if (stream.destroyed || stream.closed) return;
    if (!stream.endAfterHeaders && !this.hasWholeBody) discardRest(stream);
    headers[':status'] = code;
    stream.respond(headers);
  }

  flushHead(): void {}

  announceClose(): void {}

  /** The client has sent all it wanted to say. */
  get hasWholeBody(): boolean {
    return this.#hasWholeBody || this.input.readableEnded;
  }

  /**
   * Node destroys a stream when both sides have ended, which for a body read to its end is before the answer has left the
   * process. It then leaves the stream, and all that hangs on it, to the slow part of the garbage collector, and makes an
   * error besides: together a tenth of a write. With a piece unread it waits for the answer.
   */
  putBackLast(piece: Buffer): void {
    this.#hasWholeBody = true;
    this.input.pause();
    this.input.unshift(piece);
    this.input.on('finish', resume);
  }
}

/**
 * What a client still sends once it has its answer is thrown away: unread, it would wait for a window that never opens. A
 * reset would be shorter, but it overtakes the answer, and Go clients then report the reset instead of it. Clients that go on
 * sending for too long are cut off by the listener.
 */
function discardRest(stream: ServerHttp2Stream): void {
  stream.on('finish', resume);
}

function resume(this: ServerHttp2Stream): void {
  if (!this.readableEnded) this.resume();
}

/** A session makes a new proxy of its socket at each access; one is kept, so that caches can key on it. */
const sessionSockets = new WeakMap<ServerHttp2Session, TLSSocket>();

function socketOf(session: ServerHttp2Session): TLSSocket | undefined {
  let socket = sessionSockets.get(session);
  if (!socket) {
    socket = asTlsSocket(session.socket);
    if (socket) sessionSockets.set(session, socket);
  }
  return socket;
}

export function asTlsSocket(socket: object | undefined): TLSSocket | undefined {
  const candidate = socket as TLSSocket | undefined;
  return typeof candidate?.getPeerX509Certificate === 'function' ? candidate : undefined;
}
