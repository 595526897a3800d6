import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CapstanError, ManualClock } from '../../machinery/index.ts';
import { loadKubeconfig } from './load.ts';
import { proxyFromEnvironment } from './proxy.ts';
import { removeKubeconfigEntry, writeKubeconfigEntry } from './write.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'capstan-kubeconfig-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const pem = (label: string): string => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function file(name: string, content: string, mode = 0o600): Promise<string> {
  const path = join(dir, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content, { mode });
  return path;
}

function config(
  options: { user?: string; cluster?: string; name?: string; current?: boolean; server?: string } = {},
): string {
  const name = options.name ?? 'main';
  return [
    'apiVersion: v1',
    'kind: Config',
    ...(options.current === false ? [] : [`current-context: ${name}`]),
    'clusters:',
    `- name: ${name}`,
    `  cluster: {server: "${options.server ?? 'https://api.example:6443'}"${options.cluster ?? ''}}`,
    'users:',
    `- name: ${name}`,
    `  user: {${options.user ?? ''}}`,
    'contexts:',
    `- name: ${name}`,
    `  context: {cluster: ${name}, user: ${name}, namespace: team}`,
    '',
  ].join('\n');
}

async function failure(work: Promise<unknown>): Promise<CapstanError> {
  try {
    await work;
  } catch (error) {
    expect(error).toBeInstanceOf(CapstanError);
    return error as CapstanError;
  }
  throw new Error('it did not fail');
}

