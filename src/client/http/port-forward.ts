import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import type { WebSocket } from 'ws';
import { CapstanError, type Clock, limitAnswer, systemClock } from '../../machinery/index.ts';
import { errorFromResponse } from '../errors.ts';
import type { ConnectionConfig, Credential } from '../kubeconfig/types.ts';
import type { ObjectKey } from '../types.ts';
import { identityHeaders, type TlsConnection, tlsConnection } from './authentication.ts';
import { tlsOver } from './dialled.ts';
import { checkServer, lookupOption } from './guard.ts';
import { unreachable } from './transport.ts';

/** The WebSocket protocol of `pods/portforward` which every kubelet speaks: channel 0 carries data, channel 1 errors. */
export const portForwardProtocol = 'v4.channel.k8s.io';
export const portForwardDataChannel = 0;
export const portForwardErrorChannel = 1;

export interface PortForwardOptions {
  signal?: AbortSignal;
  userAgent?: string;
  clock?: Clock;
  /** how long the server may take to agree; default 10 s */
  handshakeTimeoutMs?: number;
}

/** The other end of a forwarded port said why it cannot be used. */
export class PortForwardError extends CapstanError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('CAP_PORT_FORWARD', message, options);
    this.name = 'PortForwardError';
  }
}

/** A closing handshake that nobody answers must not keep a socket for ever. */
const closeTimeoutMs = 1_000;
const maxRefusalBytes = 16_384;
/** API servers send a few KiB at once. */
const maxFrameBytes = 16 * 1024 * 1024;

/**
 * A stream to a port inside a pod, through the API server. Resolves when the server has agreed to forward; that nothing
 * listens in the pod shows as an error of the stream, as the protocol reports it.
 */
export async function portForward(
  config: ConnectionConfig,
  pod: ObjectKey,
  port: number,
  options: PortForwardOptions = {},
): Promise<Duplex> {
  const { signal } = options;
  signal?.throwIfAborted();
  await checkServer(config);
  const credential = await config.credentials.get(signal);
  signal?.throwIfAborted();
  const path = `/api/v1/namespaces/${encodeURIComponent(pod.namespace ?? 'default')}/pods/${encodeURIComponent(pod.name)}/portforward?ports=${port}`;
  return await dial(config, credential, path, options, (socket) => forwardedPort(socket, port));
}

async function dial(
  config: ConnectionConfig,
  credential: Credential,
  path: string,
  options: PortForwardOptions,
  opened: (socket: WebSocket) => Duplex,
): Promise<Duplex> {
  // programs that never forward a port do not pay for loading it
  const ws = await import('ws');
  const { signal } = options;
  const clock = options.clock ?? systemClock;
  const base = new URL(config.server);
  const tls = base.protocol === 'http:' ? {} : tlsConnection(config, credential);
  const tunnel = config.dial
    ? await tlsOver(config.dial, base.hostname, tls)
    : config.proxyUrl === undefined
      ? undefined
      : await tunnelThrough(config, base, tls, signal);
  return await new Promise<Duplex>((resolve, reject) => {
    const socket = new ws.WebSocket(
      `${base.protocol === 'http:' ? 'ws' : 'wss'}://${base.host}${base.pathname.replace(/\/+$/, '')}${path}`,
      [portForwardProtocol],
      {
        headers: { 'user-agent': options.userAgent ?? 'capstan', ...identityHeaders(config, credential) },
        perMessageDeflate: false,
        maxPayload: maxFrameBytes,
        ...tls,
        ...lookupOption(config),
        ...(tunnel && { createConnection: () => tunnel }),
      },
    );
    const fail = (error: unknown): void => {
      settle();
      // `terminate` before the handshake reports an error of its own, which says less than ours
      socket.on('error', () => {});
      socket.terminate();
      reject(error);
    };
    const timeoutMs = options.handshakeTimeoutMs ?? 10_000;
    const request = { method: 'GET', path };
    const hidesForeign = config.guard !== undefined;
    const cancel = limitAnswer(clock, timeoutMs, () => fail(unreachable(config.server, request, undefined, timeoutMs)));
    const onAbort = (): void => fail(signal?.reason);
    const onError = (error: Error): void => fail(unreachable(config.server, request, error, undefined));
    const onOpen = (): void => {
      settle();
      // at once: messages may follow in the same packet, and a promise would look for them too late
      resolve(opened(socket));
    };
    const settle = (): void => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
      socket.removeListener('open', onOpen);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('error', onError);
    socket.on('open', onOpen);
    socket.on('unexpected-response', (_, response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const refuse = (): void =>
        fail(
          errorFromResponse(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'), `GET ${path}`, {
            hidesForeign,
          }),
        );
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > maxRefusalBytes) refuse();
      });
      response.on('end', refuse);
      response.on('error', refuse);
    });
  });
}

