import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { CapstanError, type Clock } from '../../machinery/index.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';

export interface ListenOptions {
  host: string;
  /** 0 takes a free port */
  port: number;
  tls: { cert: string; key: string; clientCa: string };
  clock: Clock;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** stops accepting, lets requests under way finish until `deadlineMs`, then cuts what is left */
  close(deadlineMs: number): Promise<void>;
}

const maxHeaderBytes = 64 * 1024;
const requestTimeoutMs = 60_000;
const pingIntervalMs = 30_000;
const pingTimeoutMs = 15_000;
const streamWindowBytes = 1024 * 1024;

/**
 * HTTPS for HTTP/1.1 and HTTP/2 on one port. Client certificates are asked for but not demanded: who has none may come
 * with a token.
 */
export async function listen(
  options: ListenOptions,
  handle: (request: HttpRequest, response: HttpResponse) => void,
): Promise<Listener> {
  const server = createSecureServer({
    allowHTTP1: true,
    minVersion: 'TLSv1.2',
    cert: options.tls.cert,
    key: options.tls.key,
    ca: options.tls.clientCa,
    requestCert: true,
    rejectUnauthorized: false,
    maxHeaderSize: maxHeaderBytes,
    // Watches hold their buffers here; the per-watch limit cuts slow readers long before this one.
    maxSessionMemory: 1024,
    settings: { maxConcurrentStreams: 1000, initialWindowSize: streamWindowBytes, maxHeaderListSize: maxHeaderBytes },
  } as Parameters<typeof createSecureServer>[0]);
  applyTimeouts(server);
  const connections = trackConnections(server, options.clock);
  server.on('request', (request, response) => handle(request as HttpRequest, response as unknown as HttpResponse));
  await bind(server, options);
  const address = server.address() as AddressInfo;
  return {
    host: options.host,
    port: address.port,
    close: (deadlineMs) => closeServer(server, connections, deadlineMs, options.clock),
  };
}

/** A client that dribbles its request is cut off; answers (watches) may last as long as they like. */
function applyTimeouts(server: Http2SecureServer): void {
  const http1 = server as unknown as { headersTimeout: number; requestTimeout: number; keepAliveTimeout: number };
  http1.headersTimeout = requestTimeoutMs;
  http1.requestTimeout = requestTimeoutMs;
  http1.keepAliveTimeout = 120_000;
  server.setTimeout(0);
}

interface Connections {
  sockets: Set<Socket>;
  sessions: Set<ServerHttp2Session>;
}

function trackConnections(server: Http2SecureServer, clock: Clock): Connections {
  const connections: Connections = { sockets: new Set(), sessions: new Set() };
  server.on('secureConnection', (socket) => {
    connections.sockets.add(socket);
    socket.setKeepAlive(true, pingIntervalMs);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => connections.sockets.delete(socket));
  });
  // Handshakes that fail and half-open connections are the client's trouble, not ours.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('clientError', (_error: Error, socket: Socket) => socket.destroy());
  server.on('sessionError', () => {});
  server.on('session', (session) => {
    connections.sessions.add(session);
    const stopPings = keepAlive(session, clock);
    session.on('error', () => session.destroy());
    session.once('close', () => {
      connections.sessions.delete(session);
      stopPings();
    });
  });
  return connections;
}

/** A peer that vanished without a word is noticed by its silence. */
function keepAlive(session: ServerHttp2Session, clock: Clock): () => void {
  let cancel = (): void => {};
  const schedule = (): void => {
    cancel = clock.after(pingIntervalMs, () => {
      if (session.destroyed || session.closed) return;
      cancel = clock.after(pingTimeoutMs, () => session.destroy());
      session.ping((error) => {
        cancel();
        if (!error) schedule();
      });
    });
  };
  schedule();
  return () => cancel();
}

function bind(server: Http2SecureServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${options.host}:${options.port}`;
      const hint =
        error.code === 'EADDRINUSE'
          ? 'another program listens there; choose another address with --listen, or port 0 for a free one'
          : 'choose another address with --listen';
      reject(
        new CapstanError('CAP_LISTEN_FAILED', `cannot listen on ${where}: ${error.message}`, { hint, cause: error }),
      );
    });
    server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => resolve());
  });
}

function closeServer(
  server: Http2SecureServer,
  connections: Connections,
  deadlineMs: number,
  clock: Clock,
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(deadlineMs, () => {
      for (const session of connections.sessions) session.destroy();
      for (const socket of connections.sockets) socket.destroy();
    });
    server.close(() => {
      cancel();
      resolve();
    });
    for (const session of connections.sessions) session.close();
    // Idle keep-alive connections of HTTP/1.1 clients would hold the server open until their timeout.
    (server as unknown as { closeIdleConnections?(): void }).closeIdleConnections?.();
  });
}
