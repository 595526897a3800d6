import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../../pki/index.ts';
import { etcdConnector } from '../machine-plane/etcd/connector.ts';
import { managementWith } from './testing/management.ts';
import type { EtcdClient } from './types.ts';

const signal = new AbortController().signal;
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** Hand-written protobuf encoding. */
const varint = (value: bigint): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
};
const number = (field: number, value: bigint): Buffer => Buffer.from([field << 3, ...varint(value)]);
const bytes = (field: number, value: Buffer | string): Buffer => {
  const content = Buffer.from(value);
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(BigInt(content.length))]), content]);
};
const frame = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

interface Asked {
  path: string;
  body: string;
  user: string;
}

type Answer = (stream: ServerHttp2Stream) => void;

const ok =
  (message: Buffer): Answer =>
  (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(frame(message));
  };
const refuse =
  (status: number, message: string): Answer =>
  (stream) =>
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status), 'grpc-message': message },
      { endStream: true },
    );

async function serve(
  answer: (path: string) => Answer,
  clock = systemClock,
): Promise<{ open(): Promise<EtcdClient>; asked: Asked[] }> {
  const authority = await createAuthority({ commonName: 'etcd-ca', clock: systemClock });
  const identity = await issueCertificate({
    authority,
    commonName: 'etcd',
    hosts: ['localhost'],
    usages: ['server'],
    clock: systemClock,
  });
  const asked: Asked[] = [];
  const server: Http2SecureServer = createSecureServer({
    key: identity.privateKey,
    cert: identity.certificate,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const peer = (
        stream.session?.socket as { getPeerCertificate(): { subject: { CN: string } } } | undefined
      )?.getPeerCertificate();
      const path = String(headers[':path']);
      asked.push({ path, body: Buffer.concat(chunks).toString('hex'), user: peer?.subject.CN ?? '' });
      answer(path)(stream);
    });
    stream.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const management = await managementWith(authority, { namespace: 'n', name: 'c-etcd' });
  const connector = etcdConnector({
    client: management,
    // certificates use real time; only call timeouts use the given clock
    clock: { ...systemClock, after: (ms, callback) => clock.after(ms, callback) },
    workloads: {
      portForward: async (cluster, pod, port) => {
        expect([cluster.name, pod.name, port]).toEqual(['c', 'etcd-a', 2379]);
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
        await once(socket, 'connect');
        return socket;
      },
    },
  });
  return {
    asked,
    open: async () => {
      const client = await connector({ cluster: { namespace: 'n', name: 'c' }, node: 'a' }, signal);
      cleanups.push(() => client.close());
      return client;
    },
  };
}

describe('the etcd client', () => {
  it('reads members with 64-bit ids using a certificate of its own authority', async () => {
    const member = Buffer.concat([
      number(1, 0xfedcba9876543210n),
      bytes(2, 'a'),
      bytes(3, 'https://10.0.0.1:2380'),
      bytes(4, 'https://10.0.0.1:2379'),
    ]);
    const learner = Buffer.concat([number(1, 7n), bytes(3, 'https://10.0.0.2:2380'), number(5, 1n), number(15, 1n)]);
    const { open, asked } = await serve(() =>
      ok(Buffer.concat([bytes(1, number(1, 1n)), bytes(2, member), bytes(2, learner)])),
    );
    const client = await open();
    expect(await client.members(signal)).toEqual([
      {
        id: 'fedcba9876543210',
        name: 'a',
        peerUrls: ['https://10.0.0.1:2380'],
        clientUrls: ['https://10.0.0.1:2379'],
        isLearner: false,
      },
      { id: '7', name: '', peerUrls: ['https://10.0.0.2:2380'], clientUrls: [], isLearner: true },
    ]);
    await client.removeMember('fedcba9876543210', signal);
    expect(asked).toEqual([
      { path: '/etcdserverpb.Cluster/MemberList', body: '00000000020801', user: 'cluster-api.x-k8s.io' },
      {
        path: '/etcdserverpb.Cluster/MemberRemove',
        body: '000000000b0890e4d0b287d3aeeefe01',
        user: 'cluster-api.x-k8s.io',
      },
    ]);
  });

  it('reads status and alarms', async () => {
    const status = Buffer.concat([
      bytes(1, Buffer.concat([number(1, 1n), number(2, 10n)])),
      bytes(2, '3.6.6'),
      number(3, 8192n),
      number(4, 255n),
      number(5, 40n),
      number(6, 3n),
      number(7, 39n),
      bytes(8, 'etcdserver: no leader'),
      number(10, 1n),
    ]);
    const alarm = (type: bigint): Buffer => bytes(2, Buffer.concat([number(1, 10n), number(2, type)]));
    const { open } = await serve((path) =>
      ok(path.endsWith('Status') ? status : Buffer.concat([alarm(0n), alarm(1n), alarm(2n)])),
    );
    const client = await open();
    expect(await client.status(signal)).toEqual({
      memberId: 'a',
      leaderId: 'ff',
      version: '3.6.6',
      isLearner: true,
      raftTerm: 3,
      raftIndex: 40,
      raftAppliedIndex: 39,
      dbSizeBytes: 8192,
      dbSizeInUseBytes: 0,
      errors: ['etcdserver: no leader'],
    });
    expect(await client.alarms(signal)).toEqual([
      { memberId: 'a', type: 'NOSPACE' },
      { memberId: 'a', type: 'CORRUPT' },
    ]);
  });

  it.each<[string, Answer, object]>([
    ['a refusal', refuse(9, 'etcdserver: not leader %3A%20x'), { status: 9, message: 'etcdserver: not leader : x' }],
    [
      'no gRPC at all',
      (stream) => stream.respond({ ':status': 502 }, { endStream: true }),
      { message: expect.stringContaining('HTTP 502') },
    ],
    [
      'a connection that breaks',
      (stream) => stream.session?.destroy(),
      { message: expect.stringContaining('got no answer') },
    ],
    [
      'half a message',
      (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.from([0, 0, 0, 0, 9, 1]));
      },
      { message: expect.stringContaining('not one gRPC message') },
    ],
    [
      'something that is no protobuf',
      ok(Buffer.from([0x12, 0x7f])),
      { message: expect.stringContaining('not a protobuf message') },
    ],
  ])('reports %s', async (_, answer, expected) => {
    const { open } = await serve(() => answer);
    await expect((await open()).members(signal)).rejects.toMatchObject({ name: 'EtcdError', ...expected });
  });

  it('aborts after the timeout and when the caller aborts', async () => {
    const clock = new ManualClock();
    const { open, asked } = await serve(() => () => {}, clock);
    const client = await open();
    const late = client.status(signal).catch((error: unknown) => error);
    while (asked.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(10_000);
    expect(((await late) as Error).message).toContain('no answer within 10 s');
    const stop = new AbortController();
    const aborted = client.status(stop.signal).catch((error: unknown) => error);
    stop.abort(new Error('enough'));
    expect(await aborted).toEqual(new Error('enough'));
  });

  it('refuses to send an invalid member id', async () => {
    const { open } = await serve(() => ok(Buffer.alloc(0)));
    await expect((await open()).moveLeader('leader', signal)).rejects.toThrow(/not the id of an etcd member/);
  });
});
