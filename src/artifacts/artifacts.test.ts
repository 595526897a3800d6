import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loopbackNetworks, ManualClock, peerPolicy, systemClock } from '../machinery/index.ts';
import { createAuthority, issueCertificate } from '../pki/index.ts';
import { type Artifacts, type ArtifactsOptions, createArtifacts } from './artifacts.ts';
import { directoryCache, memoryCache } from './cache.ts';
import { chooseVersion, entryText, indexEntries } from './chart-index.ts';
import { digestOf } from './digest.ts';
import { ArtifactError } from './errors.ts';
import { packChart, TestArtifactServer, type TestServerOptions } from './testing/index.ts';
import { readChallenges } from './www-authenticate.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(options: TestServerOptions = {}): Promise<TestArtifactServer> {
  const server = await TestArtifactServer.start(options);
  cleanups.push(() => server.close());
  return server;
}

function artifactsWith(options: Partial<ArtifactsOptions> = {}): Artifacts {
  const artifacts = createArtifacts({ cache: { memory: true }, clock: systemClock, ...options });
  cleanups.push(() => artifacts.close());
  return artifacts;
}

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'capstan-artifacts-'));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function refusal(promise: Promise<unknown>): Promise<{ reason: string; message: string; hint: string }> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ArtifactError)) throw new Error(`not refused: ${String(error)}`);
  return { reason: error.reason, message: error.message, hint: error.hint ?? '' };
}

const archive = (version: string): Uint8Array =>
  packChart('web', { 'Chart.yaml': `apiVersion: v2\nname: web\nversion: ${version}\n`, 'templates/x.yaml': version });
const bare = (bytes: Uint8Array): string => digestOf(bytes).slice('sha256:'.length);
const chartLayer = (version: string) => ({
  mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
  content: archive(version),
});
const owner = { username: 'reader', password: 'secret-of-the-reader' };

/** Publishes a chart repository with the given versions. */
function publish(
  server: TestArtifactServer,
  versions: readonly string[],
  urlOf = (version: string) => `web-${version}.tgz`,
): void {
  const entries = versions.map(
    (version) =>
      `  - name: web\n    version: ${version}\n    digest: ${bare(archive(version))}\n    urls:\n    - ${urlOf(version)}\n`,
  );
  server.serve(
    '/charts/index.yaml',
    `apiVersion: v1\nentries:\n  other:\n  - version: 9.0.0\n  web:\n${entries.join('')}generated: "x"\n`,
  );
  for (const version of versions) server.serve(`/charts/web-${version}.tgz`, archive(version));
}

describe('charts of a repository with an index', () => {
  it('are chosen by version or range and checked against the digest of the index', async () => {
    const server = await serve();
    publish(server, ['1.0.0', '1.2.0', '2.0.0-rc.1', '1.10.0']);
    const artifacts = artifactsWith();
    const repository = `${server.url}/charts`;
    const get = (version: string) => artifacts.chart({ repository, chart: 'web', version });
    const chart = await get('1.2.0');
    expect([...chart.files.keys()]).toEqual(['Chart.yaml', 'templates/x.yaml']);
    expect(chart.digest).toBe(digestOf(archive('1.2.0')));
    expect((await get('~1.2')).version).toBe('1.2.0');
    expect((await get('')).version).toBe('1.10.0');
    expect((await get('>1.99.0-0')).version).toBe('2.0.0-rc.1');
    expect(await refusal(get('7.0.0'))).toEqual({
      reason: 'notFound',
      message: `chart web has no version "7.0.0" in ${repository}/`,
      hint: 'it has 1.0.0, 1.2.0, 2.0.0-rc.1, 1.10.0',
    });
    expect((await refusal(artifacts.chart({ repository, chart: 'none', version: '1' }))).message).toBe(
      `chart none is not in ${repository}/`,
    );
  });

  it('are fetched once, and the index again when it is old', async () => {
    const server = await serve();
    publish(server, ['1.0.0']);
    const clock = new ManualClock();
    const artifacts = artifactsWith({ clock });
    const request = { repository: `${server.url}/charts/`, chart: 'web', version: '' };
    await artifacts.chart(request);
    await artifacts.chart(request);
    expect(server.requests.map(({ path }) => path)).toEqual(['/charts/index.yaml', '/charts/web-1.0.0.tgz']);
    publish(server, ['1.0.0', '1.1.0']);
    expect((await artifacts.chart(request)).version).toBe('1.0.0');
    await clock.advance(31_000);
    expect((await artifacts.chart(request)).version).toBe('1.1.0');
  });

  it('are refused when they differ from the digest, and not cached', async () => {
    const server = await serve();
    publish(server, ['1.0.0']);
    server.serve('/charts/web-1.0.0.tgz', archive('6.6.6'));
    const artifacts = artifactsWith();
    const request = { repository: `${server.url}/charts`, chart: 'web', version: '1.0.0' };
    expect(await refusal(artifacts.chart(request))).toMatchObject({
      reason: 'digest',
      message: `chart web 1.0.0 of ${server.url}/charts/ has the digest ${digestOf(archive('6.6.6'))}, expected ${digestOf(archive('1.0.0'))}`,
    });
    server.serve('/charts/web-1.0.0.tgz', archive('1.0.0'));
    expect((await artifacts.chart(request)).version).toBe('1.0.0');
  });

  it('are requested with credentials only on the host of the repository', async () => {
    const [own, other] = [await serve(), await serve()];
    publish(own, ['1.0.0'], (version) => `${other.url}/charts/web-${version}.tgz`);
    publish(other, ['1.0.0']);
    await artifactsWith().chart({
      repository: `${own.url}/charts`,
      chart: 'web',
      version: '1.0.0',
      credentials: owner,
    });
    expect(own.requests[0]?.authorization).toMatch(/^Basic /);
    expect(other.requests).toEqual([{ path: '/charts/web-1.0.0.tgz', authorization: undefined }]);
  });
});

