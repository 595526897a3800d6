import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseStackId } from '../../../api/index.ts';
import { type Artifacts, createArtifacts } from '../../../artifacts/index.ts';
import { TestArtifactServer } from '../../../artifacts/testing/index.ts';
import { systemClock } from '../../../machinery/index.ts';
import { createStackCatalog } from '../catalog.ts';
import { releaseFiles } from '../testing/release-files.ts';
import { directorySource } from './directory.ts';
import { registrySource } from './registry.ts';
import { releasePageSource } from './release-page.ts';
import type { FetchChart } from './types.ts';

const { signal } = new AbortController();
const noCharts: FetchChart = async () => new Map();
const id = parseStackId('openstack-my-own-stack-1-33-v0-sha.abc')!;
const files = releaseFiles({
  id: 'openstack-my-own-stack-1-33-v0-sha.abc',
  kubernetes: 'v1.33.6',
  stages: { 'cni/templates/x.yaml': 'kind: ConfigMap' },
});

describe('sources of releases', () => {
  let server: TestArtifactServer;
  let artifacts: Artifacts;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stacks-'));
    artifacts = createArtifacts({ cache: { memory: true }, clock: systemClock });
  });
  afterEach(async () => {
    await artifacts.close();
    await server?.close();
    await rm(folder, { recursive: true });
  });

  const catalogOf = (source: ReturnType<typeof directorySource>) =>
    createStackCatalog({ sources: [source], clock: systemClock });

  it('may be a directory in the layout of the stack operator', async () => {
    const place = join(folder, 'cluster-stacks', 'openstack-my-own-stack-1-33-v0-sha-abc');
    await mkdir(place, { recursive: true });
    await mkdir(join(folder, 'notes'));
    for (const [name, content] of files) await writeFile(join(place, name), content);
    const catalog = catalogOf(directorySource(folder, noCharts));
    const { ids, ignored } = await catalog.list(signal);
    expect(ids).toEqual([id]);
    expect(ignored.map(({ tag }) => tag)).toEqual(['notes']);
    const release = await catalog.release(id, signal);
    expect(release.metadata).toEqual({
      kubernetesVersion: 'v1.33.6',
      addonVersion: 'v0-sha.abc',
      nodeImageVersion: 'v0-sha.abc',
    });
    expect(release.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    await expect(catalog.release(parseStackId('openstack-my-own-stack-1-33-v9')!, signal)).rejects.toThrow(
      `no release openstack-my-own-stack-1-33-v9 in directory ${folder}`,
    );
  });

  it.each(['basic', 'token'] as const)('may be a registry with %s authentication', async (kind) => {
    server = await TestArtifactServer.start({ auth: { kind, username: 'me', password: 'secret' }, pageSize: 2 });
    const layers = [...files].map(([title, content]) => ({
      mediaType: 'application/octet-stream',
      content,
      annotations: { 'org.opencontainers.image.title': title },
    }));
    const more = { artifactType: 'application/vnd.clusterstack.release' };
    for (const tag of ['latest', 'openstack-my-own-stack-1-33-v0-sha-abc', 'x1']) {
      server.push('kaas/stacks', tag, layers, more);
    }
    const url = `${server.url}/kaas/stacks`;
    const registry = artifacts.registry(url, { username: 'me', password: 'secret' });
    const catalog = catalogOf(registrySource(url, registry, noCharts));
    expect((await catalog.list(signal)).ignored.map(({ tag }) => tag)).toEqual(['latest', 'x1']);
    expect((await catalog.release(id, signal)).metadata.kubernetesVersion).toBe('v1.33.6');
    const stranger = catalogOf(registrySource(url, artifacts.registry(url), noCharts));
    await expect(stranger.release(id, signal)).rejects.toThrow(/wants credentials|refuse|401/);
  });

  it('may be release pages, whose assets are verified by digest', async () => {
    server = await TestArtifactServer.start();
    const tag = 'openstack-my-own-stack-1-33-v0-sha-abc';
    const assets = [...files.keys()].map((name) => ({ name, browser_download_url: `${server.url}/dl/${name}` }));
    for (const [name, content] of files) server.serve(`/dl/${name}`, content);
    const api = '/api/v3/repos/me/stacks/releases';
    server.serve(api, JSON.stringify([{ tag_name: tag }, { tag_name: 'draft', draft: true }, { tag_name: 'v1.2.3' }]));
    server.serve(`${api}/tags/${tag}`, JSON.stringify({ tag_name: tag, assets }));
    const source = releasePageSource({ url: `${server.url}/me/stacks`, artifacts, chart: noCharts });
    const catalog = catalogOf(source);
    const { ids, ignored } = await catalog.list(signal);
    expect(ids).toEqual([id]);
    expect(ignored.map((entry) => entry.tag)).toEqual(['v1.2.3']);
    expect((await catalog.release(id, signal)).metadata.kubernetesVersion).toBe('v1.33.6');
    expect(await source.files(parseStackId('openstack-my-own-stack-1-33-v7')!, signal)).toBeUndefined();
    const wrong = assets.map((asset) => ({ ...asset, digest: `sha256:${'0'.repeat(64)}` }));
    server.serve(`${api}/tags/${tag}`, JSON.stringify({ tag_name: tag, assets: wrong }));
    await expect(source.files(id, signal)).rejects.toThrow(/digest|sha256/);
  });
});
