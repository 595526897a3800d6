import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { errorMessage } from '../../machinery/index.ts';
import type { EtcdEndpoint } from './endpoint.ts';
import { EtcdError, grpcCode } from './errors.ts';
import { answerHealth } from './health.ts';
import { callEtcd } from './methods.ts';
import { readFields } from './protobuf.ts';

export interface EtcdTls {
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of etcd's CA; clients without a certificate from it are rejected. Absent: all clients are accepted. */
  readonly authority?: string;
}

export interface EtcdServer {
  accept(socket: Duplex): void;
  close(): void;
}

const prefixBytes = 5;
const maxRequestBytes = 1_572_864;

/** Serves etcd's gRPC API on existing connections. Reads its certificate for every handshake. */
export function createEtcdServer(endpoint: EtcdEndpoint, tls: EtcdTls): EtcdServer {
  const sessions = new Set<ServerHttp2Session>();
  // Created on the first connection, because most members never get one.
  let made: { readonly server: Http2SecureServer; readonly certificate: string } | undefined;
  return {
    accept(socket) {
      socket.on('error', () => socket.destroy());
      const { certificate } = tls;
      if (made?.certificate !== certificate) made = { server: tlsServer(endpoint, tls, sessions), certificate };
      made.server.emit('connection', socket);
    },
    close() {
      for (const session of sessions) session.destroy();
    },
  };
}

function tlsServer(endpoint: EtcdEndpoint, tls: EtcdTls, sessions: Set<ServerHttp2Session>): Http2SecureServer {
  const server = createSecureServer({
    cert: tls.certificate,
    key: tls.privateKey,
    ...(tls.authority !== undefined && { ca: tls.authority, requestCert: true, rejectUnauthorized: true }),
    minVersion: 'TLSv1.2',
    allowHTTP1: true,
  });
  // A listener for 'request' makes Node wrap every HTTP/2 stream as well, through a listener for this event.
  server.removeAllListeners('newListener');
  server.on('request', (request, response) => {
    if (request.httpVersionMajor >= 2) return;
    const { status, body } = answerHealth(endpoint, request.url ?? '/');
    const answer = response as unknown as ServerResponse<IncomingMessage>;
    answer.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => session.destroy());
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const path = String(headers[':path'] ?? '');
    if (headers[':method'] === 'GET') {
      const { status, body } = answerHealth(endpoint, path);
      stream.respond({ ':status': status, 'content-type': 'application/json' });
      stream.end(body);
    } else void answer(stream, path, endpoint);
  });
  // Client errors during the handshake are not errors of the server.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('sessionError', () => {});
  return server;
}

async function answer(stream: ServerHttp2Stream, path: string, endpoint: EtcdEndpoint): Promise<void> {
  stream.on('error', () => stream.destroy());
  try {
    const request = await readMessage(stream);
    const messages = await callEtcd({ endpoint, user: userOf(stream) }, path, readFields(request));
    if (stream.destroyed) return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(grpcCode.ok), 'grpc-message': '' }));
    for (const message of messages) stream.write(framed(message));
    stream.end();
  } catch (error) {
    if (stream.destroyed) return;
    const code = error instanceof EtcdError ? error.code : grpcCode.internal;
    stream.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': String(code),
        'grpc-message': encodeURIComponent(errorMessage(error)).replaceAll('%20', ' '),
      },
      { endStream: true },
    );
  }
}

/** Cached per session, because parsing a client certificate costs more than most calls. */
const users = new WeakMap<Http2Session, string>();

/** Returns the common name of the client certificate. */
function userOf({ session }: ServerHttp2Stream): string {
  if (!session) return '';
  let user = users.get(session);
  if (user === undefined) {
    const name = (session.socket as TLSSocket).getPeerCertificate?.()?.subject?.CN as string | string[] | undefined;
    user = (Array.isArray(name) ? name.at(-1) : name) ?? '';
    users.set(session, user);
  }
  return user;
}

function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, prefixBytes);
  return frame;
}

async function readMessage(stream: ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxRequestBytes) throw new EtcdError(grpcCode.invalidArgument, 'etcdserver: request is too large');
  }
  const body = Buffer.concat(chunks);
  if (body.length < prefixBytes || body[0] !== 0 || body.readUInt32BE(1) !== body.length - prefixBytes) {
    throw new EtcdError(grpcCode.internal, 'the request is no single uncompressed message');
  }
  return body.subarray(prefixBytes);
}
