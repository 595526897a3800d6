import { type Duplex, duplexPair, PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { control, data, SpdyClient, word } from '../http/spdy/testing/spdy-client.ts';
import { servePortForwardStreams } from './port-forward-spdy.ts';

const clients: SpdyClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

function forwarding(connect: (port: number) => Promise<Duplex>): SpdyClient {
  const [near, far] = duplexPair();
  servePortForwardStreams(far, connect);
  const client = new SpdyClient(near);
  clients.push(client);
  return client;
}

/** Opens the two streams of a forwarded connection like client-go: the error stream first, closed by the client. */
async function ask(client: SpdyClient, first: number, port: string, requestId: string): Promise<void> {
  await client.open(first, { streamtype: 'error', port, requestid: requestId });
  client.send(data(first, '', 1));
  await client.open(first + 2, { streamtype: 'data', port, requestid: requestId });
}

const resets = (client: SpdyClient): number[] => client.ofType(3).map(({ streamId }) => streamId);

describe('port forwarding over SPDY', () => {
  it('carries several connections to the ports they name', async () => {
    const asked: number[] = [];
    const client = forwarding(async (port) => {
      asked.push(port);
      return new PassThrough();
    });
    await ask(client, 1, '80', '0');
    await ask(client, 5, '443', '1');
    client.send(data(7, 'to 443', 1), data(3, 'to 80'));
    await vi.waitFor(() => expect(client.finished(7)).toBe(true));
    await vi.waitFor(() => expect(client.dataOf(3).toString()).toBe('to 80'));
    expect(client.dataOf(7).toString()).toBe('to 443');
    expect(asked).toEqual([80, 443]);
    // When a connection ends, its error stream ends without data.
    await vi.waitFor(() => expect(client.finished(5)).toBe(true));
    expect(client.dataOf(5)).toHaveLength(0);
    expect(client.finished(1)).toBe(false);
    expect(resets(client)).toEqual([]);
  });

  it('reports on the error stream why a port cannot be reached', async () => {
    const client = forwarding(async () => {
      throw new Error('connection refused');
    });
    await ask(client, 1, '1', '0');
    await vi.waitFor(() => expect(client.finished(1)).toBe(true));
    expect(client.dataOf(1).toString()).toBe('connection refused');
    expect(client.finished(3)).toBe(true);
  });

  it('reports on the error stream how a connection broke', async () => {
    const pod = new PassThrough();
    const client = forwarding(async () => pod);
    await ask(client, 1, '80', '0');
    client.send(data(3, 'hello'));
    await vi.waitFor(() => expect(client.dataOf(3).toString()).toBe('hello'));
    pod.destroy(new Error('connection reset by peer'));
    await vi.waitFor(() => expect(client.finished(1)).toBe(true));
    expect(client.dataOf(1).toString()).toBe('connection reset by peer');
  });

  it.each<[string, (client: SpdyClient) => void]>([
    ['a reset stream', (client) => client.send(control(3, Buffer.concat([word(3), word(5)])))],
    ['the end of the connection', (client) => client.close()],
  ])('closes the connection to the pod after %s', async (_what, end) => {
    const pod = new PassThrough();
    const client = forwarding(async () => pod);
    await ask(client, 1, '80', '0');
    client.send(data(3, 'hello'));
    await vi.waitFor(() => expect(client.dataOf(3).toString()).toBe('hello'));
    end(client);
    await vi.waitFor(() => expect(pod.destroyed).toBe(true));
  });

  it('closes the connection to a pod that answers after the client has left', async () => {
    const pod = new PassThrough();
    let answer: (pod: Duplex) => void = () => {};
    const client = forwarding(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await ask(client, 1, '80', '0');
    await vi.waitFor(() => expect(client.ofType(2)).toHaveLength(2));
    client.send(control(3, Buffer.concat([word(3), word(5)])), control(6, word(1)));
    await vi.waitFor(() => expect(client.ofType(6)).toHaveLength(1));
    answer(pod);
    await vi.waitFor(() => expect(pod.destroyed).toBe(true));
  });

  it.each<[string, Record<string, string>]>([
    ['no kind', { port: '80', requestid: '0' }],
    ['an unknown kind', { streamtype: 'other', port: '80', requestid: '0' }],
    ['no port', { streamtype: 'data', requestid: '0' }],
    ['a port out of range', { streamtype: 'data', port: '65536', requestid: '0' }],
    ['a port that is no number', { streamtype: 'data', port: 'http', requestid: '0' }],
    ['no request', { streamtype: 'data', port: '80' }],
  ])('refuses a stream with %s', async (_what, headers) => {
    const client = forwarding(async () => new PassThrough());
    await client.open(1, headers);
    await vi.waitFor(() => expect(resets(client)).toEqual([1]));
  });

  it('refuses a second stream of the same kind', async () => {
    const client = forwarding(async () => new PassThrough());
    await client.open(1, { streamtype: 'data', port: '80', requestid: '0' });
    await client.open(3, { streamtype: 'data', port: '80', requestid: '0' });
    await vi.waitFor(() => expect(resets(client)).toEqual([3]));
  });
});
