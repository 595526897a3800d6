import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';
import { readBody } from './body.ts';
import { Exchange } from './exchange.ts';
import { type Listener, listen } from './listener.ts';
import type { Wire } from './wire.ts';

const requestTimeoutMs = 20_000;
const clock = new ManualClock();
let handle: (wire: Wire) => void;
let listener: Listener;
let client: ClientHttp2Session;

beforeAll(async () => {
  const authority = await createAuthority({ commonName: 'test', clock: systemClock });
  const { certificate: cert, privateKey: key } = await issueCertificate({
    authority,
    commonName: 'server',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    clock: systemClock,
  });
  const tls = { cert, key, clientCa: authority.certificate };
  listener = await listen({ host: '127.0.0.1', port: 0, tls, clock, requestTimeoutMs }, (wire) => handle(wire));
  client = connect(`https://127.0.0.1:${listener.port}`, { ca: authority.certificate });
});

afterEach(() => {
  handle = () => {};
});

afterAll(async () => {
  client.destroy();
  await listener.close(0);
});

function request(declared?: number): ClientHttp2Stream {
  return client.request({
    ':method': 'POST',
    ':path': '/',
    ...(declared !== undefined && { 'content-length': declared }),
  });
}

async function answerOf(stream: ClientHttp2Stream): Promise<string> {
  let text = '';
  for await (const piece of stream) text += String(piece);
  return text;
}

/** Resolves with the next request that the server receives. */
function arrival(): Promise<Exchange> {
  return new Promise((resolve) => {
    handle = (wire) => resolve(new Exchange(wire, 'test'));
  });
}

function echo(): void {
  handle = (wire) => {
    const exchange = new Exchange(wire, 'test');
    void readBody(exchange, 1024).then((body) => exchange.send(200, 'text/plain', body));
  };
}

describe('a request body over HTTP/2', () => {
  it.each([
    ['in one piece, its length declared', ['whole'], 5],
    ['in pieces, its length declared', ['in ', 'three ', 'pieces'], 15],
    ['in pieces of a length nobody knows', ['in ', 'three ', 'pieces'], undefined],
    ['empty, its length declared', [], 0],
    ['empty', [], undefined],
  ])('is read %s', async (_, pieces, declared) => {
    echo();
    const stream = request(declared);
    for (const piece of pieces) stream.write(piece);
    stream.end();
    expect(await answerOf(stream)).toBe(pieces.join(''));
  });

  it('is complete as soon as its declared length has arrived', async () => {
    echo();
    const stream = request(4);
    stream.write('body');
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(200);
    stream.end();
    expect(await answerOf(stream)).toBe('body');
  });

  it('keeps its stream open until the answer was sent', async () => {
    const arrived = arrival();
    const stream = request(4);
    stream.end('body');
    const exchange = await arrived;
    const closed = once(exchange.output, 'close');
    const body = await readBody(exchange, 1024);
    exchange.send(200, 'text/plain', body);
    expect(await answerOf(stream)).toBe('body');
    await closed;
    expect(exchange.output.writableFinished).toBe(true);
  });

  it('fails to read when the client closes the stream early', async () => {
    const arrived = arrival();
    const stream = request(4);
    stream.write('bo');
    const reading = readBody(await arrived, 1024);
    stream.close(constants.NGHTTP2_CANCEL);
    await expect(reading).rejects.toThrow('the client closed the request before its body was complete');
  });
});

describe('the time limit of HTTP/2 requests', () => {
  it('cuts off only requests whose body does not arrive in time', async () => {
    const cut: string[] = [];
    const open = async (name: string): Promise<ClientHttp2Stream> => {
      const arrived = arrival();
      const stream = request();
      stream.on('close', () => cut.push(`${name} ${stream.rstCode}`));
      stream.write('begun');
      await arrived;
      return stream;
    };
    const slow = await open('slow');
    await clock.advance(requestTimeoutMs / 2);
    const late = await open('late');
    await clock.advance(requestTimeoutMs / 2);
    await once(slow, 'close');
    expect(cut).toEqual([`slow ${constants.NGHTTP2_CANCEL}`]);
    await clock.advance(requestTimeoutMs / 2);
    await once(late, 'close');
    expect(cut).toEqual([`slow ${constants.NGHTTP2_CANCEL}`, `late ${constants.NGHTTP2_CANCEL}`]);
  });

  it.each([
    ['declared', 4],
    ['not declared', undefined],
  ])('does not limit the time of answers (length %s)', async (_, declared) => {
    const arrived = arrival();
    const stream = request(declared);
    stream.end('body');
    const exchange = await arrived;
    const body = await readBody(exchange, 1024);
    await clock.advance(requestTimeoutMs);
    exchange.send(200, 'text/plain', body);
    expect(await answerOf(stream)).toBe('body');
  });
});