describe('redirects', () => {
  const redirect = (server: TestArtifactServer, from: string, to: string): void =>
    server.serve(from, (_request, response) => void response.writeHead(302, { location: to }).end());

  it('are followed without credentials to other hosts', async () => {
    const [own, other] = [await serve(), await serve()];
    redirect(own, '/a', '/b');
    redirect(own, '/b', `${other.url}/c`);
    other.serve('/c', 'content');
    const { bytes } = await artifactsWith().download(`${own.url}/a`, { limit: 100, credentials: owner });
    expect(Buffer.from(bytes).toString()).toBe('content');
    expect(own.requests.map(({ authorization }) => authorization?.slice(0, 5))).toEqual(['Basic', 'Basic']);
    expect(other.requests).toEqual([{ path: '/c', authorization: undefined }]);
  });

  it('are refused after five in a row', async () => {
    const server = await serve();
    redirect(server, '/a', '/a');
    expect((await refusal(artifactsWith().download(`${server.url}/a`, { limit: 100 }))).message).toBe(
      `${server.url}/a is redirected more than 5 times`,
    );
    expect(server.requests).toHaveLength(6);
  });

  it('are refused when they lead to a denied peer', async () => {
    const server = await serve();
    redirect(server, '/a', 'http://169.254.169.254/latest/meta-data');
    const peers = peerPolicy({ deny: ['169.254.0.0/16'], allow: [] });
    expect(await refusal(artifactsWith({ peers }).download(`${server.url}/a`, { limit: 100 }))).toMatchObject({
      reason: 'peer',
      message: `${server.url}/a: 169.254.169.254 must not be connected to from here`,
    });
  });
});