describe('reading a kubeconfig', () => {
  it('reads server, namespace, authority and client certificate, inline or from files beside it', async () => {
    await file('ca.pem', pem('CERTIFICATE'));
    const path = await file(
      'config',
      config({
        cluster: ', certificate-authority: ca.pem, tls-server-name: other.example',
        user: `client-certificate-data: ${base64(pem('CERTIFICATE'))}, client-key-data: ${base64(pem('PRIVATE KEY'))}`,
        server: 'https://api.example:6443/prefix/',
      }),
    );
    const loaded = await loadKubeconfig({ path, env: {} });
    expect(loaded).toMatchObject({
      server: 'https://api.example:6443/prefix',
      certificateAuthority: pem('CERTIFICATE'),
      tlsServerName: 'other.example',
      namespace: 'team',
      context: 'main',
    });
    expect(await loaded.credentials.get()).toEqual({
      clientCertificate: { certificate: pem('CERTIFICATE'), key: pem('PRIVATE KEY') },
    });
  });

  it('merges the files of KUBECONFIG: the first wins per entry, and missing ones are skipped', async () => {
    const first = await file('first', config({ name: 'one', current: false, user: 'token: first' }));
    const second = await file('second', `${config({ name: 'two', user: 'token: second' })}`);
    const third = await file('third', config({ name: 'one', server: 'https://wrong.example', user: 'token: third' }));
    const env = { KUBECONFIG: [first, join(dir, 'missing'), '', second, third].join(':') };
    const current = await loadKubeconfig({ env });
    expect(current.context).toBe('two');
    const chosen = await loadKubeconfig({ env, context: 'one' });
    expect(chosen.server).toBe('https://api.example:6443');
    expect(await chosen.credentials.get()).toEqual({ token: 'first' });
  });

  it('uses ~/.kube/config when nothing else is set', async () => {
    await file('.kube/config', config({ user: 'token: home' }));
    expect(await (await loadKubeconfig({ env: { HOME: dir } })).credentials.get()).toEqual({ token: 'home' });
  });

  it('falls back to the service account inside a Pod', async () => {
    await file('sa/token', 'pod-token\n');
    await file('sa/ca.crt', pem('CERTIFICATE'));
    await file('sa/namespace', 'apps');
    const loaded = await loadKubeconfig({
      env: { HOME: dir, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
      serviceAccountDir: join(dir, 'sa'),
    });
    expect(loaded).toMatchObject({
      server: 'https://[fd00::1]:443',
      namespace: 'apps',
      certificateAuthority: pem('CERTIFICATE'),
    });
    expect(await loaded.credentials.get()).toEqual({ token: 'pod-token' });
  });

  it('reads a token file again after a minute and after a 401', async () => {
    const clock = new ManualClock();
    const token = await file('token', 'one\n');
    const path = await file('config', config({ user: 'tokenFile: token' }));
    const { credentials } = await loadKubeconfig({ path, env: {}, clock });
    expect(await credentials.get()).toEqual({ token: 'one' });
    await writeFile(token, 'two');
    expect(await credentials.get()).toEqual({ token: 'one' });
    await clock.advance(60_000);
    expect(await credentials.get()).toEqual({ token: 'two' });
    await writeFile(token, 'three');
    expect(credentials.refresh()).toBe(true);
    expect(await credentials.get()).toEqual({ token: 'three' });
  });

  it('supports basic authentication, impersonation and proxies', async () => {
    const path = await file(
      'config',
      config({
        user: 'username: u, password: "p:w", as: boss, as-groups: [a, b], as-user-extra: {scope: [x]}',
        cluster: ', proxy-url: "http://proxy.example:3128"',
      }),
    );
    const loaded = await loadKubeconfig({ path, env: {} });
    expect(loaded.proxyUrl).toBe('http://proxy.example:3128');
    expect(loaded.impersonate).toEqual({ user: 'boss', groups: ['a', 'b'], extra: { scope: ['x'] } });
    expect(await loaded.credentials.get()).toEqual({ basic: { username: 'u', password: 'p:w' } });
  });

  it.each([
    ['a file that does not exist', undefined, {}, 'CAP_KUBECONFIG_NOT_FOUND', /does not exist/],
    ['text that is not YAML', 'a: [', {}, 'CAP_KUBECONFIG_INVALID', /is not valid/],
    ['another kind', 'kind: Pod', {}, 'CAP_KUBECONFIG_INVALID', /expected "Config"/],
    ['an entry without a name', 'clusters: [{cluster: {}}]', {}, 'CAP_KUBECONFIG_INVALID', /clusters\[0\] has no name/],
    ['no current context', config({ current: false }), {}, 'CAP_KUBECONFIG_CONTEXT', /no current context/],
    ['an unknown context', config(), { context: 'x' }, 'CAP_KUBECONFIG_CONTEXT', /context "x" does not exist/],
    [
      'a missing user',
      config().replace('- name: main\n  user', '- name: other\n  user'),
      {},
      'CAP_KUBECONFIG_ENTRY',
      /names user "main"/,
    ],
    ['a server that is no URL', config({ server: 'http://' }), {}, 'CAP_KUBECONFIG_ENTRY', /not a URL/],
    [
      'a certificate without key',
      config({ user: `client-certificate-data: ${base64(pem('CERTIFICATE'))}` }),
      {},
      'CAP_KUBECONFIG_ENTRY',
      /no client key/,
    ],
    [
      'data that is no PEM',
      config({ user: 'client-certificate-data: AAAA' }),
      {},
      'CAP_KUBECONFIG_ENTRY',
      /not base64 of a PEM/,
    ],
    [
      'an authority file that is missing',
      config({ cluster: ', certificate-authority: no.pem' }),
      {},
      'CAP_KUBECONFIG_ENTRY',
      /no\.pem/,
    ],
    [
      'an authority and no verification',
      config({
        cluster: `, insecure-skip-tls-verify: true, certificate-authority-data: ${base64(pem('CERTIFICATE'))}`,
      }),
      {},
      'CAP_KUBECONFIG_ENTRY',
      /both/,
    ],
    ['a removed auth provider', config({ user: 'auth-provider: {name: gcp}' }), {}, 'CAP_KUBECONFIG_ENTRY', /"gcp"/],
  ] as const)('reports %s', async (_, content, options, code, message) => {
    const path = content === undefined ? join(dir, 'absent') : await file('config', content);
    const error = await failure(loadKubeconfig({ path, env: {}, ...options }));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.message).toContain(path);
    expect(error.hint).toBeTruthy();
  });

  it('hints at capstan up when no kubeconfig exists', async () => {
    const error = await failure(loadKubeconfig({ env: { HOME: dir } }));
    expect(error.code).toBe('CAP_KUBECONFIG_NOT_FOUND');
    expect(error.hint).toContain('capstan up');
  });

  it('never quotes file content in an error', async () => {
    const path = await file('config', 'users:\n- token: s3cr3t\n  bad: [\n');
    expect((await failure(loadKubeconfig({ path, env: {} }))).message).not.toContain('s3cr3t');
  });
});

