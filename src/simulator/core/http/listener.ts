import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { ConnectionBroken } from './gateway.ts';
import type { Transport } from './wire.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 chooses a free port */
  readonly port: number;
  /** PEM; without it plain HTTP */
  readonly tls?: { readonly certificate: string; readonly privateKey: string };
}

export interface CloudListener {
  readonly host: string;
  readonly port: number;
  /** for example `http://127.0.0.1:41234` */
  readonly url: string;
  close(): Promise<void>;
}

/** Image data is kept in memory, so uploads are limited. */
const maxBodyBytes = 64 * 1024 * 1024;

/** Serves the cloud over HTTP or HTTPS on one port. */
export async function listen(transport: Transport, options: ListenOptions): Promise<CloudListener> {
  const scheme = options.tls ? 'https' : 'http';
  const onRequest: RequestListener = (message, response) => {
    serve(transport, scheme, message, response).catch(() => message.socket.destroy());
  };
  const server = options.tls
    ? createTlsServer({ cert: options.tls.certificate, key: options.tls.privateKey }, onRequest)
    : createServer(onRequest);
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port, family, address } = server.address() as AddressInfo;
  const host =
    family === 'IPv6' ? `[${address === '::' ? '::1' : address}]` : address === '0.0.0.0' ? '127.0.0.1' : address;
  return {
    host: address,
    port,
    url: `${scheme}://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  transport: Transport,
  scheme: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(message);
  if (body === 'too large') {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const host = message.headers.host ?? 'localhost';
  try {
    const answer = await transport({
      method: message.method ?? 'GET',
      url: `${scheme}://${host}${message.url ?? '/'}`,
      headers: message.headers as Record<string, string>,
      ...(body && { body }),
      // Created lazily: only faults that delay an answer use it.
      get signal() {
        return goneSignal(response);
      },
    });
    response.writeHead(answer.status, answer.headers as Record<string, string>);
    response.end(answer.body.length > 0 ? answer.body : undefined);
  } catch (error) {
    // A simulated broken connection destroys the socket. A client that has disconnected needs no answer.
    if (!(error instanceof ConnectionBroken) && !response.destroyed) throw error;
    message.socket.destroy();
  }
}

/** Returns a signal that aborts when the client disconnects. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

async function readBody(message: IncomingMessage): Promise<Buffer | 'too large' | undefined> {
  if (message.headers['content-length'] === undefined && message.headers['transfer-encoding'] === undefined) {
    return undefined;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return 'too large';
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
