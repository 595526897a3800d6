import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { HttpGetOptions } from './types.ts';

/** A GET over a stream that leads to a port; the status code. Certificates are not checked, as a kubelet does not. */
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
