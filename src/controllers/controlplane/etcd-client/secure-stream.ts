import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { type Clock, errorMessage, limitAnswer } from '../../../machinery/index.ts';
import { EtcdError } from './types.ts';

export interface SecureStreamOptions {
  /** PEM */
  authority?: string;
  certificate?: string;
  privateKey?: string;
  serverName: string;
  alpn?: readonly string[];
  /** accept any server certificate, to inspect it */
  trustNobody?: boolean;
  clock: Clock;
  timeoutMs: number;
}

/** Runs a TLS handshake over an open stream. */
export function secureStream(stream: Duplex, options: SecureStreamOptions, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed) throw notSecure(stream.errored ?? new Error('the other side closed it'));
    const socket = connect({
      socket: stream,
      servername: options.serverName,
      ...(options.authority !== undefined && { ca: options.authority }),
      ...(options.certificate !== undefined && { cert: options.certificate }),
      ...(options.privateKey !== undefined && { key: options.privateKey }),
      ...(options.alpn && { ALPNProtocols: [...options.alpn] }),
      ...(options.trustNobody === true && { rejectUnauthorized: false }),
    });
    const fail = (error: unknown): void => {
      end();
      socket.on('error', () => {});
      socket.destroy();
      stream.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    const onError = (error: Error): void => fail(notSecure(error));
    // a stream that ends during the handshake emits only `close`
    const onClose = (): void => onError(new Error('the other side closed it'));
    const cancel = limitAnswer(options.clock, options.timeoutMs, () =>
      fail(new EtcdError(`no secure connection within ${options.timeoutMs / 1000} s`)),
    );
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
      stream.removeListener('error', onError);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('error', onError);
    socket.on('close', onClose);
    stream.on('error', onError);
    socket.once('secureConnect', () => {
      end();
      // later errors surface in reads and writes; without this listener they would crash the process
      socket.on('error', () => {});
      stream.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

function notSecure(error: Error): EtcdError {
  return new EtcdError(`no secure connection: ${errorMessage(error)}`, { cause: error });
}
