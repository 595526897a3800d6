import { connect, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { dice, seedAt } from '../../support/rough/dice.ts';
import { type InProcessServer, startInProcess } from '../../support/rough/in-process-server.ts';
import { openTcp, openTls, readToEnd, readUntil, statusCodes } from '../../support/rough/raw.ts';
import { http1Client, http2Client, sendJson, type WireClient } from '../../support/rough/wire.ts';
import { damage } from './encode.ts';

let server: InProcessServer;
let client: WireClient;

beforeAll(async () => {
  server = await startInProcess();
  client = http1Client(server.admin);
});

afterAll(async () => {
  client.close();
  await server.stop();
});

const configMaps = '/api/v1/namespaces/default/configmaps';

function head(method: string, path: string, ...headers: string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;
}

async function expectHealthy(): Promise<void> {
  const answer = await client.send({ method: 'GET', path: '/livez' });
  expect(answer.body.toString()).toBe('ok');
}

async function gauge(name: string): Promise<number> {
  const { body } = await client.send({ method: 'GET', path: '/metrics' });
  const lines = body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('a slow client', () => {
  const requestTimeoutMs = 400;
  let server: InProcessServer;

  beforeAll(async () => {
    server = await startInProcess({ listen: { requestTimeoutMs } });
  });

  afterAll(() => server.stop());

  it('is dropped when its body never ends (HTTP/1.1)', async () => {
    const socket = await openTls(server.admin);
    socket.write(head('POST', configMaps, 'Content-Type: application/json', 'Content-Length: 1000'));
    socket.write('{"apiVersion"');
    expect(statusCodes(await readToEnd(socket))).toEqual([408]);
  });

  it('is dropped when its head never ends', async () => {
    const socket = await openTls(server.admin);
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n');
    const dribble = setInterval(() => socket.writable && socket.write('X-A: b\r\n'), 50);
    try {
      expect(statusCodes(await readToEnd(socket))).toEqual([408]);
    } finally {
      clearInterval(dribble);
    }
  });

  it('loses only the stream whose body never ends (HTTP/2)', async () => {
    const { host, port, ca, cert, key } = server.admin;
    const session = connect(`https://${host}:${port}`, { ca, cert: cert!, key: key! });
    try {
      const slow = session.request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' });
      slow.on('error', () => {});
      slow.write('{"apiVersion"');
      await new Promise((resolve) => slow.once('close', resolve));
      expect(slow.rstCode).toBe(constants.NGHTTP2_CANCEL);
      const next = session.request({ ':path': '/livez' });
      const status = await new Promise((resolve) => next.once('response', (headers) => resolve(headers[':status'])));
      expect(status).toBe(200);
    } finally {
      session.destroy();
    }
  });

  it('has a separate timeout for each stream (HTTP/2)', async () => {
    const { host, port, ca, cert, key } = server.admin;
    const session = connect(`https://${host}:${port}`, { ca, cert: cert!, key: key! });
    const post = { ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' };
    const startSlow = (): ReturnType<typeof session.request> => {
      const slow = session.request(post);
      slow.on('error', () => {});
      slow.write('{"apiVersion"');
      return slow;
    };
    try {
      const first = startSlow();
      const firstEnd = new Promise((resolve) => first.once('close', resolve));
      // Complete requests in between make the two slow ones start at different times.
      const answered: number[] = [];
      for (let i = 0; i < 20; i++) {
        const request = session.request(post);
        request.end(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `between-${i}` } }));
        const headers = await new Promise<Record<string, unknown>>((resolve) => request.once('response', resolve));
        answered.push(Number(headers[':status']));
      }
      const second = startSlow();
      const secondEnd = new Promise((resolve) => second.once('close', resolve));
      await firstEnd;
      await secondEnd;
      expect([first.rstCode, second.rstCode]).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL]);
      expect(new Set(answered)).toEqual(new Set([201]));
    } finally {
      session.destroy();
    }
  });

  it('is dropped when it connects and sends nothing, before TLS and after', async () => {
    const bare = await openTcp(server.admin);
    const secure = await openTls(server.admin);
    await Promise.all([readToEnd(bare), readToEnd(secure)]);
  });
});

