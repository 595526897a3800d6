import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { staticCredentials } from '../../../client/index.ts';
import { systemClock } from '../../../machinery/index.ts';
import { connectPodOver, noWayToPods } from './connect-pod.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

it('Pods of a remote management API are reached through its port-forward', async () => {
  server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const paths: (string | undefined)[] = [];
  sockets.on('connection', (socket, { url }) => {
    paths.push(url);
    for (const channel of [0, 1]) {
      const port = Buffer.from([channel, 0, 0]);
      port.writeUInt16LE(2379, 1);
      socket.send(port);
    }
    socket.on('message', (data: Buffer) => socket.send(data));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connect = connectPodOver({ server: url, tls: {}, credentials: staticCredentials({}) } as never, systemClock);
  const stream = await connect({ namespace: 'ns', name: 'kmc-c1-etcd-0' }, 2379, new AbortController().signal);
  stream.write('hello');
  const [answer] = (await once(stream, 'data')) as [Buffer];
  expect(answer.toString()).toBe('hello');
  expect(paths).toEqual(['/api/v1/namespaces/ns/pods/kmc-c1-etcd-0/portforward?ports=2379']);
  stream.destroy();
});

it('connecting to Pods without a way fails with the reason', async () => {
  await expect(noWayToPods({ name: 'x' }, 1, new AbortController().signal)).rejects.toThrow('no way to ports of Pods');
});
