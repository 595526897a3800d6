import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../machinery/index.ts';
import type { SimulatedCloud } from '../../cloud.ts';
import { testCloud } from '../../testing/test-cloud.ts';
import { ensureCloudTls } from '../../tls.ts';

const clouds: SimulatedCloud[] = [];

afterEach(async () => {
  for (const cloud of clouds.splice(0)) await cloud.close();
});

async function listening(): Promise<{ cloud: SimulatedCloud; url: string }> {
  const { cloud } = await testCloud();
  clouds.push(cloud);
  const { url } = await cloud.listen({ host: '127.0.0.1', port: 0 });
  return { cloud, url };
}

describe('a cloud over HTTP', () => {
  it('answers on a free port in the same words as in process', async () => {
    const { cloud, url } = await listening();
    const response = await fetch(`${url}/identity/v3`);
    expect(response.status).toBe(200);
    const inside = await cloud.transport({ method: 'GET', url: `${url}/identity/v3`, headers: {} });
    expect(await response.text()).toBe(Buffer.from(inside.body).toString());
  });

  it('accepts request bodies', async () => {
    const { url } = await listening();
    const response = await fetch(`${url}/identity/v3/auth/tokens`, { method: 'POST', body: '{bad' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('valid JSON');
  });

  it('cuts the connection when a rule says so', async () => {
    const { cloud, url } = await listening();
    cloud.operator.faults.set({ id: 'r', when: {}, effect: { kind: 'reset', workDone: false } });
    const failure = await new Promise<NodeJS.ErrnoException>((resolve, reject) => {
      httpRequest(`${url}/identity/v3`, () => reject(new Error('answered')))
        .once('error', resolve)
        .end();
    });
    expect(failure.code).toBe('ECONNRESET');
  });

  it('closes while clients hold connections', async () => {
    const { cloud, url } = await listening();
    await fetch(`${url}/identity/v3`);
    await cloud.close();
    await expect(fetch(`${url}/identity/v3`)).rejects.toThrow();
  });
});

describe('a cloud over HTTPS', () => {
  it('is trusted by clients with its authority and by nobody else', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-cloud-tls-'));
    try {
      const { cloud } = await testCloud();
      clouds.push(cloud);
      const tls = await ensureCloudTls(directory, ['127.0.0.1', 'localhost'], systemClock);
      const { url } = await cloud.listen({ host: '127.0.0.1', port: 0, tls });
      const ca = await readFile(tls.authorityFile, 'utf8');
      const get = (options: { ca?: string }): Promise<string> =>
        new Promise((resolve, reject) => {
          httpsRequest(`${url}/compute/`, options, (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (chunk: string) => {
              text += chunk;
            });
            response.once('end', () => resolve(text));
          })
            .once('error', reject)
            .end();
        });
      // Links use the scheme of the client's request.
      expect(await get({ ca })).toContain(`"${url}/compute/v2.1/"`);
      await expect(get({})).rejects.toThrow(/self-signed|unable to verify|unable to get/);
      const again = await ensureCloudTls(directory, ['127.0.0.1'], systemClock);
      expect(await readFile(again.authorityFile, 'utf8')).toBe(ca);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