describe('a client that disconnects', () => {
  it('leaves nothing behind when it goes in the middle of its upload', async () => {
    const revision = server.store.revision;
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openTls(server.admin)));
    for (const socket of sockets) {
      socket.write(head('POST', configMaps, 'Content-Type: application/json', 'Content-Length: 100000'));
      socket.write(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"half"},"data":{"a":"${'x'.repeat(5000)}`);
    }
    await new Promise((resolve) => setImmediate(resolve));
    for (const socket of sockets) socket.destroy();
    await eventually(async () =>
      expect(await gauge('apiserver_current_inflight_requests{request_kind="mutating"')).toBe(0),
    );
    expect(server.store.revision).toBe(revision);
  });

  it.each(['http/1.1', 'h2'] as const)('frees its watch when it goes in the middle of it (%s)', async (protocol) => {
    const before = await gauge('apiserver_longrunning_requests');
    const watchers = protocol === 'h2' ? http2Client(server.admin) : http1Client(server.admin, 50);
    const paths = [`${configMaps}?watch=true`, `${configMaps}?watch=true&resourceVersion=${server.store.revision + 5}`];
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        watchers.send({ method: 'GET', path: paths[i % 2]!, cutAfterMs: 5 }).catch(() => undefined),
      ),
    );
    watchers.close();
    await eventually(async () => expect(await gauge('apiserver_longrunning_requests')).toBe(before));
  });

  it('frees its watch when it goes before the watch begins (HTTP/2)', async () => {
    const before = await gauge('apiserver_longrunning_requests');
    const { host, port, ca, cert, key } = server.admin;
    const session = connect(`https://${host}:${port}`, { ca, cert: cert!, key: key! });
    // The watch waits for a revision that never comes, and its client disconnects meanwhile.
    const path = `${configMaps}?watch=true&resourceVersion=${server.store.revision + 1}`;
    for (let i = 0; i < 20; i++) session.request({ ':path': path }).on('error', () => {});
    await eventually(async () => expect(await gauge('apiserver_longrunning_requests')).toBe(before + 20));
    session.destroy();
    await eventually(async () => expect(await gauge('apiserver_longrunning_requests')).toBe(before));
  });
});

describe('a client that never reads its watch', () => {
  it.each(['http/1.1', 'h2'] as const)('is cut off, while others get every event (%s)', async (protocol) => {
    const bulk = 'x'.repeat(900_000);
    const object = (i: number): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `bulk-${protocol === 'h2' ? 'two' : 'one'}` },
      data: { bulk, i: String(i) },
    });
    const name = (object(0) as { metadata: { name: string } }).metadata.name;
    const created = await sendJson(client, 'POST', configMaps, object(0));
    expect(created.status).toBe(201);
    const path = `${configMaps}?watch=true&fieldSelector=metadata.name=${name}&resourceVersion=${server.store.revision}`;
    const before = await gauge('apiserver_longrunning_requests');
    const close = await openStuckWatch(protocol, path);
    const other = await openTls(server.admin);
    other.write(head('GET', path));
    const writes = 40;
    const seen = collectNumbers(other, /"i":"(\d+)"\}/, writes);
    for (let i = 1; i <= writes; i++) {
      const { status } = await sendJson(client, 'PUT', `${configMaps}/${name}`, object(i));
      expect(status).toBe(200);
    }
    expect(await seen).toEqual(Array.from({ length: writes }, (_, i) => i + 1));
    other.destroy();
    await eventually(async () => expect(await gauge('apiserver_longrunning_requests')).toBe(before));
    close();
    await sendJson(client, 'DELETE', `${configMaps}/${name}`);
  });

  /** Collects the number near the end of each line of a stream. */
  function collectNumbers(socket: TLSSocket, pattern: RegExp, count: number): Promise<number[]> {
    const numbers: number[] = [];
    let tail = '';
    return new Promise((resolve, reject) => {
      socket.once('close', () => reject(new Error(`the watch ended after ${numbers.length} events`)));
      socket.on('data', (chunk: Buffer) => {
        const lines = (tail + chunk.toString('latin1')).split('\n');
        tail = lines.pop()!.slice(-100);
        for (const line of lines) {
          const match = pattern.exec(line.slice(-100));
          if (match) numbers.push(Number(match[1]));
        }
        if (numbers.length >= count) resolve(numbers);
      });
    });
  }

  /** Opens a watch and reads only its first answer. */
  async function openStuckWatch(protocol: 'http/1.1' | 'h2', path: string): Promise<() => void> {
    if (protocol === 'http/1.1') {
      const socket = await openTls(server.admin);
      socket.write(head('GET', path));
      await readUntil(socket, (text) => text.includes('\r\n\r\n'));
      socket.pause();
      return () => socket.destroy();
    }
    const { host, port, ca, cert, key } = server.admin;
    const session = connect(`https://${host}:${port}`, {
      ca,
      cert: cert!,
      key: key!,
      settings: { initialWindowSize: 1000 },
    });
    const stream = session.request({ ':path': path });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('response', resolve));
    stream.pause();
    return () => session.destroy();
  }
});

