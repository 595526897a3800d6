import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import { statusError } from '../../machinery/index.ts';
import { asTlsSocket, type ResponseHeaders, type Wire } from './wire.ts';

/**
 * A request to go on in another protocol on the same connection. Until it is granted it can be answered like any other,
 * which ends the connection: nobody reads further requests from it.
 */
export class UpgradeWire implements Wire {
  readonly input: Readable = Readable.from([]);
  readonly output: ServerResponse;
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #head: Buffer;

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer) {
    this.#request = request;
    this.#socket = socket;
    this.#head = head;
    socket.on('error', () => socket.destroy());
    this.output = new ServerResponse(request);
    this.output.shouldKeepAlive = false;
    this.output.assignSocket(socket as TLSSocket);
    this.output.on('finish', () => socket.end());
  }

  get method(): string {
    return this.#request.method ?? 'GET';
  }

  get url(): string {
    return this.#request.url ?? '/';
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get socket(): TLSSocket | undefined {
    return asTlsSocket(this.#request.socket);
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket.remoteAddress;
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

  async upgrade(protocols: readonly string[]): Promise<WebSocket> {
    const asked = (this.headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
    const isWebSocket = this.headers.upgrade?.toLowerCase() === 'websocket';
    if (!isWebSocket || !asked.some((protocol) => protocols.includes(protocol))) {
      throw statusError.badRequest(
        `unable to upgrade: this server speaks WebSocket with the protocols ${protocols.join(', ')}`,
      );
    }
    // Servers whose Pods nobody connects to do not pay for loading it.
    const { WebSocketServer } = await import('ws');
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
    });
    this.output.detachSocket(this.#socket as TLSSocket);
    return await new Promise((resolve) => {
      server.handleUpgrade(this.#request, this.#socket, this.#head, resolve);
    });
  }
}