/** One forwarded port of an open WebSocket as a byte stream. */
function forwardedPort(socket: WebSocket, port: number): Duplex {
  const announced = new Set<number>();
  const onMessage = (data: Buffer): void => {
    const channel = data[0];
    if (channel !== portForwardDataChannel && channel !== portForwardErrorChannel) return;
    if (!announced.has(channel)) {
      announced.add(channel);
      if (data.length === 3 && data.readUInt16LE(1) === port) return;
      stream.destroy(new PortForwardError(`the server forwards something else than port ${port}`));
      return;
    }
    if (data.length === 1) return;
    if (channel === portForwardErrorChannel) {
      stream.destroy(new PortForwardError(data.toString('utf8', 1).trim()));
      return;
    }
    if (!stream.push(data.subarray(1))) socket.pause();
  };
  const stream = new Duplex({
    read: () => socket.resume(),
    write(chunk: Buffer, _, callback) {
      if (socket.readyState !== socket.OPEN) {
        callback(new PortForwardError(`port ${port} was closed by the server`));
        return;
      }
      const message = Buffer.allocUnsafe(chunk.length + 1);
      message[0] = portForwardDataChannel;
      chunk.copy(message, 1);
      socket.send(message, { binary: true }, callback);
    },
    final(callback) {
      // the protocol has no half-closed state: the answer may still come
      callback();
    },
    destroy(error, callback) {
      socket.close();
      const timer = setTimeout(() => socket.terminate(), closeTimeoutMs);
      timer.unref();
      socket.once('close', () => clearTimeout(timer));
      callback(error);
    },
  });
  // whoever uses the stream finds out; until somebody does, a failure must not end the program
  stream.on('error', () => {});
  socket.binaryType = 'nodebuffer';
  socket.on('message', onMessage);
  socket.on('error', (error) => stream.destroy(new PortForwardError(error.message, { cause: error })));
  socket.on('close', () => {
    if (stream.readableEnded || stream.destroyed) return;
    stream.push(null);
    stream.end();
  });
  return stream;
}

/** A connection to the API server through an HTTP proxy. */
async function tunnelThrough(
  config: ConnectionConfig,
  base: URL,
  tls: TlsConnection,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  const proxy = new URL(config.proxyUrl ?? '');
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:') {
    throw new PortForwardError(`ports cannot be forwarded through a proxy of type ${proxy.protocol.slice(0, -1)}`, {
      hint: 'use an http:// or https:// proxy-url in the kubeconfig',
    });
  }
  const target = `${base.hostname}:${base.port || (base.protocol === 'http:' ? '80' : '443')}`;
  const raw = await new Promise<Duplex>((resolve, reject) => {
    const ask = proxy.protocol === 'http:' ? httpRequest : httpsRequest;
    const user = decodeURIComponent(proxy.username);
    const request = ask({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'http:' ? 80 : 443),
      method: 'CONNECT',
      path: target,
      headers: {
        host: target,
        ...(user !== '' && {
          'proxy-authorization': `Basic ${Buffer.from(`${user}:${decodeURIComponent(proxy.password)}`).toString('base64')}`,
        }),
      },
      agent: false,
      ...lookupOption(config),
      ...(signal && { signal }),
    });
    request.on('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new PortForwardError(`the proxy ${proxy.host} answered ${response.statusCode} to CONNECT ${target}`));
    });
    request.on('error', (error) =>
      reject(unreachable(config.server, { method: 'CONNECT', path: target }, error, undefined)),
    );
    request.end();
  });
  if (base.protocol === 'http:') return raw;
  return tlsConnect({ socket: raw, servername: base.hostname, ALPNProtocols: ['http/1.1'], ...tls });
}
