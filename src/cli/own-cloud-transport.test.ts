import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CloudConfig } from '../openstack/index.ts';
import { ownCloudTransport } from './own-cloud-transport.ts';

describe('the HTTP transport of simulated machines', () => {
  let cloud: Server;
  let url = '';
  beforeAll(async () => {
    cloud = createServer((_request, response) => response.end('cloud'));
    await new Promise<void>((resolve) => cloud.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`;
  });
  afterAll(() => void cloud.close());

  const config = { tls: { verify: true } } as CloudConfig;
  const ask = (target: string, own: string | undefined = url): Promise<{ status: number }> =>
    ownCloudTransport(() => own)(config)({ method: 'GET', url: target, headers: {} });

  it('reaches the simulated cloud', async () => {
    expect((await ask(`${url}/identity/v3`)).status).toBe(200);
    expect((await ask(`${url.replace('127.0.0.1', 'localhost')}/identity/v3`)).status).toBe(200);
  });

  it.each(['http://127.0.0.1:1/', 'http://169.254.169.254/', 'https://keystone.example.org/v3'])(
    'reaches nothing else: %s',
    async (target) => {
      await expect(ask(target)).rejects.toMatchObject({ code: 'ENOTFOUND' });
      await expect(ask(`${url}/`, 'http://127.0.0.1:2')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
  );
});
