import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isUnreachable } from '../../../client/index.ts';
import { reachable } from './reachable.ts';

async function listening(): Promise<{ server: Server; url: string }> {
  const server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('reachability', () => {
  it('is confirmed when a server listens, whatever its protocol', async () => {
    const { server, url } = await listening();
    await reachable(url, new AbortController().signal);
    server.close();
  });

  it('is denied with the address when no server listens', async () => {
    const { server, url } = await listening();
    server.close();
    await once(server, 'close');
    const failure = await reachable(url, new AbortController().signal).catch((error: unknown) => error);
    expect(isUnreachable(failure)).toBe(true);
    expect((failure as Error).message).toContain(url);
    expect((failure as Error).message).toContain('ECONNREFUSED');
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    // TEST-NET-1: packets to it are never answered
    const asked = reachable('https://192.0.2.1:6443', stop.signal).catch((error: unknown) => error);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await asked).toBe(reason);
    expect(await reachable('https://192.0.2.1:6443', stop.signal).catch((error: unknown) => error)).toBe(reason);
  });
});
