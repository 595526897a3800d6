import { type Duplex, duplexPair } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type SpdyService, serveSpdy } from './connection.ts';
import { headerDictionary } from './dictionary.ts';
import { readFrames } from './frames.ts';
import { createHeaderBlockReader } from './header-block.ts';
import type { SpdyStream } from './stream.ts';
import { control, data, SpdyClient, word } from './testing/spdy-client.ts';

const clients: SpdyClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

function connected(service: Partial<SpdyService> = {}): {
  client: SpdyClient;
  connection: Duplex;
  streams: SpdyStream[];
} {
  const [near, far] = duplexPair();
  const streams: SpdyStream[] = [];
  serveSpdy(far, {
    accepts: () => true,
    serve: (stream) => {
      streams.push(stream);
    },
    ...service,
  });
  const client = new SpdyClient(near);
  clients.push(client);
  return { client, connection: far, streams };
}

const [openType, replyType, resetType, pingType] = [1, 2, 3, 6];

describe('a SPDY connection', () => {
  it('uses the header dictionary of the protocol', () => {
    // All implementations of SPDY/3 have this length and checksum.
    let [low, high] = [1, 0];
    for (const byte of headerDictionary) {
      low = (low + byte) % 65_521;
      high = (high + low) % 65_521;
    }
    expect(headerDictionary).toHaveLength(1423);
    expect(((high << 16) | low) >>> 0).toBe(0xe3c6a7c2);
  });

  it('answers new streams and carries data both ways until both sides end', async () => {
    const { client, streams } = connected({
      serve: (stream) => {
        streams.push(stream);
        stream.pipe(stream);
      },
    });
    await client.open(1, { streamtype: 'data', port: '80' });
    await client.open(3, { streamtype: 'error', port: '80' });
    await vi.waitFor(() => expect(client.ofType(replyType!)).toHaveLength(2));
    for (const { payload } of client.ofType(replyType!)) {
      expect(await client.unpack(payload.subarray(4))).toEqual(word(0));
    }
    expect(streams.map(({ headers }) => Object.fromEntries(headers))).toEqual([
      { streamtype: 'data', port: '80' },
      { streamtype: 'error', port: '80' },
    ]);
    client.send(data(3, 'three'), data(1, 'one '), data(1, 'and more', 1));
    await vi.waitFor(() => expect(client.finished(1)).toBe(true));
    expect(client.dataOf(1).toString()).toBe('one and more');
    expect(client.dataOf(3).toString()).toBe('three');
    expect(client.finished(3)).toBe(false);
    await vi.waitFor(() => expect(streams[0]!.closed).toBe(true));
    expect(client.ofType(resetType!)).toEqual([]);
  });

  it('ends the input of a stream that was opened without a body', async () => {
    const { client, streams } = connected();
    await client.open(1, {}, 1);
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    expect(await streams[0]!.toArray()).toEqual([]);
  });

  it('splits large writes into frames so that other streams take turns', async () => {
    const { client, streams } = connected();
    await client.open(1, {});
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    const large = Buffer.alloc(200_000, 'x');
    streams[0]!.end(large);
    await vi.waitFor(() => expect(client.finished(1)).toBe(true));
    expect(client.dataOf(1).equals(large)).toBe(true);
    for (const { payload } of client.ofType(0)) expect(payload.length).toBeLessThanOrEqual(65_536);
  });

  it('reads frames however the network splits them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            headers: fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), fc.string({ unit: 'binary' }), {
              noNullPrototype: true,
            }),
            body: fc.uint8Array({ maxLength: 300 }),
          }),
          { minLength: 1, maxLength: 5 },
        ),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        async (sent, cuts) => {
          const client = new SpdyClient(duplexPair()[0]);
          const frames: Buffer[] = [];
          for (const [index, { headers, body }] of sent.entries()) {
            frames.push(await client.openFrame(index * 2 + 1, headers), data(index * 2 + 1, body, 1));
          }
          const bytes = Buffer.concat(frames);
          async function* pieces(): AsyncGenerator<Buffer> {
            for (let offset = 0, turn = 0; offset < bytes.length; turn++) {
              const length = cuts[turn % cuts.length]!;
              yield bytes.subarray(offset, offset + length);
              offset += length;
            }
          }
          const headerBlocks = createHeaderBlockReader();
          const received = sent.map(() => ({ headers: {}, body: [] as number[], ends: 0 }));
          for await (const frame of readFrames(pieces(), headerBlocks)) {
            if (frame.type === 'open') received[(frame.streamId - 1) / 2]!.headers = Object.fromEntries(frame.headers);
            if (frame.type !== 'data') continue;
            const stream = received[(frame.streamId - 1) / 2]!;
            stream.body.push(...frame.data);
            if (frame.last) stream.ends++;
          }
          headerBlocks.close();
          expect(received).toEqual(sent.map(({ headers, body }) => ({ headers, body: [...body], ends: 1 })));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('refuses streams of an unknown type and continues', async () => {
    const { client, streams } = connected({ accepts: (headers) => headers.get('streamtype') === 'data' });
    await client.open(1, { streamtype: 'other' });
    await client.open(3, { streamtype: 'data' });
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    expect(client.ofType(resetType!).map(({ payload }) => payload)).toEqual([Buffer.concat([word(1), word(3)])]);
  });

  it('sends a reset for a destroyed stream, and destroys a stream the client resets', async () => {
    const { client, streams } = connected();
    await client.open(1, {});
    await client.open(3, {});
    await vi.waitFor(() => expect(streams).toHaveLength(2));
    streams[0]!.destroy();
    await vi.waitFor(() => expect(client.ofType(resetType!)).toHaveLength(1));
    expect(client.ofType(resetType!)[0]!.payload).toEqual(Buffer.concat([word(1), word(5)]));
    client.send(control(resetType!, Buffer.concat([word(3), word(5)])), data(3, 'late'), data(1, 'late'));
    await vi.waitFor(() => expect(streams[1]!.destroyed).toBe(true));
    expect(client.ofType(resetType!)).toHaveLength(1);
  });

  it('answers pings and ignores frames it does not use', async () => {
    const { client } = connected();
    client.send(
      control(4, Buffer.concat([word(1), word(4), word(100)])),
      control(9, Buffer.concat([word(1), word(65_536)])),
      control(77, Buffer.from('unknown')),
      control(8, Buffer.concat([word(1), await client.pack({ more: 'headers' })])),
      control(7, Buffer.concat([word(0), word(0)])),
      control(pingType!, word(2)),
      control(pingType!, word(5)),
    );
    await vi.waitFor(() => expect(client.frames.map(({ type, streamId }) => [type, streamId])).toEqual([[6, 5]]));
  });

  it('stops reading while a stream is not read', async () => {
    const { client, streams } = connected();
    await client.open(1, {});
    for (let sent = 0; sent < 64; sent++) client.send(data(1, Buffer.alloc(16_384)));
    client.send(control(pingType!, word(1)));
    await vi.waitFor(() => expect(streams[0]?.readableLength).toBeGreaterThan(0));
    await new Promise((resolve) => setImmediate(resolve));
    expect(client.ofType(pingType!)).toEqual([]);
    expect(streams[0]!.readableLength).toBeLessThan(200_000);
    streams[0]!.resume();
    await vi.waitFor(() => expect(client.ofType(pingType!)).toHaveLength(1));
  });

  it('destroys all streams when the connection ends', async () => {
    const { client, streams } = connected();
    await client.open(1, {});
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    client.close();
    await vi.waitFor(() => expect(streams[0]!.destroyed).toBe(true));
  });

  it.each<[string, (client: SpdyClient) => Buffer | Promise<Buffer>]>([
    ['another version', () => control(pingType!, word(1), 0, 2)],
    ['an even stream', (client) => client.openFrame(2, {})],
    [
      'a stream opened twice',
      async (client) => Buffer.concat([await client.openFrame(1, {}), await client.openFrame(1, {})]),
    ],
    ['a control frame that never ends', () => Buffer.concat([word(0x8003_0001), word(0x00ff_ffff)])],
    ['a frame that is too short', () => control(resetType!, Buffer.alloc(2))],
    [
      'headers that are no zlib',
      () => control(openType!, Buffer.concat([word(1), Buffer.alloc(6), Buffer.from('junk!')])),
    ],
    ['no headers at all', () => control(openType!, Buffer.concat([word(1), Buffer.alloc(6)]))],
    ['headers that unpack to too much', (client) => client.openFrame(1, { long: 'x'.repeat(100_000) })],
    ['a header without a name', (client) => client.openFrame(1, { '': 'x' })],
  ])('closes a connection that sends %s', async (_what, bytes) => {
    const { client, connection } = connected();
    client.send(await bytes(client));
    await vi.waitFor(() => expect(connection.destroyed).toBe(true));
  });
});
