import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Duplex } from 'node:stream';
import { type Clock, errorMessage } from '../../../../machinery/index.ts';
import { EtcdError } from './types.ts';

/** Unary gRPC calls over one HTTP/2 connection. */
export interface GrpcChannel {
  call(path: string, request: Buffer, signal: AbortSignal): Promise<Buffer>;
  /** whether no more calls can be made */
  isClosed(): boolean;
  close(): void;
}

export interface GrpcChannelOptions {
  /** the connection; TLS, where there is any, has been agreed on */
  stream: Duplex;
  /** for the `:authority` header */
  authority: string;
  clock: Clock;
  /** how long one call may take */
  callTimeoutMs: number;
}

const maxAnswerBytes = 4 * 1024 * 1024;
const prefixBytes = 5;

export function openGrpcChannel(options: GrpcChannelOptions): GrpcChannel {
  const { stream, clock, callTimeoutMs } = options;
  const session: ClientHttp2Session = connect(`http://${options.authority}`, { createConnection: () => stream });
  let failure: unknown;
  session.on('error', (error) => {
    failure ??= error;
  });
  stream.on('error', (error) => {
    failure ??= error;
  });

  const call = (path: string, request: Buffer, signal: AbortSignal): Promise<Buffer> =>
    new Promise<Buffer>((resolve, reject) => {
      signal.throwIfAborted();
      if (session.closed || session.destroyed) {
        reject(lost(path, failure));
        return;
      }
      const stream2 = session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        [constants.HTTP2_HEADER_SCHEME]: 'https',
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
        te: 'trailers',
        'grpc-timeout': `${callTimeoutMs}m`,
      });
      const chunks: Buffer[] = [];
      let received = 0;
      let headers: IncomingHttpHeaders = {};
      let trailers: IncomingHttpHeaders = {};
      let settled = false;
      const settle = (finish: () => void): void => {
        if (settled) return;
        settled = true;
        cancel();
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      const fail = (error: unknown): void =>
        settle(() => {
          stream2.close(constants.NGHTTP2_CANCEL);
          reject(error);
        });
      const cancel = clock.after(callTimeoutMs, () =>
        fail(new EtcdError(`${path} got no answer within ${callTimeoutMs / 1000} s`)),
      );
      const onAbort = (): void => fail(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      stream2.on('response', (received) => {
        headers = received;
      });
      stream2.on('trailers', (received) => {
        trailers = received;
      });
      stream2.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > maxAnswerBytes) fail(new EtcdError(`the answer to ${path} is too large`));
        else chunks.push(chunk);
      });
      stream2.on('error', (error) => fail(lost(path, failure ?? error)));
      stream2.on('close', () => {
        // a stream may close without an error when the whole connection went away
        if (headers[constants.HTTP2_HEADER_STATUS] === undefined) fail(lost(path, failure));
        else settle(() => conclude(path, headers, trailers, chunks, resolve, reject));
      });
      stream2.end(frame(request));
    });

  return {
    call,
    isClosed: () => session.closed || session.destroyed || stream.destroyed,
    close() {
      session.destroy();
      stream.destroy();
    },
  };
}

function frame(message: Buffer): Buffer {
  const framed = Buffer.alloc(prefixBytes + message.length);
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, prefixBytes);
  return framed;
}

function conclude(
  path: string,
  headers: IncomingHttpHeaders,
  trailers: IncomingHttpHeaders,
  chunks: readonly Buffer[],
  resolve: (message: Buffer) => void,
  reject: (error: unknown) => void,
): void {
  const http = Number(headers[constants.HTTP2_HEADER_STATUS]);
  const outcome = trailers['grpc-status'] ?? headers['grpc-status'];
  if (outcome === undefined) {
    reject(new EtcdError(`${path} was answered with HTTP ${http} and without a gRPC status`));
    return;
  }
  const status = Number(outcome);
  if (status !== 0) {
    reject(new EtcdError(messageFrom(trailers['grpc-message'] ?? headers['grpc-message']), { status }));
    return;
  }
  const body = Buffer.concat(chunks);
  const length = body.length >= prefixBytes ? body.readUInt32BE(1) : -1;
  if (body[0] !== 0 || length !== body.length - prefixBytes) {
    reject(new EtcdError(`the answer to ${path} is not one gRPC message`));
    return;
  }
  resolve(body.subarray(prefixBytes));
}

function messageFrom(text: string | string[] | undefined): string {
  const message = Array.isArray(text) ? (text[0] ?? '') : (text ?? '');
  try {
    return decodeURIComponent(message) || 'etcd gave no reason';
  } catch {
    return message;
  }
}

function lost(path: string, cause: unknown): EtcdError {
  const why = cause === undefined ? 'the connection was closed' : errorMessage(cause);
  return new EtcdError(`${path} got no answer: ${why}`, { cause });
}
