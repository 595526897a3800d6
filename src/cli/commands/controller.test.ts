import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Namespaces } from '../../api/index.ts';
import { startTestServer, type TestServer } from '../../apiserver/testing/index.ts';
import { ManualClock, systemClock } from '../../machinery/index.ts';
import { memoryLogger } from '../../runtime/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import { applyKinds } from '../install/apply-kinds.ts';
import { installedKinds } from '../install/installation.ts';
import { writeTestKubeconfig } from '../testing/kubeconfig.ts';
import { recordingContext } from '../testing/memory-api.ts';
import { controller } from './controller.ts';

describe('capstan controller in a Pod', () => {
  let server: TestServer;
  let directory: string;
  let kubeconfig: string;
  beforeAll(async () => {
    server = await startTestServer({ version: { gitVersion: 'v1.34.4' } });
    directory = await mkdtemp(join(tmpdir(), 'capstan-controller-'));
    kubeconfig = join(directory, 'kubeconfig');
    await writeTestKubeconfig(kubeconfig, server);
    const { signal } = new AbortController();
    const kinds = installedKinds({ url: 'https://127.0.0.1:1' });
    await applyKinds(server.local, kinds, { clock: systemClock, signal });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await server.local.create(Namespaces, namespace, { fieldManager: 'test' });
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const answers = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });

  it('serves the webhooks after the signal until no API server is sent to it any more', async () => {
    const clock = new ManualClock(systemClock.now());
    const { logger, entries } = memoryLogger();
    const context = { ...recordingContext(), clock, log: logger, env: { POD_IP: '127.0.0.1' } };
    const port = await freePort();
    let code: number | undefined;
    const running = controller(
      {
        kubeconfig,
        controllers: 'none',
        leaderElect: false,
        metricsBindAddress: '0',
        healthProbeBindAddress: '0',
        webhookPort: String(port),
        bootstrapListen: '127.0.0.1:0',
        agentListen: '127.0.0.1:0',
        backupDirectory: directory,
      },
      context,
    ).then((result) => {
      code = result;
    });
    await expect.poll(context.out).toMatch(/^ready$/m);
    expect(await answers(port)).toBe(true);
    context.stop();
    // The controllers have stopped, and only this is left to wait for.
    await expect
      .poll(() => entries.map(({ message }) => message))
      .toContain('The webhooks answer until API servers are sent elsewhere');
    expect(await answers(port)).toBe(true);
    expect(code).toBeUndefined();
    await clock.advance(5_000);
    await running;
    expect(code).toBe(0);
    expect(await answers(port)).toBe(false);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