describe('downloads', () => {
  it('are limited in size, whatever the server announces', async () => {
    const server = await serve();
    server.serve('/large', Buffer.alloc(1_000));
    server.serve('/endless', (_request, response) => {
      response.writeHead(200);
      const more = (): void =>
        void (response.write(Buffer.alloc(64 * 1_024)) ? setImmediate(more) : response.once('drain', more));
      more();
    });
    const artifacts = artifactsWith();
    for (const path of ['/large', '/endless']) {
      expect(await refusal(artifacts.download(`${server.url}${path}`, { limit: 999 }))).toMatchObject({
        reason: 'tooLarge',
      });
    }
    expect((await artifacts.download(`${server.url}/large`, { limit: 1_000 })).bytes).toHaveLength(1_000);
  });

  it('with a digest are verified and cached', async () => {
    const server = await serve();
    server.serve('/file', 'content');
    const sha256 = bare(Buffer.from('content'));
    const artifacts = artifactsWith();
    for (let i = 0; i < 2; i++) await artifacts.download(`${server.url}/file`, { limit: 100, sha256 });
    expect(server.requests).toHaveLength(1);
    expect(
      await refusal(artifacts.download(`${server.url}/file`, { limit: 100, sha256: 'a'.repeat(64) })),
    ).toMatchObject({
      reason: 'digest',
    });
  });

  it.each([
    [404, 'notFound', 'check the name, the version and the address'],
    [403, 'refused', 'check the credentials'],
    [503, 'unreachable', 'it is tried again'],
  ])('report the status %i when they fail', async (status, reason, hint) => {
    const server = await serve();
    server.serve('/x', (_request, response) => void response.writeHead(status).end('secret body'));
    const given = await refusal(
      artifactsWith().download(`${server.url}/x?token=hidden`, { limit: 10, credentials: owner }),
    );
    expect(given).toEqual({ reason, message: `${server.url}/x: ${server.url}/x answers ${status}`, hint });
  });

  it('report an invalid address without the secrets in it', async () => {
    const artifacts = artifactsWith({ peers: peerPolicy({ deny: loopbackNetworks, allow: [] }) });
    const get = async (url: string) => (await refusal(artifacts.download(url, { limit: 10 }))).message;
    expect(await get('https://user:pass@example.com/x')).toBe('https://example.com/x has credentials in its URL');
    expect(await get('file:///etc/passwd')).toBe('file:///etc/passwd is neither an http nor an https URL');
    expect(await get('http://127.0.0.1:1/x')).toBe(
      'http://127.0.0.1:1/x: 127.0.0.1 must not be connected to from here',
    );
    expect(await get('http://localhost:1/x')).toMatch(
      /^http:\/\/localhost:1\/x: localhost \((?:127\.0\.0\.1|::1)\) must not/,
    );
    expect(await get('https://a b/')).toBe('"https://a b/" is no URL');
    const closed = await serve();
    await closed.close();
    expect(await refusal(artifactsWith().download(`${closed.url}/x`, { limit: 10 }))).toMatchObject({
      reason: 'unreachable',
      message: `${closed.url}/x: ${closed.host} refuses connections`,
    });
  });
});

