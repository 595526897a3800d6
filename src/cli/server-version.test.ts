import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CustomResourceDefinitions, Deployments, Namespaces } from '../api/index.ts';
import { startTestServer, type TestServer } from '../apiserver/testing/index.ts';
import { statusError } from '../machinery/index.ts';
import { adopt } from './commands/adopt.ts';
import { controller } from './commands/controller.ts';
import { install } from './commands/install.ts';
import { node } from './commands/node.ts';
import { readServerVersion, requireSupportedKubernetes, versioned } from './server-version.ts';
import { writeTestKubeconfig } from './testing/kubeconfig.ts';
import { type RecordingContext, recordingContext } from './testing/memory-api.ts';

describe('the version of a Kubernetes', () => {
  const { signal } = new AbortController();
  const asked = (version: () => unknown) => ({
    raw: async () => ({ contentType: 'application/json', body: JSON.stringify(version()) }),
  });
  const required = (version: () => unknown): Promise<void> =>
    requireSupportedKubernetes(versioned(asked(version), { server: 'it' }), signal);

  it.each(['v1.28.0', 'v1.28.15', 'v1.37.1', 'v1.38.0-alpha.1', 'v1.29.6-gke.100', 'v1.30.2+k3s1', 'v2.0.0'])(
    'accepts %s',
    async (gitVersion) => {
      expect(
        await readServerVersion(
          asked(() => ({ gitVersion })),
          signal,
        ),
      ).toBe(gitVersion);
      await required(() => ({ gitVersion }));
    },
  );

  it.each(['v1.27.16', 'v1.9.0', 'v1.27.16-eks-2d5f260'])('refuses %s', async (gitVersion) => {
    await expect(required(() => ({ gitVersion }))).rejects.toMatchObject({
      code: 'CAP_KUBERNETES_TOO_OLD',
      message: `it is Kubernetes ${gitVersion}`,
      hint: expect.stringContaining('needs Kubernetes 1.28 or newer'),
    });
  });

  it.each([
    ['no version', () => ({})],
    ['a version without numbers', () => ({ gitVersion: 'v0.0.0-master+$Format:%H$' })],
    [
      'a server that hides it',
      () => {
        throw statusError.forbidden({ group: '', resource: '' }, 'no');
      },
    ],
  ])('says nothing about %s', async (_, version) => {
    await required(version);
  });

  it('passes on that a server does not answer', async () => {
    await expect(
      required(() => {
        throw statusError.serviceUnavailable('starting');
      }),
    ).rejects.toThrow('starting');
  });
});

describe('a Kubernetes that is too old', () => {
  let server: TestServer;
  let directory: string;
  let kubeconfig: string;
  beforeAll(async () => {
    server = await startTestServer({ version: { gitVersion: 'v1.27.16' } });
    directory = await mkdtemp(join(tmpdir(), 'capstan-old-'));
    kubeconfig = join(directory, 'kubeconfig');
    await writeTestKubeconfig(kubeconfig, server);
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const outside = {
    controllers: 'all',
    leaderElect: true,
    metricsBindAddress: '0',
    healthProbeBindAddress: '0',
    webhookPort: '0',
    bootstrapListen: '127.0.0.1:0',
    agentListen: '127.0.0.1:0',
  };

  it.each<[string, (context: RecordingContext) => Promise<number>]>([
    ['install', (context) => install({ kubeconfig, replicas: '2' }, context)],
    ['adopt', (context) => adopt({ kubeconfig, replicas: '2', controllers: true, yes: true }, context)],
    ['controller', (context) => controller({ kubeconfig, ...outside }, context)],
    ['controller --install', (context) => controller({ kubeconfig, ...outside, install: true }, context)],
    [
      'node',
      (context) =>
        node(
          { simulated: true, kubeconfig, install: true, dataDir: join(directory, 'node'), podCidr: '10.244.0.0/16' },
          context,
        ),
    ],
  ])('is refused by `capstan %s`, which changes nothing', async (_, run) => {
    const before = await server.local.list(Namespaces);
    await expect(run(recordingContext())).rejects.toMatchObject({
      code: 'CAP_KUBERNETES_TOO_OLD',
      message: expect.stringContaining('v1.27.16'),
    });
    expect((await server.local.list(CustomResourceDefinitions)).items).toEqual([]);
    expect((await server.local.list(Deployments)).items).toEqual([]);
    expect((await server.local.list(Namespaces)).items).toEqual(before.items);
  });
});
