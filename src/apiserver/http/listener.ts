import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CapstanError, type Clock } from '../../machinery/index.ts';
import { BodyTimeLimit } from './body-time-limit.ts';
import { maxHeadBytes } from './request-head.ts';
import { UpgradeWire } from './upgrade-wire.ts';
import { Http1Wire, Http2Wire, type Wire } from './wire.ts';

export interface TlsOptions {
  tls: { cert: string; key: string; clientCa: string };
  clock: Clock;
  /** default 60 s */
  requestTimeoutMs?: number;
}

export interface ListenOptions extends TlsOptions {
  host: string;
  /** 0 selects a free port */
  port: number;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** applies to new connections only */
  setCertificate(tls: TlsOptions['tls']): void;
  /** stops accepting, lets pending requests finish until `deadlineMs`, then closes all connections */
  close(deadlineMs: number): Promise<void>;
}

/** Larger than the served limit, so that slightly too large requests get a proper response: see refuseOversizedHead. */
const maxReadHeadBytes = 2 * maxHeadBytes;
/** HTTP/2 adds 32 bytes per field to its size, so the byte limit is always reached first. */
const maxReadHeadFields = maxReadHeadBytes / 32;
const defaultRequestTimeoutMs = 60_000;
const keepAliveTimeoutMs = 120_000;
/** Interval of the check for slow HTTP/1.1 requests. */
const checkIntervalMs = 10_000;
/** Time for a refused client to read the reason. */
const refusalLingerMs = 1000;
const pingIntervalMs = 30_000;
const pingTimeoutMs = 15_000;
const streamWindowBytes = 1024 * 1024;
/** Upload window of all streams of a connection. Node's default of 64 KiB would slow uploads over long distances. */
const sessionWindowBytes = 16 * streamWindowBytes;
/** Interval in which a closing server closes idle connections. */
const idleSweepMs = 20;

/** Serves HTTPS with HTTP/1.1 and HTTP/2 on one port. */
export async function listen(options: ListenOptions, handle: (wire: Wire) => void): Promise<Listener> {
  const { server, connections } = createHttpsServer(options, handle);
  await bind(server, options);
  const address = server.address() as AddressInfo;
  return {
    host: options.host,
    port: address.port,
    setCertificate: (tls) => useCertificate(server, tls),
    close: (deadlineMs) => closeServer(server, connections, deadlineMs, options.clock),
  };
}

/** Serves connections that were accepted elsewhere. */
export interface Acceptor {
  accept(socket: Duplex): void;
  setCertificate(tls: TlsOptions['tls']): void;
  /** closes all connections */
  close(): void;
}

/** Like `listen`, without a port of its own. */
export function acceptor(options: TlsOptions, handle: (wire: Wire) => void): Acceptor {
  const { server, connections } = createHttpsServer(options, handle);
  return {
    accept(socket) {
      socket.on('error', () => socket.destroy());
      server.emit('connection', socket);
    },
    setCertificate: (tls) => useCertificate(server, tls),
    close() {
      for (const session of connections.sessions) session.destroy();
      for (const socket of connections.sockets) socket.destroy();
    },
  };
}

function useCertificate(server: Http2SecureServer, { cert, key, clientCa }: TlsOptions['tls']): void {
  server.setSecureContext({ cert, key, ca: clientCa, minVersion: 'TLSv1.2' });
}