describe('OCI registries', () => {
  it('list all tags over several pages', async () => {
    const server = await serve({ pageSize: 2 });
    for (const tag of ['1.0.0', '1.1.0', '1.2.0', 'latest', '2.0.0_build'])
      server.push('team/web', tag, [chartLayer('1.0.0')]);
    const artifacts = artifactsWith();
    expect(await artifacts.registry(`${server.url}/team/web`).tags()).toEqual([
      '1.0.0',
      '1.1.0',
      '1.2.0',
      'latest',
      '2.0.0_build',
    ]);
    expect(server.requests).toHaveLength(3);
  });

  it.each(['basic', 'token'] as const)('serve artifacts with %s authentication', async (kind) => {
    const server = await serve({ auth: { kind, ...owner } });
    const digest = server.push(
      'team/stack',
      'v1',
      [
        {
          mediaType: 'application/x',
          content: Buffer.from('hello'),
          annotations: { 'org.opencontainers.image.title': 'a.txt' },
        },
      ],
      { artifactType: 'application/vnd.example', annotations: { kubernetesVersion: 'v1.33.0' } },
    );
    const artifacts = artifactsWith();
    const registry = artifacts.registry(`${server.url}/team/stack`, owner);
    const pulled = await registry.pull('v1');
    expect(pulled).toMatchObject({
      digest,
      artifactType: 'application/vnd.example',
      annotations: { kubernetesVersion: 'v1.33.0' },
    });
    const [layer] = pulled.layers;
    expect(layer).toMatchObject({ size: 5, annotations: { 'org.opencontainers.image.title': 'a.txt' } });
    expect(Buffer.from(await layer!.read()).toString()).toBe('hello');
    expect((await registry.pull(digest)).digest).toBe(digest);
    const wrong = artifacts.registry(`${server.url}/team/stack`, { ...owner, password: 'wrong' });
    const refused = await refusal(wrong.pull('v1'));
    expect(refused.reason).toBe('refused');
    expect(refused.message + refused.hint).not.toContain('wrong');
    expect((await refusal(artifacts.registry(`${server.url}/team/stack`).pull('v1'))).reason).toBe('refused');
  });

  it('serve charts whose versions are tags', async () => {
    const server = await serve();
    for (const version of ['1.0.0', '1.1.0+x', '2.0.0-rc.1']) {
      server.push('charts/web', version.replace('+', '_'), [chartLayer(version)]);
    }
    const pinned = server.push('charts/web', '3.0.0-0', [chartLayer('3.0.0-0')]);
    server.push('charts/web', 'not-a-chart', [{ mediaType: 'application/x', content: Buffer.from('x') }]);
    const artifacts = artifactsWith();
    const repository = `oci://${server.host}/charts`;
    const get = (version: string, chart = 'web') => artifacts.chart({ repository, chart, version, plainHttp: true });
    expect((await get('1.0.0')).digest).toBe(digestOf(archive('1.0.0')));
    expect((await get('1.1.0+x')).version).toBe('1.1.0+x');
    expect((await get('^1')).version).toBe('1.1.0+x');
    expect((await get('', `${repository}/web:2.0.0-rc.1`)).version).toBe('2.0.0-rc.1');
    expect((await get('', `${repository}/web@${pinned}`)).digest).toBe(digestOf(archive('3.0.0-0')));
    expect((await refusal(get('^7'))).message).toBe(`chart ${repository}/web has no version "^7"`);
    expect((await refusal(get('', `${repository}/web:not-a-chart`))).message).toContain('is no chart');
  });

  it('are contacted over TLS with a custom authority', async () => {
    const clock = systemClock;
    const authority = await createAuthority({ commonName: 'test', clock });
    const hosts = ['127.0.0.1'];
    const pair = await issueCertificate({ authority, commonName: 'registry', hosts, usages: ['server'], clock });
    const server = await serve({ tls: { cert: pair.certificate, key: pair.privateKey } });
    server.push('charts/web', '1.0.0', [chartLayer('1.0.0')]);
    const request = { repository: `oci://${server.host}/charts`, chart: 'web', version: '1.0.0' };
    expect((await artifactsWith({ ca: authority.certificate }).chart(request)).version).toBe('1.0.0');
    expect((await refusal(artifactsWith().chart(request))).message).toBe(
      `oci://${server.host}/charts/web:1.0.0: ${server.host} has a certificate that is not trusted`,
    );
  });

  it('are refused content that does not match its digest', async () => {
    const server = await serve();
    const content = Buffer.from('good');
    server.push('a/b', 'v1', [{ mediaType: 'application/x', content }]);
    server.damage('a/b', digestOf(content), Buffer.from('evil'));
    const registry = artifactsWith().registry(`${server.url}/a/b`);
    const layer = (await registry.pull('v1')).layers[0]!;
    expect(await refusal(layer.read())).toMatchObject({ reason: 'digest' });
    server.damage('a/b', digestOf(content), Buffer.from('far too long'));
    expect(await refusal(layer.read())).toMatchObject({ reason: 'tooLarge' });
    expect(await refusal(registry.pull(`sha256:${'a'.repeat(64)}`))).toMatchObject({ reason: 'notFound' });
    expect(await refusal(registry.pull('../x'))).toMatchObject({ reason: 'invalid' });
  });

  it('resolve an index of one artifact to that artifact', async () => {
    const server = await serve();
    const digest = server.push('a/b', 'inner', [{ mediaType: 'application/x', content: Buffer.from('x') }]);
    const type = 'application/vnd.oci.image.index.v1+json';
    server.putManifest('a/b', 'outer', type, { schemaVersion: 2, manifests: [{ digest, size: 1 }] });
    const platforms = ['amd64', 'arm64'].map((architecture) => ({ digest, size: 1, platform: { architecture } }));
    server.putManifest('a/b', 'images', type, { schemaVersion: 2, manifests: platforms });
    const registry = artifactsWith().registry(`${server.url}/a/b`);
    expect((await registry.pull('outer')).digest).toBe(digest);
    expect((await refusal(registry.pull('images'))).message).toContain('is an index of 2 images, not one artifact');
  });

  it.each(['oci://user:pass@host/x', 'oci://host', 'oci://host/UPPER', 'oci://host/../x'])(
    'refuse %s as a repository',
    (url) => {
      const artifacts = artifactsWith();
      expect(() => artifacts.registry(url)).toThrow(/is no repository of a registry$/);
      expect(() => artifacts.registry(url)).not.toThrow(/pass/);
    },
  );
});

