import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';

export type ResponseHeaders = Record<string, string | number | string[]>;

/** Common interface of requests and responses in HTTP/1.1 and HTTP/2. */
export interface Wire {
  readonly method: string;
  /** path and query */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** alternating names and values as received */
  readonly rawHeaders: readonly string[];
  readonly input: Readable;
  /** false if nothing follows the headers */
  readonly hasBody: boolean;
  /** body of the response; ending it ends the exchange */
  readonly output: Writable;
  readonly socket: TLSSocket | undefined;
  readonly remoteAddress: string | undefined;
  readonly headersSent: boolean;
  /** takes ownership of the headers */
  writeHead(code: number, headers: ResponseHeaders): void;
  /** sends the head without waiting for the body */
  flushHead(): void;
  /** announces the last response on the connection, if the protocol supports it */
  announceClose(): void;
  /** puts the last piece of the completely read body back; with this method, nobody waits for 'end' */
  putBackLast?(piece: Buffer): void;
  /** switches to one of the offered protocols that the request asks for; rejects if there is none */
  upgrade?(offers: readonly UpgradeOffer[]): Promise<void>;
}

/** A protocol that a connection can switch to. */
export type UpgradeOffer = MessagesOffer | StreamsOffer;

interface Offer {
  protocol: string;
  /** throws if the request is invalid, while an error response is still possible */
  check?(): void;
}

interface MessagesOffer extends Offer {
  over: 'websocket';
  serve(socket: WebSocket): void;
}

/** Streams over SPDY/3.1, on the connection itself or inside a WebSocket. */
interface StreamsOffer extends Offer {
  over: 'spdy';
  serve(connection: Duplex): void;
}

/** The request side of HTTP/1.1, independent of the kind of response. */
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

/** HTTP/2 on the raw stream. Node's HTTP/1.1 compatibility layer would cost a quarter of a small request. */
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

  /** true when the client has sent its whole request */
  get hasWholeBody(): boolean {
    return this.#hasWholeBody || this.input.readableEnded;
  }

  /**
   * Node destroys a stream when both sides have ended. For a completely read body this happens before the response has
   * left the process. Node then leaves the stream and everything attached to the slow part of the garbage collector and
   * creates an error, which costs a tenth of a write. With an unread piece, Node waits for the response.
   */
  putBackLast(piece: Buffer): void {
    this.#hasWholeBody = true;
    this.input.pause();
    this.input.unshift(piece);
    this.input.on('finish', resume);
  }
}

/**
 * Discards data that a client sends after the response. Unread data would wait for a window that never opens. A reset
 * would overtake the response, and Go clients would report the reset instead. The listener disconnects clients that
 * continue for too long.
 */
function discardRest(stream: ServerHttp2Stream): void {
  stream.on('finish', resume);
}

function resume(this: ServerHttp2Stream): void {
  if (!this.readableEnded) this.resume();
}

/** A session creates a new proxy of its socket at each access. One is kept, so that caches can use it as key. */
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