describe('an exec plugin', () => {
  const plugin = (body: string): Promise<string> => file('plugin.sh', `#!/bin/sh\n${body}\n`, 0o700);
  const execUser = (more = ''): string =>
    `exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, args: [get, token], env: [{name: EXTRA, value: more}], interactiveMode: Never${more}}`;

  it('runs once with its arguments and environment until its credential expires or is refused', async () => {
    await plugin(`echo run >> ${dir}/runs
echo "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$1-$2-$EXTRA\\",\\"expirationTimestamp\\":\\"2026-01-01T00:10:00Z\\"}}"`);
    const clock = new ManualClock();
    const path = await file('config', config({ user: execUser() }));
    const { credentials } = await loadKubeconfig({ path, env: { PATH: process.env['PATH'] }, clock });
    const runs = async (): Promise<number> => (await readFile(join(dir, 'runs'), 'utf8')).trim().split('\n').length;
    const answers = await Promise.all([credentials.get(), credentials.get()]);
    expect(answers).toEqual([{ token: 'get-token-more' }, { token: 'get-token-more' }]);
    await credentials.get();
    expect(await runs()).toBe(1);
    await clock.advance(600_000);
    await credentials.get();
    expect(await runs()).toBe(2);
    expect(credentials.refresh()).toBe(true);
    await credentials.get();
    expect(await runs()).toBe(3);
  });

  it('receives cluster information when it asks, and may return a certificate', async () => {
    await plugin(`echo "$KUBERNETES_EXEC_INFO" > ${dir}/info
cat ${dir}/answer.json`);
    await file(
      'answer.json',
      JSON.stringify({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { clientCertificateData: pem('CERTIFICATE'), clientKeyData: pem('PRIVATE KEY') },
      }),
    );
    const path = await file('config', config({ user: execUser(', provideClusterInfo: true') }));
    const { credentials } = await loadKubeconfig({ path, env: { PATH: process.env['PATH'] } });
    expect((await credentials.get()).clientCertificate?.key).toBe(pem('PRIVATE KEY'));
    expect(JSON.parse(await readFile(join(dir, 'info'), 'utf8'))).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: { interactive: false, cluster: { server: 'https://api.example:6443' } },
    });
  });

  it.each([
    [
      'is missing',
      undefined,
      execUser(', installHint: "get it at example"').replace('./plugin.sh', './none.sh'),
      /was not found/,
    ],
    ['fails', 'exit 3', execUser(), /exit code 3/],
    ['prints nonsense', 'echo s3cr3t', execUser(), /did not print an ExecCredential/],
    [
      'speaks another version',
      `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}'`,
      execUser(),
      /instead of client\.authentication\.k8s\.io\/v1/,
    ],
    [
      'gives nothing',
      `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}'`,
      execUser(),
      /neither a token nor/,
    ],
    ['is for an unknown version', 'true', execUser().replace('k8s.io/v1', 'k8s.io/v1alpha1'), /exec\.apiVersion/],
    ['needs a terminal', 'true', execUser().replace('Never', 'Always'), /needs a terminal/],
  ] as const)('is reported without its output when it %s', async (_, body, user, message) => {
    if (body !== undefined) await plugin(body);
    const path = await file('config', config({ user }));
    const { credentials } = await loadKubeconfig({ path, env: { PATH: process.env['PATH'] } });
    const error = await failure(credentials.get());
    expect(error.code).toBe('CAP_KUBECONFIG_EXEC');
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('s3cr3t');
    expect(error.hint).toBeTruthy();
  });
});

