import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { get, type RequestOptions } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../machinery/index.ts';
import { issueCertificate } from '../../pki/index.ts';
import { numberOf, readFields, textsOf, writeFields } from '../etcd/protobuf.ts';
import type { PortService } from '../types.ts';
import { createProgramLab, type ProgramLab } from './testing/lab.ts';
import {
  apiArgs,
  apiServerImage,
  createPlanePki,
  etcdArgs,
  etcdImage,
  initialCluster,
  isServing,
  type PlanePki,
} from './testing/plane.ts';

let lab: ProgramLab | undefined;
const servers = new Set<Server>();
afterEach(async () => {
  for (const server of servers) server.close();
  servers.clear();
  await lab?.close();
});

/** Opens a port of this machine that forwards to a service of a Pod. */
async function openPort(service: PortService): Promise<number> {
  const server = createServer((socket) => service.accept(socket));
  servers.add(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function plane(): Promise<{ pki: PlanePki; lab: ProgramLab }> {
  const made = createProgramLab({ clock: systemClock });
  lab = made;
  const pki = await createPlanePki(systemClock);
  const args = etcdArgs('etcd-0', [`--initial-cluster=${initialCluster('etcd-0')}`]);
  made.pod('etcd-0', await pki.etcdFiles('etcd-0')).start(etcdImage, args);
  const api = made.pod('api-0', await pki.apiFiles('api-0', 'localhost'));
  api.start(apiServerImage, apiArgs('https://etcd-0:2379'));
  await made.until(() => isServing(made, 'api-0'));
  return { pki, lab: made };
}

async function read(options: RequestOptions): Promise<{ status: number; body: string }> {
  const request = get({ ...options, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode ?? 0, body };
}

describe('programs in Pods over real sockets', () => {
  it('serve the API over TLS to known clients', async () => {
    const { pki, lab: made } = await plane();
    const port = await openPort(made.dial('api-0', 6443));
    const ca = pki.authority.certificate;
    expect(await read({ host: '127.0.0.1', servername: 'localhost', port, ca, path: '/readyz' })).toEqual({
      status: 200,
      body: 'ok',
    });
    const pair = await issueCertificate({
      authority: pki.authority,
      commonName: 'admin',
      organizations: ['system:masters'],
      usages: ['client'],
      clock: systemClock,
    });
    const known = {
      ca,
      cert: pair.certificate,
      key: pair.privateKey,
      host: '127.0.0.1',
      servername: 'localhost',
      port,
    };
    const { body } = await read({ ...known, path: '/version' });
    expect(JSON.parse(body)).toMatchObject({ gitVersion: 'v1.33.1' });
    const secrets = { host: '127.0.0.1', servername: 'localhost', port, ca, path: '/api/v1/secrets' };
    expect(await read(secrets)).toMatchObject({ status: 403 });
  });

  it('speak gRPC with clients of etcd, with single messages and streams', async () => {
    const { pki, lab: made } = await plane();
    const port = await openPort(made.dial('etcd-0', 2379));
    const files = await pki.etcdFiles('root');
    const client = connectHttp2('https://etcd-0', {
      createConnection: () =>
        connectTls({
          host: '127.0.0.1',
          port,
          servername: 'etcd-0',
          ca: files['/pki/ca.crt'],
          cert: files['/pki/server.crt'],
          key: files['/pki/server.key'],
          ALPNProtocols: ['h2'],
        }),
    });
    const call = async (path: string, message: Buffer = Buffer.alloc(0)): Promise<Buffer[]> => {
      const stream = client.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
      const frame = Buffer.alloc(5 + message.length);
      frame.writeUInt32BE(message.length, 1);
      message.copy(frame, 5);
      stream.end(frame);
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      let bytes = Buffer.concat(chunks);
      const messages: Buffer[] = [];
      while (bytes.length >= 5) {
        const length = bytes.readUInt32BE(1);
        messages.push(bytes.subarray(5, 5 + length));
        bytes = bytes.subarray(5 + length);
      }
      return messages;
    };
    try {
      const [members] = await call('/etcdserverpb.Cluster/MemberList');
      expect(readFields(members!).get(2)).toHaveLength(1);
      const parts = await call('/etcdserverpb.Maintenance/Snapshot');
      const snapshot = parts.map((part) => textsOf(readFields(part), 3).join('')).join('');
      expect(snapshot).toContain('/core/namespaces/kube-system');
      expect(numberOf(readFields(parts.at(-1)!), 2)).toBe(0n);
      const range = { 1: '/registry/core/namespaces/', 2: '/registry/core/namespaces0' };
      const [counted] = await call('/etcdserverpb.KV/Range', writeFields({ ...range, 9: true }));
      expect(numberOf(readFields(counted!), 4)).toBe(4n);
      const [found] = await call('/etcdserverpb.KV/Range', writeFields({ ...range, 3: 1 }));
      expect(readFields(found!).get(2)).toHaveLength(1);
      await call('/etcdserverpb.Auth/UserAdd', writeFields({ 1: 'tenant' }));
      const [users] = await call('/etcdserverpb.Auth/UserList');
      expect(textsOf(readFields(users!), 2)).toEqual(['tenant']);
    } finally {
      client.destroy();
    }
  });
});