describe('many connections', () => {
  it('do not block others when they are idle', async () => {
    const idle = await Promise.all(Array.from({ length: 300 }, () => openTls(server.nobody)));
    await expectHealthy();
    for (const socket of idle) socket.destroy();
  });

  it('do no harm when they break off the handshake', async () => {
    for (let i = 0; i < 50; i++) {
      const socket = await openTcp(server.admin);
      socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, i]));
      socket.destroy();
    }
    await expectHealthy();
  });
});

describe('malformed HTTP', () => {
  const refused: [what: string, bytes: string, codes: number[]][] = [
    ['two lengths', `${head('POST', configMaps, 'Content-Length: 3', 'Content-Length: 4')}abcd`, [400]],
    [
      'a length and chunks',
      `${head('POST', configMaps, 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${head('GET', '/livez')}`,
      [400],
    ],
    ['a chunk size that lies', `${head('POST', configMaps, 'Transfer-Encoding: chunked')}zz\r\nabc\r\n`, [400]],
    [
      'a chunk size that overflows',
      `${head('POST', configMaps, 'Transfer-Encoding: chunked')}ffffffffffffffffff\r\nabc\r\n`,
      [400],
    ],
    ['a transfer encoding after chunked', head('POST', configMaps, 'Transfer-Encoding: chunked, identity'), [400]],
    ['a header without a name', head('GET', '/livez', ': x'), [400]],
    ['a header folded over two lines', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n', [400]],
    ['a header with a bare line feed', 'GET /livez HTTP/1.1\r\nHost: x\r\nX: a\n\n', [400]],
    ['a method that is none', 'FROBNICATE /livez HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    ['a space before the colon', 'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length : 4\r\n\r\nabcd', [400]],
    ['noise', '\x16\x03\x01 not http at all\r\n\r\n', [400]],
    ['a head that is too large', head('GET', '/livez', `X-Big: ${'x'.repeat(200_000)}`), [431]],
    ['a path that is too large', head('GET', `/livez?${'x'.repeat(200_000)}`), [431]],
  ];

  it.each(refused)('is refused and the connection closed: %s', async (_what, bytes, codes) => {
    const revision = server.store.revision;
    const socket = await openTls(server.admin);
    socket.write(bytes);
    const text = await readToEnd(socket);
    // The server may wait for the body before it detects the error, and then answer with a timeout.
    const got = statusCodes(text).filter((code) => code !== 100);
    expect(got).toEqual(codes);
    expect(text).toContain('"kind":"Status"');
    expect(server.store.revision).toBe(revision);
  });

  it('never carries out a request hidden in the body of another', async () => {
    const victim = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'victim' } };
    await sendJson(client, 'POST', configMaps, victim);
    const hidden = head('DELETE', `${configMaps}/victim`);
    const attempts = [
      `${head('POST', configMaps, `Content-Length: ${hidden.length}`, 'Transfer-Encoding: chunked')}0\r\n\r\n${hidden}`,
      `${head('GET', '/livez', `Content-Length: ${hidden.length}`)}${hidden}`,
      `${head('GET', '/livez', `Content-Length: 0\r\nContent-Length: ${hidden.length}`)}${hidden}`,
      `${head('POST', configMaps, 'Transfer-Encoding: xchunked', `Content-Length: ${hidden.length}`)}${hidden}`,
      `${head('POST', configMaps, 'Transfer-Encoding:\tchunked', 'Transfer-Encoding: identity')}0\r\n\r\n${hidden}`,
    ];
    for (const attempt of attempts) {
      const socket = await openTls(server.admin);
      socket.end(attempt);
      await readToEnd(socket);
    }
    expect((await sendJson(client, 'GET', `${configMaps}/victim`)).status).toBe(200);
    await sendJson(client, 'DELETE', `${configMaps}/victim`);
  });

  it('is answered or dropped, and never carried out by half', async () => {
    const revision = server.store.revision;
    const object = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"never"}}';
    const whole = [
      head('GET', '/api/v1/namespaces?limit=1', 'Accept: application/json'),
      // The name is unused and the body is one byte short, so the request cannot be executed.
      head('POST', configMaps, 'Content-Type: application/json', `Content-Length: ${object.length + 1}`) + object,
      `${head('POST', configMaps, 'Content-Type: application/json', 'Transfer-Encoding: chunked')}5\r\n{"api\r\n0\r\n\r\n`,
      head('GET', '/livez', 'Expect: 100-continue', 'Connection: upgrade', 'Upgrade: websocket'),
    ];
    for (let i = 0; i < 200; i++) {
      const roll = dice(seedAt(3, i));
      const socket = await openTls(server.admin);
      socket.end(damage(roll, Buffer.from(roll.pick(whole))));
      await readToEnd(socket);
    }
    expect(server.store.revision).toBe(revision);
    expect(server.unexpected).toEqual([]);
    await expectHealthy();
  });

  it('in version 1.0 is answered and the connection closed', async () => {
    const socket = await openTls(server.admin);
    socket.write('GET /livez HTTP/1.0\r\n\r\n');
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
  });

  it('in plain text on the TLS port is not answered normally', async () => {
    const socket = await openTcp(server.admin);
    socket.write(head('GET', '/livez'));
    expect(statusCodes(await readToEnd(socket)).filter((code) => code < 400)).toEqual([]);
    await expectHealthy();
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('over %s is refused', async (version) => {
    const options = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(openTls(server.admin, options)).rejects.toThrow();
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s is accepted', async (version) => {
    const socket = await openTls(server.admin, { minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
    socket.destroy();
  });
});

describe('a body over the limit', () => {
  const limit = 3 * 1024 * 1024;

  it.each(['http/1.1', 'h2'] as const)('is refused with a message, not with a reset (%s)', async (protocol) => {
    const sender = protocol === 'h2' ? http2Client(server.admin) : http1Client(server.admin);
    for (const size of [limit + 1, limit * 2]) {
      const answer = await sender.send({
        method: 'POST',
        path: configMaps,
        headers: [['content-type', 'application/json']],
        body: Buffer.alloc(size, 0x20),
      });
      expect(answer.status).toBe(413);
      expect(JSON.parse(answer.body.toString())).toMatchObject({ reason: 'RequestEntityTooLarge', code: 413 });
    }
    sender.close();
  });

  it('is refused even if its length was not announced', async () => {
    const sender = http1Client(server.admin);
    const answer = await sender.send({
      method: 'POST',
      path: configMaps,
      headers: [
        ['content-type', 'application/json'],
        ['transfer-encoding', 'chunked'],
      ],
      body: Buffer.alloc(limit + 1, 0x20),
    });
    expect(answer.status).toBe(413);
    sender.close();
  });
});