describe('the proxy of the environment', () => {
  it.each([
    ['https://api.example:6443', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128'],
    ['http://api.example', { HTTPS_PROXY: 'proxy:3128' }, undefined],
    ['http://api.example', { http_proxy: 'http://proxy:3128' }, 'http://proxy:3128'],
    ['https://127.0.0.1:6443', { HTTPS_PROXY: 'proxy:3128' }, undefined],
    ['https://localhost:6443', { HTTPS_PROXY: 'proxy:3128' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'other, .example' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'example' }, undefined],
    ['https://api.example:6443', { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'api.example:443' }, 'http://proxy:3128'],
    ['https://10.1.2.3:6443', { HTTPS_PROXY: 'proxy:3128', no_proxy: '10.0.0.0/8' }, undefined],
    ['https://11.1.2.3:6443', { HTTPS_PROXY: 'proxy:3128', no_proxy: '10.0.0.0/8' }, 'http://proxy:3128'],
    ['https://api.example:6443', { HTTPS_PROXY: 'proxy:3128', NO_PROXY: '*' }, undefined],
  ])('of %s with %o is %s', (server, env, proxy) => {
    expect(proxyFromEnvironment(server, env)).toBe(proxy);
  });
});

describe('writing a kubeconfig', () => {
  const entry = (path: string, name: string, more = {}) => ({
    path,
    name,
    cluster: { server: `https://${name}.example` },
    user: { token: `token-of-${name}` },
    ...more,
  });

  it('creates a file readable by its owner only and sets the current context', async () => {
    const path = join(dir, 'new', 'config');
    expect(await writeKubeconfigEntry(entry(path, 'a', { namespace: 'team' }))).toEqual({
      currentContextChanged: true,
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const loaded = await loadKubeconfig({ path, env: {} });
    expect(loaded).toMatchObject({ server: 'https://a.example', namespace: 'team', context: 'a' });
    expect(await readdir(join(dir, 'new'))).toEqual(['config']);
  });

  it('keeps comments, unknown fields, other entries and the current context', async () => {
    const path = await file('config', `# mine\n${config()}preferences: {colors: true}\nx-note: keep # really\n`);
    expect(await writeKubeconfigEntry(entry(path, 'b'))).toEqual({ currentContextChanged: false });
    const text = await readFile(path, 'utf8');
    for (const part of ['# mine', 'x-note: keep # really', 'colors: true', 'current-context: main'])
      expect(text).toContain(part);
    expect((await loadKubeconfig({ path, env: {} })).server).toBe('https://api.example:6443');
    expect((await loadKubeconfig({ path, env: {}, context: 'b' })).server).toBe('https://b.example');
  });

  it('replaces an entry with its credentials, and changes the current context only when asked', async () => {
    const path = await file(
      'config',
      config({ name: 'b', user: 'client-key-data: old' }).replace('current-context: b', 'current-context: z'),
    );
    expect(await writeKubeconfigEntry(entry(path, 'b', { setCurrent: true }))).toEqual({ currentContextChanged: true });
    expect(await readFile(path, 'utf8')).not.toContain('client-key-data');
    const loaded = await loadKubeconfig({ path, env: {} });
    expect(loaded.context).toBe('b');
    expect(await loaded.credentials.get()).toEqual({ token: 'token-of-b' });
  });

  it('writes through a symbolic link instead of replacing it', async () => {
    const real = await file('real', config());
    const link = join(dir, 'link');
    await symlink(real, link);
    await writeKubeconfigEntry(entry(link, 'b'));
    expect(await readFile(real, 'utf8')).toContain('b.example');
    expect((await readdir(dir)).sort()).toEqual(['link', 'real']);
  });

  it('loses nothing in concurrent writes', async () => {
    const path = join(dir, 'config');
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map((name) => writeKubeconfigEntry(entry(path, name))));
    for (const name of names)
      expect((await loadKubeconfig({ path, env: {}, context: name })).server).toBe(`https://${name}.example`);
  });

  /** Writes an entry on simulated time; `between` runs after every step of it. */
  async function writeOver(clock: ManualClock, path: string, between: () => Promise<void>): Promise<unknown> {
    let outcome: { readonly value: unknown } | undefined;
    writeKubeconfigEntry({ ...entry(path, 'b'), clock }).then(
      (value) => {
        outcome = { value };
      },
      (value: unknown) => {
        outcome = { value };
      },
    );
    while (outcome === undefined) {
      await between();
      await clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return outcome.value;
  }

  it('waits for the lock of kubectl, and names the lock file when others hold it all the time', async () => {
    const path = await file('config', config());
    await file('config.lock', '');
    const error = await writeOver(new ManualClock(), path, async () => {
      // another holder every time
      await rename(await file('next', ''), `${path}.lock`);
    });
    expect(error).toMatchObject({ code: 'CAP_KUBECONFIG_LOCKED', hint: expect.stringContaining('config.lock') });
  });

  it('takes over the lock that a killed program left behind', async () => {
    const path = await file('config', config());
    await file('config.lock', '');
    expect(await writeOver(new ManualClock(), path, async () => {})).toMatchObject({ currentContextChanged: false });
    expect(await readFile(path, 'utf8')).toContain('b.example');
    expect(await readdir(dir)).toEqual(['config']);
  });

  it('leaves a file unchanged that it cannot read', async () => {
    const path = await file('config', 'a: [');
    expect((await failure(writeKubeconfigEntry(entry(path, 'b')))).code).toBe('CAP_KUBECONFIG_INVALID');
    expect(await readFile(path, 'utf8')).toBe('a: [');
    expect(await readdir(dir)).toEqual(['config']);
  });

  it('removes one entry, and the current context only when it was that entry', async () => {
    const path = join(dir, 'config');
    await writeKubeconfigEntry(entry(path, 'a'));
    await writeKubeconfigEntry(entry(path, 'b'));
    expect(await removeKubeconfigEntry({ path, name: 'b' })).toEqual({ removed: true });
    expect((await loadKubeconfig({ path, env: {} })).context).toBe('a');
    expect(await readFile(path, 'utf8')).not.toContain('token-of-b');
    expect(await removeKubeconfigEntry({ path, name: 'a' })).toEqual({ removed: true });
    expect((await failure(loadKubeconfig({ path, env: {} }))).code).toBe('CAP_KUBECONFIG_CONTEXT');
    expect(await removeKubeconfigEntry({ path, name: 'a' })).toEqual({ removed: false });
    expect(await removeKubeconfigEntry({ path: join(dir, 'none'), name: 'a' })).toEqual({ removed: false });
    await chmod(path, 0o600);
  });
});
