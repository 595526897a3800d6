import type { WebSocket } from 'ws';
import type { UpgradeOffer } from '../http/wire.ts';

/** Whether messages are base64, by protocol name; base64 is for clients that can read only text. */
const protocols: ReadonlyMap<string, { base64: boolean }> = new Map([
  ['', { base64: false }],
  ['binary.k8s.io', { base64: false }],
  ['base64.binary.k8s.io', { base64: true }],
]);

/** Sends a text as WebSocket messages as it is produced. Browsers and others follow logs this way. */
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
  // Ends the source when the client disconnects.
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

/** Resolves when the message is sent, to apply backpressure. */
function send(socket: WebSocket, bytes: Buffer, base64: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = (error?: Error | null): void => (error ? reject(error) : resolve());
    if (base64) socket.send(bytes.toString('base64'), { binary: false }, sent);
    else socket.send(bytes, { binary: true }, sent);
  });
}

function ignore(): void {}
