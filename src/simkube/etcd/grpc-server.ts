import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { errorMessage } from '../../machinery/index.ts';
import { EtcdError, grpcCode } from './errors.ts';
import { callEtcd, type EtcdEndpoint } from './methods.ts';
import { readFields } from './protobuf.ts';

export interface EtcdTls {
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the authority of etcd: clients without a certificate of it are turned away */
  readonly authority: string;
}

export interface EtcdServer {
  accept(socket: Duplex): void;
  close(): void;
}

const prefixBytes = 5;
const maxRequestBytes = 1_572_864;

/** Serves etcd's gRPC API on connections that come in elsewhere. */
export function createEtcdServer(endpoint: EtcdEndpoint, tls: EtcdTls): EtcdServer {
  const sessions = new Set<ServerHttp2Session>();
  // Most members are never talked to; the TLS server is made for the first connection.
  let server: Http2SecureServer | undefined;
  return {
    accept(socket) {
      socket.on('error', () => socket.destroy());
      server ??= tlsServer(endpoint, tls, sessions);
      server.emit('connection', socket);
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
    ca: tls.authority,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => session.destroy());
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    void answer(stream, String(headers[':path'] ?? ''), endpoint);
  });
  // What a client does wrong is between it and its handshake.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('sessionError', () => {});
  return server;
}

async function answer(stream: ServerHttp2Stream, path: string, endpoint: EtcdEndpoint): Promise<void> {
  stream.on('error', () => stream.destroy());
  try {
    const request = await readMessage(stream);
    const response = callEtcd(endpoint, path, readFields(request));
    const frame = Buffer.allocUnsafe(prefixBytes + response.length);
    frame[0] = 0;
    frame.writeUInt32BE(response.length, 1);
    response.copy(frame, prefixBytes);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(grpcCode.ok), 'grpc-message': '' }));
    stream.end(frame);
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