/** Client certificates are requested but optional, because clients may use a token. */
function createHttpsServer(
  options: TlsOptions,
  handle: (wire: Wire) => void,
): { server: Http2SecureServer; connections: Connections } {
  const requestTimeoutMs = options.requestTimeoutMs ?? defaultRequestTimeoutMs;
  const server = createSecureServer({
    allowHTTP1: true,
    minVersion: 'TLSv1.2',
    cert: options.tls.cert,
    key: options.tls.key,
    ca: options.tls.clientCa,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: requestTimeoutMs,
    // Watch buffers count here. The per-watch limit disconnects slow readers long before this one.
    maxSessionMemory: 1024,
    maxHeaderListPairs: maxReadHeadFields,
    settings: { maxConcurrentStreams: 1000, initialWindowSize: streamWindowBytes, maxHeaderListSize: maxReadHeadBytes },
  } as Parameters<typeof createSecureServer>[0]);
  limitHttp1(server, requestTimeoutMs);
  const connections = trackConnections(server, options.clock);
  serveHttp1(server, handle);
  const bodyTimeLimit = new BodyTimeLimit(requestTimeoutMs, options.clock);
  const serveStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _flags: number,
    rawHeaders: readonly string[],
  ): void => {
    const wire = new Http2Wire(stream, headers, rawHeaders);
    if (!stream.endAfterHeaders) bodyTimeLimit.add(wire);
    handle(wire);
  };
  // The Node types lack the raw headers argument.
  server.on('stream', serveStream as (...args: unknown[]) => void);
  return { server, connections };
}

function serveHttp1(server: Http2SecureServer, handle: (wire: Wire) => void): void {
  // Node's 'newListener' hook would wrap every HTTP/2 stream as soon as there is a 'request' listener.
  server.removeAllListeners('newListener');
  server.on('request', (request, response) => {
    if (request.httpVersionMajor >= 2) return;
    handle(new Http1Wire(request as unknown as IncomingMessage, response as unknown as ServerResponse));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    handle(new UpgradeWire(request, socket, head));
  });
}

/** Disconnects clients that send requests too slowly. Responses such as watches have no limit. */
function limitHttp1(server: Http2SecureServer, requestTimeoutMs: number): void {
  // The server reads these properties when a connection uses HTTP/1.1, but has no options for them.
  Object.assign(server, {
    maxHeaderSize: maxReadHeadBytes,
    // Node silently drops headers above a maximum count; with 0 only their size is limited.
    maxHeadersCount: 0,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(checkIntervalMs, requestTimeoutMs / 2),
  });
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
  // Failed handshakes and half-open connections are faults of the client.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('clientError', (error: Error, socket: Socket) => refuseConnection(error, socket, clock));
  server.on('sessionError', () => {});
  server.on('session', (session) => {
    connections.sessions.add(session);
    session.setLocalWindowSize(sessionWindowBytes);
    const stopPings = keepAlive(session, clock);
    session.on('error', () => session.destroy());
    session.once('close', () => {
      connections.sessions.delete(session);
      stopPings();
    });
  });
  return connections;
}

/** Answers invalid HTTP/1.1 with an error if the connection is still writable. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  // The parser reports further errors for every following piece of a failed request.
  if (refused.has(socket)) return;
  refused.add(socket);
  const answering = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
  if (error.code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  const [code, phrase, reason, message] = refusals[error.code ?? ''] ?? badRequest;
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
  });
  socket.end(
    `HTTP/1.1 ${code} ${phrase}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // Closing a connection with unread bytes resets it, and the client would lose the response.
  socket.resume();
  const cancel = clock.after(refusalLingerMs, () => socket.destroy());
  socket.once('close', cancel);
}

const refused = new WeakSet<Socket>();

type Refusal = readonly [code: number, phrase: string, reason: string, message: string];

const badRequest: Refusal = [400, 'Bad Request', 'BadRequest', 'the request is not valid HTTP'];
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'RequestHeaderFieldsTooLarge',
    `the head of the request is larger than ${maxHeadBytes} bytes`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'Timeout', 'the request was not complete in time'],
};

/** Detects peers that vanished without closing the connection. */
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
    // HTTP/1.1 connections become idle one by one when their requests end, and would then stay open.
    let cancelSweep = (): void => {};
    const closeIdle = (): void => {
      (server as unknown as { closeIdleConnections(): void }).closeIdleConnections();
      cancelSweep = clock.after(idleSweepMs, closeIdle);
    };
    server.close(() => {
      cancel();
      cancelSweep();
      resolve();
    });
    for (const session of connections.sessions) session.close();
    closeIdle();
  });
}
