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

/** WebSocket protocol of `pods/portforward` that every kubelet supports: channel 0 is data, channel 1 errors. */
export const portForwardProtocol = 'v4.channel.k8s.io';
export const portForwardDataChannel = 0;
export const portForwardErrorChannel = 1;

export interface PortForwardOptions {
  signal?: AbortSignal;
  userAgent?: string;
  clock?: Clock;
  /** timeout of the handshake; default 10 s */
  handshakeTimeoutMs?: number;
}

/** The pod side reported an error of a forwarded port. */
export class PortForwardError extends CapstanError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('CAP_PORT_FORWARD', message, options);
    this.name = 'PortForwardError';
  }
}

/** Timeout of the closing handshake. */
const closeTimeoutMs = 1_000;
const maxRefusalBytes = 16_384;
/** API servers send a few KiB per frame. */
const maxFrameBytes = 16 * 1024 * 1024;

/**
 * Opens a stream to a port of a pod through the API server. Resolves when the server accepts. If nothing listens in the
 * pod, the stream fails, because the protocol reports it later.
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
  // Loaded on demand, for programs that never forward ports.
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
      // `terminate` before the handshake emits another error, which is less specific.
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
      // Synchronous, because messages may follow in the same packet and a promise would listen too late.
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

/** Wraps one forwarded port of an open WebSocket as a byte stream. */
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
      // The protocol cannot half-close; the response may still follow.
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
  // Prevents an uncaught error until a user of the stream adds a listener.
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

/** Connects to the API server through an HTTP proxy. */
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
