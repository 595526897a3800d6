import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { HttpGetOptions } from './types.ts';

/** Sends a GET over a stream and returns the status code. Like a kubelet, does not verify certificates. */
export function httpGetOver(stream: Duplex, options: HttpGetOptions): Promise<number> {
  const { path, scheme, headers, signal } = options;
  return new Promise((resolve, reject) => {
    const connection = scheme === 'HTTPS' ? connectTls({ socket: stream, rejectUnauthorized: false }) : stream;
    const sent = request({
      createConnection: () => connection,
      method: 'GET',
      path,
      headers: { host: 'localhost', connection: 'close', ...headers },
      signal,
    });
    sent.on('error', reject);
    connection.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end();
  });
}
