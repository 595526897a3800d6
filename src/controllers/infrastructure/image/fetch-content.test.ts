import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loopbackNetworks, peerPolicy } from '../../../machinery/index.ts';
import { fetchOverHttp } from './fetch-content.ts';

describe('an image download over HTTP', () => {
  let server: Server;
  let base: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? '';
      if (path === '/moved') response.writeHead(302, { location: '/disk' }).end();
      else if (path === '/circle') response.writeHead(302, { location: '/circle' }).end();
      else if (path === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      else if (path === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (path === '/cut') {
        response.writeHead(200, { 'content-length': '1000' }).write('short', () => response.destroy());
      } else if (path === '/disk') response.end('content');
      else response.writeHead(404).end('gone');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  const open = peerPolicy({ deny: ['169.254.0.0/16'], allow: [] });
  const read = async (url: string, peers = open): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of fetchOverHttp(peers)(url, new AbortController().signal)) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  };

  it.each(['/disk', '/moved'])('reads %s', async (path) => {
    expect(await read(base + path)).toBe('content');
  });

  it.each([
    ['/other', /the server answers 404/],
    ['/circle', /leads to more than 5 places/],
    ['/inside', /169\.254\.169\.254 must not be connected to/],
    ['/file', /file:\/\/\/etc\/passwd is no http or https address/],
    ['/cut', /\/cut: /],
  ])('refuses %s', async (path, problem) => {
    await expect(read(base + path)).rejects.toThrow(problem);
  });

  it('contacts no peer that is denied', async () => {
    const closed = peerPolicy({ deny: loopbackNetworks, allow: [] });
    await expect(read(`${base}/disk`, closed)).rejects.toThrow(/must not be connected to/);
    await expect(read(`${base.replace('127.0.0.1', 'localhost')}/disk`, closed)).rejects.toThrow();
  });
});
