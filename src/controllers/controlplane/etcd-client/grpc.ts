import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Duplex } from 'node:stream';
import { type CancelTimer, type Clock, errorMessage, limitAnswer } from '../../../machinery/index.ts';
import { EtcdError } from './types.ts';

/** gRPC calls over one HTTP/2 connection. */
export interface GrpcChannel {
  /** unary call */
  call(path: string, request: Buffer, signal: AbortSignal): Promise<Buffer>;
  /** server streaming; the next message is read once `onMessage` has finished with the last */
  stream(
    path: string,
    request: Buffer,
    onMessage: (message: Buffer) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  /** true if no more calls can be made */
  isClosed(): boolean;
  close(): void;
}

export interface GrpcChannelOptions {
  /** established connection, after the TLS handshake if any */
  stream: Duplex;
  /** value of the `:authority` header */
  authority: string;
  clock: Clock;
  /** timeout of a unary call; for a stream, the longest silence */
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

  const exchange = (exchangeOptions: {
    path: string;
    request: Buffer;
    /** a returned promise applies backpressure */
    onData(chunk: Buffer): void | Promise<void>;
    /** timeout applies to silence, not to the whole call */
    isStream: boolean;
    signal: AbortSignal;
  }): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const { path, request, isStream, signal } = exchangeOptions;
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
        ...(!isStream && { 'grpc-timeout': `${callTimeoutMs}m` }),
      });
      let headers: IncomingHttpHeaders = {};
      let trailers: IncomingHttpHeaders = {};
      let settled = false;
      let work: Promise<void> = Promise.resolve();
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
      const limit = (): CancelTimer =>
        limitAnswer(clock, callTimeoutMs, () =>
          fail(new EtcdError(`${path} got no answer within ${callTimeoutMs / 1000} s`)),
        );
      let cancel = limit();
      const onAbort = (): void => fail(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      stream2.on('response', (received) => {
        headers = received;
      });
      stream2.on('trailers', (received) => {
        trailers = received;
      });
      stream2.on('data', (chunk: Buffer) => {
        if (isStream && !settled) {
          cancel();
          cancel = limit();
        }
        try {
          const busy = exchangeOptions.onData(chunk);
          if (busy === undefined) return;
          stream2.pause();
          work = busy.then(() => {
            stream2.resume();
          });
          work.catch(fail);
        } catch (error) {
          fail(error);
        }
      });
      stream2.on('error', (error) => fail(lost(path, failure ?? error)));
      stream2.on('close', () => {
        // a lost connection may close the stream without an error
        if (headers[constants.HTTP2_HEADER_STATUS] === undefined) fail(lost(path, failure));
        else work.then(() => settle(() => conclude(path, headers, trailers, resolve, reject)), fail);
      });
      stream2.end(frame(request));
    });

  return {
    async call(path, request, signal) {
      const chunks: Buffer[] = [];
      let received = 0;
      const onData = (chunk: Buffer): void => {
        received += chunk.length;
        if (received > maxAnswerBytes) throw new EtcdError(`the answer to ${path} is too large`);
        chunks.push(chunk);
      };
      await exchange({ path, request, onData, isStream: false, signal });
      return onlyMessage(path, Buffer.concat(chunks));
    },
    async stream(path, request, onMessage, signal) {
      let rest: Buffer = Buffer.alloc(0);
      const onData = async (chunk: Buffer): Promise<void> => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        for (;;) {
          const length = rest.length >= prefixBytes ? rest.readUInt32BE(1) : -1;
          if (rest[0] === 1 || length > maxAnswerBytes) {
            throw new EtcdError(`the answer to ${path} is compressed or too large`);
          }
          if (length < 0 || rest.length < prefixBytes + length) return;
          const message = rest.subarray(prefixBytes, prefixBytes + length);
          rest = rest.subarray(prefixBytes + length);
          await onMessage(message);
        }
      };
      await exchange({ path, request, onData, isStream: true, signal });
      if (rest.length > 0) throw new EtcdError(`the answer to ${path} ended in the middle`);
    },
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

function onlyMessage(path: string, body: Buffer): Buffer {
  const length = body.length >= prefixBytes ? body.readUInt32BE(1) : -1;
  if (body[0] !== 0 || length !== body.length - prefixBytes) {
    throw new EtcdError(`the answer to ${path} is not one gRPC message`);
  }
  return body.subarray(prefixBytes);
}

function conclude(
  path: string,
  headers: IncomingHttpHeaders,
  trailers: IncomingHttpHeaders,
  resolve: () => void,
  reject: (error: unknown) => void,
): void {
  const http = Number(headers[constants.HTTP2_HEADER_STATUS]);
  const outcome = trailers['grpc-status'] ?? headers['grpc-status'];
  const status = Number(outcome);
  if (outcome === undefined) {
    reject(new EtcdError(`${path} was answered with HTTP ${http} and without a gRPC status`));
  } else if (status !== 0) {
    reject(new EtcdError(messageFrom(trailers['grpc-message'] ?? headers['grpc-message']), { status }));
  } else {
    resolve();
  }
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
