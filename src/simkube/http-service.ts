import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { CertificateAndKey } from '../pki/index.ts';
import type { HttpAnswer, PortService } from './types.ts';

/** Answers GET requests, also over sockets; uses TLS if a certificate is given. */
export function httpService(
  get: (path: string) => Promise<HttpAnswer> | HttpAnswer,
  serving?: CertificateAndKey,
): PortService {
  let server: Server | undefined;
  const answer = async (path: string): Promise<HttpAnswer> => get(path);
  return {
    get: answer,
    accept(socket: Duplex): void {
      socket.on('error', () => socket.destroy());
      // Created on the first connection, because probes within the process need none.
      server ??= makeServer(answer, serving);
      server.emit('connection', socket);
    },
  };
}

function makeServer(get: (path: string) => Promise<HttpAnswer>, serving: CertificateAndKey | undefined): Server {
  const server = serving
    ? createSecureServer({ cert: serving.certificate, key: serving.privateKey, minVersion: 'TLSv1.2' })
    : createServer();
  server.on('request', (request, response) => {
    get(request.url ?? '/').then(
      ({ status, body }) => response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('clientError', (_error, socket) => socket.destroy());
  return server;
}
