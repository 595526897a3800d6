import { type IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { statusError } from '../../machinery/index.ts';
import { RequestWire, type UpgradeOffer } from './wire.ts';

/**
 * An upgrade request. Until the upgrade is accepted it can be answered like any other request, which closes the
 * connection because nobody reads further requests from it.
 */
export class UpgradeWire extends RequestWire {
  readonly input: Readable = Readable.from([]);
  readonly hasBody = false;
  readonly output: ServerResponse;
  readonly #socket: Duplex;
  readonly #head: Buffer;

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer) {
    super(request);
    this.#socket = socket;
    this.#head = head;
    socket.on('error', () => socket.destroy());
    this.output = new ServerResponse(request);
    this.output.shouldKeepAlive = false;
    this.output.assignSocket(socket as TLSSocket);
    this.output.on('finish', () => socket.end());
  }

  async upgrade(offers: readonly UpgradeOffer[]): Promise<void> {
    if (this.headers.upgrade?.toLowerCase() === spdyVersion.toLowerCase()) return this.#upgradeToSpdy(offers);
    const asked = listed(this.headers['sec-websocket-protocol']);
    const isWebSocket = this.headers.upgrade?.toLowerCase() === 'websocket';
    // A client without a protocol gets the unnamed one, if offered.
    const names = asked.length === 0 ? [''] : asked;
    const offer = isWebSocket && offers.find((candidate) => names.includes(webSocketProtocol(candidate)));
    if (!offer) {
      throw statusError.badRequest(
        `unable to upgrade: this server speaks ${spdyVersion}, and WebSocket with the protocols ${offers.map(webSocketProtocol).join(', ')}`,
      );
    }
    offer.check?.();
    // Loaded on demand, so that servers without Pod connections do not pay for it.
    const { createWebSocketStream, WebSocketServer } = await import('ws');
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      handleProtocols: () => webSocketProtocol(offer),
    });
    this.output.detachSocket(this.#socket as TLSSocket);
    await new Promise<void>((resolve) => {
      server.handleUpgrade(this.request, this.#socket, this.#head, (socket) => {
        if (offer.over === 'spdy') offer.serve(createWebSocketStream(socket));
        else offer.serve(socket);
        resolve();
      });
    });
  }

  #upgradeToSpdy(offers: readonly UpgradeOffer[]): void {
    const asked = listed(this.headers['x-stream-protocol-version']);
    const offer = offers.find((candidate) => candidate.over === 'spdy' && asked.includes(candidate.protocol));
    if (offer?.over !== 'spdy') {
      const spoken = offers.filter(({ over }) => over === 'spdy').map(({ protocol }) => protocol);
      throw statusError.badRequest(
        `unable to upgrade: unable to negotiate protocol: client supports [${asked.join(' ')}], server accepts [${spoken.join(' ')}]`,
      );
    }
    offer.check?.();
    this.output.detachSocket(this.#socket as TLSSocket);
    this.#socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${spdyVersion}\r\nX-Stream-Protocol-Version: ${offer.protocol}\r\n\r\n`,
    );
    if (this.#head.length > 0) this.#socket.unshift(this.#head);
    offer.serve(this.#socket);
  }
}

/** Clients send pieces of about 32 KiB; a message is held in memory as a whole. */
const maxMessageBytes = 4 * 1024 * 1024;

const spdyVersion = 'SPDY/3.1';

/** SPDY can be tunneled in a WebSocket, for proxies that block other upgrades. */
function webSocketProtocol(offer: UpgradeOffer): string {
  return offer.over === 'spdy' ? `${spdyVersion}+${offer.protocol}` : offer.protocol;
}

function listed(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
