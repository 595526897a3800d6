import type { WebSocket } from 'ws';
import type { UpgradeOffer } from '../http/wire.ts';

/** By what clients call the protocol: whether messages are base64, for clients that can read text only. */
const protocols: ReadonlyMap<string, { base64: boolean }> = new Map([
  ['', { base64: false }],
  ['binary.k8s.io', { base64: false }],
  ['base64.binary.k8s.io', { base64: true }],
]);

/** A text as messages of a WebSocket, piece by piece as it comes: how browsers and others follow logs. */
export function textOffers(text: AsyncIterable<string> | string): UpgradeOffer[] {
  return [...protocols].map(([protocol, { base64 }]) => ({
    over: 'websocket',
    protocol,
    serve: (socket) => void serveText(socket, typeof text === 'string' ? once(text) : text, base64),
  }));
}

async function* once(text: string): AsyncGenerator<string> {
  if (text !== '') yield text;
}

async function serveText(socket: WebSocket, text: AsyncIterable<string>, base64: boolean): Promise<void> {
  const pieces = text[Symbol.asyncIterator]();
  // Whoever leaves wants no more; what is being waited for then ends as well.
  socket.on('close', () => void pieces.return?.()?.catch(ignore));
  socket.on('error', ignore);
  try {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      if (socket.readyState !== socket.OPEN) return;
      await send(socket, Buffer.from(next.value, 'utf8'), base64);
    }
    socket.close(1000);
  } catch {
    socket.terminate();
  }
}

/** Resolves once the message is on its way, so that nothing piles up for a client that does not read. */
function send(socket: WebSocket, bytes: Buffer, base64: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = (error?: Error | null): void => (error ? reject(error) : resolve());
    if (base64) socket.send(bytes.toString('base64'), { binary: false }, sent);
    else socket.send(bytes, { binary: true }, sent);
  });
}

function ignore(): void {}
