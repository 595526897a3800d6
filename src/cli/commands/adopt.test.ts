import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployments, Namespaces } from '../../api/index.ts';
import { startTestServer, type TestServer } from '../../apiserver/testing/index.ts';
import { writeTestKubeconfig } from '../testing/kubeconfig.ts';
import { type RecordingContext, recordingContext } from '../testing/memory-api.ts';
import { type AdoptOptions, adopt } from './adopt.ts';
import { install } from './install.ts';

const by = { fieldManager: 'test', force: true };

describe('capstan adopt', () => {
  let server: TestServer;
  let directory: string;
  let kubeconfig: string;

  beforeAll(async () => {
    server = await startTestServer({ version: { gitVersion: 'v1.34.4' } });
    directory = await mkdtemp(join(tmpdir(), 'capstan-adopt-'));
    kubeconfig = join(directory, 'kubeconfig');
    await writeTestKubeconfig(kubeconfig, server);
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const run = (options: Partial<AdoptOptions>, context: RecordingContext = recordingContext()): Promise<number> =>
    adopt({ kubeconfig, replicas: '2', controllers: true, ...options }, context);

  it.each<[Partial<AdoptOptions>, string]>([
    [{ release: true, dryRun: true }, '--release and --dry-run exclude each other'],
    [{ output: 'json' }, '--output is for --dry-run'],
    [{ replicas: 'many' }, '--replicas'],
  ])('refuses contradictory options: %o', async (options, words) => {
    await expect(run(options)).rejects.toThrow(words);
  });

  it('reports that there is nothing to adopt without an upstream installation', async () => {
    const context = recordingContext();
    expect(await run({ dryRun: true }, context)).toBe(1);
    expect(context.out()).toContain('nothing of upstream was found here');
    await expect(run({ yes: true })).rejects.toThrow('nothing was changed');
    await expect(run({ release: true })).rejects.toThrow('was taken over from upstream');
  });

  it('leaves the API of `capstan up` alone, whose placeholders look like upstream managers', async () => {
    const embedded = await startTestServer();
    try {
      const { host, port } = embedded.endpoint;
      const other = join(directory, 'embedded');
      const text = await readFile(kubeconfig, 'utf8');
      await writeFile(
        other,
        text.replace(`https://${server.endpoint.host}:${server.endpoint.port}`, `https://${host}:${port}`),
      );
      for (const dryRun of [true, false])
        await expect(run({ kubeconfig: other, dryRun, yes: true })).rejects.toMatchObject({
          code: 'CAP_INSTALLED_ALREADY',
          hint: expect.stringContaining('nothing was changed; name another Kubernetes'),
        });
      await expect(install({ kubeconfig: other, replicas: '1' }, recordingContext())).rejects.toThrow(
        /is the management API of `capstan up`/,
      );
      expect((await embedded.local.list(Deployments)).items).toEqual([]);
    } finally {
      await embedded.stop();
    }
  });

  it('prints the plan for programs, and changes nothing when the user declines', async () => {
    const labels = { 'cluster.x-k8s.io/provider': 'cluster-api' };
    const image = 'registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2';
    await server.local.apply(Namespaces, { metadata: { name: 'capi-system' } }, by);
    const metadata = { namespace: 'capi-system', name: 'capi-controller-manager', labels };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'manager', image }] } };
    await server.local.apply(Deployments, { metadata, spec: { selector: { matchLabels: labels }, template } }, by);
    const context = recordingContext();
    expect(await run({ dryRun: true, output: 'json' }, context)).toBe(0);
    expect(JSON.parse(context.out())).toMatchObject({
      managers: [{ provider: 'cluster-api', version: 'v1.14.2', replicas: 1 }],
      machinesRolled: 0,
      obstacles: [],
    });
    const asked = recordingContext();
    asked.confirm = async () => false;
    await expect(run({}, asked)).rejects.toMatchObject({ code: 'CAP_NOT_CONFIRMED' });
    expect((await server.local.get(Deployments, metadata)).spec.replicas).toBe(1);
  });
});
