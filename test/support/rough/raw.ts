import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Endpoint } from './wire.ts';

/** Opens a raw TLS connection, to send bytes that no HTTP library would. */
export function openTls(endpoint: Endpoint, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { host, port, ca, cert, key } = endpoint;
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host,
      port,
      ca,
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ALPNProtocols: ['http/1.1'],
      ...options,
    });
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Opens a raw TCP connection. */
export function openTcp(endpoint: Endpoint): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(endpoint.port, endpoint.host, () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Reads until the peer closes the connection. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.once('close', () => resolve(text));
    socket.resume();
  });
}

/** Reads until the received text satisfies the predicate. */
export function readUntil(socket: Socket, done: (text: string) => boolean, patienceMs = 20_000): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`only this came:\n${text.slice(0, 500)}`)), patienceMs);
    const finish = (): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      resolve(text);
    };
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (done(text)) finish();
    };
    socket.on('data', onData);
    socket.once('close', finish);
  });
}

/** Returns the status codes of HTTP/1.1 answers in a text. */
export function statusCodes(text: string): number[] {
  return [...text.matchAll(/^HTTP\/1\.[01] (\d{3}) /gm)].map((match) => Number(match[1]));
}