describe('the artifact cache', () => {
  const content = Buffer.from('content');
  const digest = digestOf(content);

  it('returns from a directory only content that matches its digest', async () => {
    const path = await directory();
    const cache = directoryCache(path, { clock: systemClock });
    await cache.write('scope', digest, content);
    expect(await cache.read('scope', digest)).toEqual(content);
    expect(await cache.read('other', digest)).toBeUndefined();
    const file = join(path, 'scope', bare(content));
    await writeFile(file, 'damaged');
    expect(await cache.read('scope', digest)).toBeUndefined();
    await expect(readFile(file)).rejects.toThrow('ENOENT');
    expect(await readdir(join(path, 'scope'))).toEqual([]);
  });

  it('survives a restart of the process', async () => {
    const path = await directory();
    const server = await serve();
    publish(server, ['1.0.0']);
    const request = { repository: `${server.url}/charts`, chart: 'web', version: '1.0.0' };
    await artifactsWith({ cache: { directory: path } }).chart(request);
    await artifactsWith({ cache: { directory: path } }).chart(request);
    expect(server.requests.filter(({ path: asked }) => asked.endsWith('.tgz'))).toHaveLength(1);
  });

  it('evicts what was used longest ago', async () => {
    const clock = new ManualClock();
    const part = (letter: string): Buffer => Buffer.from(letter.repeat(10));
    for (const cache of [memoryCache({ maxBytes: 25 }), directoryCache(await directory(), { clock, maxBytes: 25 })]) {
      for (const letter of ['a', 'b']) {
        await cache.write('s', digestOf(part(letter)), part(letter));
        await clock.advance(1_000);
      }
      await cache.read('s', digestOf(part('a')));
      await clock.advance(1_000);
      await cache.write('s', digestOf(part('c')), part('c'));
      const kept = [];
      for (const letter of ['a', 'b', 'c']) if (await cache.read('s', digestOf(part(letter)))) kept.push(letter);
      expect(kept).toEqual(['a', 'c']);
    }
  });

  it('gives no access to content that other tenants fetched', async () => {
    const server = await serve({ auth: { kind: 'basic', ...owner } });
    const secret = Buffer.from('of another tenant');
    server.push('private/x', 'v1', [{ mediaType: 'application/x', content: secret }]);
    const artifacts = artifactsWith();
    await (await artifacts.registry(`${server.url}/private/x`, owner).pull('v1')).layers[0]!.read();
    const mine = await serve();
    mine.push('my/x', 'v1', [{ mediaType: 'application/x', content: secret }]);
    mine.damage('my/x', digestOf(secret), Buffer.from('x'));
    const layer = (await artifacts.registry(`${mine.url}/my/x`).pull('v1')).layers[0]!;
    expect(await refusal(layer.read())).toMatchObject({ reason: 'digest' });
  });
});

describe('parsing of indexes and challenges', () => {
  it('extracts one chart from a large index', () => {
    const text =
      'apiVersion: v1\nentries:\n  a:\n  - version: 1.0.0\n    description: |\n      entries:\n        b:\n  b.c:\n  - version: 2.0.0\n    urls: [x]\n\n  d:\n  - version: 3.0.0\ngenerated: x\n';
    expect(entryText(text, 'b.c')).toBe('entries:\n  b.c:\n  - version: 2.0.0\n    urls: [x]\n\n');
    expect(entryText(text, 'd')).toBe('entries:\n  d:\n  - version: 3.0.0\n');
    expect(entryText(text, 'none')).toBeUndefined();
    expect(indexEntries(text, 'd', 'here').map(({ version }) => version)).toEqual(['3.0.0']);
    expect(indexEntries('{"entries":{"j":[{"version":"1.0.0","urls":["u"]}]}}', 'j', 'here')).toHaveLength(1);
    expect(() => indexEntries('<html>', 'j', 'here')).toThrow('the index of here has no entries');
  });

  it('chooses versions by numeric order', () => {
    const entries = ['1.9.0', '1.10.0', '1.11.0-rc.1', 'nonsense'].map((version) => ({ version }));
    expect(chooseVersion(entries, '')?.version).toBe('1.10.0');
    expect(chooseVersion(entries, 'v1.9.0')?.version).toBe('1.9.0');
    expect(chooseVersion(entries, '1.x')?.version).toBe('1.10.0');
    expect(chooseVersion(entries, 'nonsense')?.version).toBe('nonsense');
    expect(chooseVersion(entries, '<1')).toBeUndefined();
  });

  it('parses authentication challenges', () => {
    expect(
      readChallenges('Bearer realm="https://a/t",service="r",scope="repository:x:pull,push", Basic realm=x'),
    ).toEqual([
      {
        scheme: 'bearer',
        parameters: new Map([
          ['realm', 'https://a/t'],
          ['service', 'r'],
          ['scope', 'repository:x:pull,push'],
        ]),
      },
      { scheme: 'basic', parameters: new Map([['realm', 'x']]) },
    ]);
    expect(readChallenges('')).toEqual([]);
  });
});
