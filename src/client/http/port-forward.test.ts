import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiStatusError, ManualClock, systemClock } from '../../machinery/index.ts';
import { ApiUnreachableError } from '../errors.ts';
import { staticCredentials } from '../kubeconfig/credentials.ts';
import type { ConnectionConfig } from '../kubeconfig/types.ts';
import { PortForwardError, type PortForwardOptions, portForward } from './port-forward.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const announce = (socket: WebSocket, port: number): void => {
  for (const channel of [0, 1]) {
    const message = Buffer.alloc(3);
    message[0] = channel;
    message.writeUInt16LE(port, 1);
    socket.send(message);
  }
};

interface Seen {
  url: string;
  authorization: string | undefined;
  protocol: string;
}

async function serve(onOpen: (socket: WebSocket) => void): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket, request) => {
    seen.push({
      url: request.url ?? '',
      authorization: request.headers.authorization,
      protocol: socket.protocol,
    });
    onOpen(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function forward(
  url: string,
  options: PortForwardOptions & { config?: Partial<ConnectionConfig> } = {},
): Promise<Duplex> {
  const config = {
    server: url,
    credentials: staticCredentials({ token: 'secret' }),
    namespace: 'default',
    context: 'test',
    ...options.config,
  };
  const stream = await portForward(config, { namespace: 'kube-system', name: 'etcd-a' }, 2379, options);
  cleanups.push(() => {
    stream.on('error', () => {});
    stream.destroy();
  });
  return stream;
}

async function readAll(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('a forwarded port', () => {
  it('is requested as a pod subresource and carries bytes both ways', async () => {
    const { url, seen } = await serve((socket) => {
      announce(socket, 2379);
      socket.on('message', (data: Buffer) => socket.send(data));
    });
    const stream = await forward(url);
    const sent = Buffer.alloc(1_000_000, 'abcdefg');
    stream.write(sent);
    const received: Buffer[] = [];
    let length = 0;
    for await (const chunk of stream) {
      received.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length >= sent.length) break;
    }
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    expect(seen).toEqual([
      {
        url: '/api/v1/namespaces/kube-system/pods/etcd-a/portforward?ports=2379',
        authorization: 'Bearer secret',
        protocol: 'v4.channel.k8s.io',
      },
    ]);
  });

  it('ends when the other side closes it', async () => {
    const { url } = await serve((socket) => {
      announce(socket, 2379);
      socket.send(Buffer.from('\0bye'), () => socket.close());
    });
    expect((await readAll(await forward(url))).toString()).toBe('bye');
  });

  it.each<[string, (socket: WebSocket) => void, RegExp]>([
    [
      'nothing listens in the pod',
      (socket) => {
        announce(socket, 2379);
        socket.send(Buffer.from('\x01connection refused\n'));
      },
      /^connection refused$/,
    ],
    ['another port is forwarded', (socket) => announce(socket, 80), /something else than port 2379/],
  ])('fails with the reason when %s', async (_, onOpen, message) => {
    const { url } = await serve(onOpen);
    const failure = await readAll(await forward(url)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PortForwardError);
    expect((failure as Error).message).toMatch(message);
  });

  it('is refused with the message of the server', async () => {
    const plain = createServer((_, response) => {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          kind: 'Status',
          status: 'Failure',
          reason: 'Forbidden',
          message: 'pods is forbidden',
          code: 403,
        }),
      );
    });
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    cleanups.push(() => void plain.close());
    const refused = await forward(`http://127.0.0.1:${(plain.address() as AddressInfo).port}`).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(ApiStatusError);
    expect((refused as ApiStatusError).message).toBe('pods is forbidden');
  });

  it('fails with the name of an unreachable server', async () => {
    const failure = await forward('http://127.0.0.1:1').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiUnreachableError);
    expect((failure as ApiUnreachableError).message).toContain('http://127.0.0.1:1');
  });

  it('is aborted after the timeout or by the caller', async () => {
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    silent.on('upgrade', () => {});
    await once(silent, 'listening');
    cleanups.push(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const clock = new ManualClock();
    const late = forward(url, { clock }).catch((error: unknown) => error);
    await once(silent, 'upgrade');
    await clock.advance(10_000);
    expect(((await late) as Error).message).toContain('no answer within 10 s');
    const stop = new AbortController();
    const aborted = forward(url, { clock: systemClock, signal: stop.signal }).catch((error: unknown) => error);
    await once(silent, 'upgrade');
    stop.abort(new Error('enough'));
    expect(await aborted).toEqual(new Error('enough'));
  });

  it('goes through an HTTP proxy', async () => {
    const { url } = await serve((socket) => {
      announce(socket, 2379);
      socket.send(Buffer.from('\0through'), () => socket.close());
    });
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, client) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
      const { port } = new URL(url);
      const upstream = connect(Number(port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client);
        client.pipe(upstream);
      });
      cleanups.push(() => void upstream.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    cleanups.push(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const proxyUrl = `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    expect((await readAll(await forward(url, { config: { proxyUrl } }))).toString()).toBe('through');
    expect(asked).toEqual([`${new URL(url).host} Basic ${Buffer.from('user:pass').toString('base64')}`]);
    await expect(forward(url, { config: { proxyUrl: 'socks5://127.0.0.1:1' } })).rejects.toThrow(/type socks5/);
  });
});
