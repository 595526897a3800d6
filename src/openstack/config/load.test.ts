import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CloudConfigError } from './errors.ts';
import { type ConfigPlaces, candidateFiles } from './files.ts';
import { cloudFromText, loadClouds } from './load.ts';

let home: string;
const places = (env: Record<string, string> = {}): ConfigPlaces => ({
  env,
  cwd: join(home, 'cwd'),
  home,
  root: join(home, 'root'),
});

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'clouds-'));
  await mkdir(join(home, 'cwd'));
  await mkdir(join(home, '.config', 'openstack'), { recursive: true });
  await mkdir(join(home, 'root', 'etc', 'openstack'), { recursive: true });
});
afterEach(() => rm(home, { recursive: true }));

const put = (path: string, text: string): Promise<void> => writeFile(join(home, path), text);

const password = `
    auth:
      auth_url: https://keystone.test:5000/v3
      username: u
      password: pw
      project_name: p
      user_domain_name: Default
      project_domain_name: Default`;

/** Returns the expected error of a promise. */
async function problemOf(promise: Promise<unknown>): Promise<CloudConfigError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof CloudConfigError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

const single = (settings: string, cloud = 'c') =>
  cloudFromText({ text: `clouds:\n  ${cloud}:${settings}\n`, source: 'Secret ns/x', cloud });

describe('places where clouds are looked for', () => {
  it('tries the named file, then each directory with each ending', () => {
    const files = candidateFiles('clouds', places({ OS_CLIENT_CONFIG_FILE: '~/mine.yaml' }));
    expect(files.map((file) => file.replace(home, '~'))).toEqual([
      '~/mine.yaml',
      '~/cwd/clouds.yaml',
      '~/cwd/clouds.yml',
      '~/cwd/clouds.json',
      '~/.config/openstack/clouds.yaml',
      '~/.config/openstack/clouds.yml',
      '~/.config/openstack/clouds.json',
      '~/root/etc/xdg/openstack/clouds.yaml',
      '~/root/etc/xdg/openstack/clouds.yml',
      '~/root/etc/xdg/openstack/clouds.json',
      '~/root/etc/openstack/clouds.yaml',
      '~/root/etc/openstack/clouds.yml',
      '~/root/etc/openstack/clouds.json',
    ]);
  });

  it('takes the first file that exists', async () => {
    await put('.config/openstack/clouds.yaml', `clouds:\n  near:${password}`);
    await put('root/etc/openstack/clouds.yaml', `clouds:\n  far:${password}`);
    expect((await loadClouds(places())).names).toEqual(['near']);
  });

  it('skips a broken file and reports it when the cloud is not found', async () => {
    await put('cwd/clouds.yaml', 'clouds: [unclosed');
    await put('.config/openstack/clouds.yaml', `clouds:\n  c:${password}`);
    const clouds = await loadClouds(places());
    expect(clouds.names).toEqual(['c']);
    expect((await problemOf(clouds.cloud('d'))).message).toMatch(
      /cloud "d" was not found.*cwd\/clouds\.yaml is not valid.*use one of: c/,
    );
  });

  it('reads JSON files', async () => {
    const cloud = { auth: { auth_url: 'http://k/v3', token: 't', project_id: 'p' } };
    await put('cwd/clouds.json', JSON.stringify({ clouds: { c: cloud } }));
    const config = await (await loadClouds(places())).cloud();
    expect(config.credential).toEqual({ method: 'token', token: 't' });
  });

  it('merges secure.yaml over clouds.yaml', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  c:${password.replace('pw', 'wrong')}\n    region_name: R`);
    await put('.config/openstack/secure.yaml', 'clouds:\n  c:\n    auth:\n      password: right');
    const config = await (await loadClouds(places())).cloud('c');
    expect(config.credential).toMatchObject({ password: 'right' });
    expect(config.region).toBe('R');
  });
});

describe('choice of a cloud', () => {
  it('takes the only cloud', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  only:${password}`);
    expect((await (await loadClouds(places())).cloud()).name).toBe('only');
  });

  it('does not choose among several clouds', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  a:${password}\n  b:${password}`);
    const { message } = await problemOf((await loadClouds(places())).cloud());
    expect(message).toContain('several clouds (a, b)');
    expect(message).toContain('OS_CLOUD');
  });

  it('follows OS_CLOUD and, with it, OS_REGION_NAME', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  a:${password}\n  b:${password}\n    regions: [R1, R2]`);
    const config = await (await loadClouds(places({ OS_CLOUD: 'b', OS_REGION_NAME: 'R2' }))).cloud();
    expect([config.name, config.region]).toEqual(['b', 'R2']);
  });

  it('says what to do when no cloud is configured', async () => {
    const { message } = await problemOf((await loadClouds(places())).cloud());
    expect(message).toMatch(/no cloud is configured; write a clouds\.yaml/);
  });

  it('names a missing file of OS_CLIENT_CONFIG_FILE in errors, and only there', async () => {
    const clouds = await loadClouds(places({ OS_CLIENT_CONFIG_FILE: '~/typo.yaml' }));
    expect(clouds.warnings).toEqual([]);
    expect((await problemOf(clouds.cloud('a'))).message).toMatch(/typo\.yaml of OS_CLIENT_CONFIG_FILE does not exist/);
  });
});

describe('the OS_* variables', () => {
  const env = {
    OS_AUTH_URL: 'http://k.test/v3',
    OS_USERNAME: 'u',
    OS_PASSWORD: 'pw',
    OS_TENANT_NAME: 'p',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_ID: 'default',
    OS_REGION_NAME: 'R',
    OS_INTERFACE: 'internal',
    OS_CACERT: '',
    OS_TEST_TIMEOUT: '5',
  };

  it('describe a cloud called envvars, which is the default', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  a:${password}`);
    const clouds = await loadClouds(places(env));
    expect(clouds.names).toEqual(['a', 'envvars']);
    const config = await clouds.cloud();
    expect(config).toMatchObject({
      name: 'envvars',
      source: 'the environment',
      authUrl: 'http://k.test/v3',
      credential: { method: 'password', user: { name: 'u', domain: { name: 'Default' } }, password: 'pw' },
      scope: { kind: 'project', project: { name: 'p', domain: { id: 'default' } } },
      region: 'R',
      interfaces: ['internal'],
    });
  });

  it('describe no cloud when they only choose one', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  a:${password}`);
    expect((await loadClouds(places({ OS_CLOUD: 'a', OS_REGION_NAME: 'R' }))).names).toEqual(['a']);
  });

  it('must not have the name of a cloud in the file', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  envvars:${password}`);
    expect((await problemOf(loadClouds(places(env)))).message).toContain('OS_CLOUD_NAME');
  });
});

describe('spellings in clouds.yaml', () => {
  it.each([
    [
      'tenant_name for project_name',
      'auth: {auth_url: http://k, username: u, password: x, tenant_name: t, domain_name: D}',
      { kind: 'project', project: { name: 't', domain: { name: 'D' } } },
    ],
    [
      'tenant_id for project_id',
      'auth: {auth_url: http://k, user_id: u, password: x, tenant-id: t}',
      { kind: 'project', project: { id: 't' } },
    ],
    [
      'domain_id without a project as the scope',
      'auth: {auth_url: http://k, user_id: u, password: x, domain_id: d}',
      { kind: 'domain', domain: { id: 'd' } },
    ],
    ['system_scope', 'auth: {auth_url: http://k, user_id: u, password: x, system_scope: all}', { kind: 'system' }],
    ['trust_id', 'auth: {auth_url: http://k, user_id: u, password: x, trust_id: t}', { kind: 'trust', trustId: 't' }],
    [
      'default_domain for names without a domain',
      'auth: {auth_url: http://k, username: u, password: x, project_name: p, default_domain_name: D}',
      { kind: 'project', project: { name: 'p', domain: { name: 'D' } } },
    ],
    [
      "the user's domain for a project without one",
      'auth: {auth_url: http://k, username: u, password: x, project_name: p, user_domain_id: d}',
      { kind: 'project', project: { name: 'p', domain: { id: 'd' } } },
    ],
    [
      'a value beside auth before one inside',
      'project_id: outer\n    auth: {auth_url: http://k, user_id: u, password: x, project_id: inner}',
      { kind: 'project', project: { id: 'outer' } },
    ],
    [
      'a project id before its name',
      'auth: {auth_url: http://k, user_id: u, password: x, project_id: i, project_name: n, user_domain_name: D}',
      { kind: 'project', project: { id: 'i' } },
    ],
  ])('understands %s', async (_what, settings, scope) => {
    expect((await single(`\n    ${settings}`)).scope).toEqual(scope);
  });

  it('keeps numbers exact as text', async () => {
    const config = await single(
      '\n    auth: {auth_url: http://k, user_id: 1234567890123456789012, password: 00123, project_id: 1e5}',
    );
    expect(config.credential).toEqual({ method: 'password', user: { id: '1234567890123456789012' }, password: '83' });
    expect(config.scope).toEqual({ kind: 'project', project: { id: '1e5' } });
  });

  it('finds application credentials with and without a type', async () => {
    const byId = await single(
      '\n    auth: {auth_url: http://k, application_credential_id: i, application_credential_secret: s}',
    );
    expect(byId.credential).toEqual({ method: 'applicationCredential', id: 'i', secret: 's' });
    expect(byId.scope).toEqual({ kind: 'none' });
    const byName = await single(
      '\n    auth_type: v3applicationcredential\n    auth: {auth_url: http://k, application_credential_name: n, application_credential_secret: s, user_id: u}',
    );
    expect(byName.credential).toEqual({ method: 'applicationCredential', name: 'n', user: { id: 'u' }, secret: 's' });
  });

  it('warns of duplicate keys and uses the last one', async () => {
    const config = await single(
      '\n    auth:\n      auth_url: http://k\n      project_name: first\n      user_id: u\n      password: x\n      domain_name: D\n      project_name: second',
    );
    expect(config.scope).toMatchObject({ project: { name: 'second' } });
    expect(config.warnings).toEqual([
      'Secret ns/x: line 9: clouds.c.auth.project_name is given more than once, the last one counts',
    ]);
  });

  it('understands old names of interfaces, time limits and service settings', async () => {
    const config = await single(`${password}
    endpoint_type: internalURL
    compute_timeout: 20
    volumev3_endpoint_override: http://v/v3
    compute_api_version: '2.60'
    network_api_version: '2.0'
    load-balancer_region_name: other
    image_service_name: glance2`);
    expect(config.interfaces).toEqual(['internal']);
    expect(config.timeoutMs).toBe(20_000);
    expect(config.services).toEqual({
      volume: { endpoint: 'http://v/v3' },
      compute: { microversion: '2.60' },
      'load-balancer': { region: 'other' },
      image: { serviceName: 'glance2' },
    });
  });
});

describe('profiles and regions', () => {
  it('applies the shared settings of a public cloud', async () => {
    await put(
      'cwd/clouds.yaml',
      'clouds:\n  c:\n    profile: citycloud\n    region_name: Kna1\n    auth: {username: u, password: x, project_id: p, user_domain_name: D}',
    );
    expect((await (await loadClouds(places())).cloud()).authUrl).toBe('https://Kna1.citycloud.com:5000/v3/');
  });

  it('prefers clouds-public.yaml', async () => {
    await put(
      'cwd/clouds-public.yaml',
      'public-clouds:\n  citycloud:\n    auth: {auth_url: "http://mine/v3"}\n    regions: [one, two]',
    );
    await put(
      'cwd/clouds.yaml',
      'clouds:\n  c:\n    cloud: citycloud\n    auth: {user_id: u, password: x, project_id: p}',
    );
    const clouds = await loadClouds(places());
    expect(await clouds.cloud('c')).toMatchObject({ authUrl: 'http://mine/v3', region: 'one' });
    expect(await clouds.cloud('c', { region: 'two' })).toMatchObject({ region: 'two' });
  });

  it('lets a region bring its own settings', async () => {
    const text = `clouds:\n  c:${password}\n    regions:\n    - name: a\n    - name: b\n      values:\n        auth: {project_name: pb}\n        interface: admin`;
    const config = await cloudFromText({ text, source: 's', cloud: 'c', region: 'b' });
    expect(config).toMatchObject({ region: 'b', interfaces: ['admin'], scope: { project: { name: 'pb' } } });
  });

  it('refuses a region the cloud does not have', async () => {
    const text = `clouds:\n  c:${password}\n    regions: [A, B]`;
    const { message } = await problemOf(cloudFromText({ text, source: 's', cloud: 'c', region: 'a' }));
    expect(message).toBe(
      's, cloud "c", key region_name: "a" is not one of its regions (A, B); use one of these (case matters), or add it to regions',
    );
  });

  it('reports that a cloud of a profile no longer exists', async () => {
    const { message } = await problemOf(single('\n    profile: betacloud\n    auth: {user_id: u, password: x}'));
    expect(message).toContain('no longer exists');
  });
});

describe('TLS settings', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nnot one\n-----END CERTIFICATE-----';

  it('accepts PEM in place of a path and checks it', async () => {
    const text = `clouds:\n  c:${password}\n    cacert: |\n      ${certificate.replaceAll('\n', '\n      ')}`;
    const error = await problemOf(cloudFromText({ text, source: 's', cloud: 'c' }));
    expect(error.key).toBe('cacert');
    expect(error.message).toContain('is not a PEM bundle of certificates');
  });

  it('does not read files named by a Secret', async () => {
    const config = await single(`${password}\n    cacert: /etc/passwd`);
    expect(config.tls).toEqual({ ca: undefined, cert: undefined, key: undefined, verify: true });
    expect(config.warnings).toEqual(['Secret ns/x: cloud "c": cacert names a file, which is not read from here']);
  });

  it('reads client certificates relative to the working directory', async () => {
    await put('cwd/c.pem', 'CERT');
    await put('k.pem', 'KEY');
    await put('cwd/clouds.yaml', `clouds:\n  c:${password}\n    cert: c.pem\n    key: ~/k.pem\n    verify: false`);
    expect((await (await loadClouds(places())).cloud()).tls).toEqual({
      ca: undefined,
      cert: 'CERT',
      key: 'KEY',
      verify: false,
    });
  });

  it('names the missing file', async () => {
    await put('cwd/clouds.yaml', `clouds:\n  c:${password}\n    cacert: nope.pem`);
    const { message } = await problemOf((await loadClouds(places())).cloud());
    expect(message).toMatch(
      /clouds\.yaml, cloud "c", key cacert: cannot read .*nope\.pem \(ENOENT\); correct the path/,
    );
  });

  it('turns verification off when insecure is set', async () => {
    expect((await single(`${password}\n    insecure: "true"`)).tls.verify).toBe(false);
  });
});

describe('configuration errors with file, cloud and key', () => {
  it.each([
    ['auth: {username: u, password: x}', 'auth.user_domain_name', /is missing; give the domain/],
    ['auth: {user_id: u}', 'auth.password', /is missing/],
    ['auth: {user_id: u, password: x}', 'auth.auth_url', /is missing; give the URL of Keystone/],
    ['auth: {auth_url: keystone.test, user_id: u, password: x}', 'auth.auth_url', /is not an http or https URL/],
    [
      'auth: {auth_url: http://k, user_id: u, password: x, project_id: p, trust_id: t}',
      'auth',
      /several scopes at once \(project, trust\)/,
    ],
    ['auth: {auth_url: http://k, application_credential_id: i}', 'auth.application_credential_secret', /is missing/],
    [
      'auth_type: v3oidcpassword\n    auth: {auth_url: http://k}',
      'auth_type',
      /"v3oidcpassword" is not supported; use password/,
    ],
    ['auth: text', 'auth', /is not a mapping/],
    [
      'api_timeout: soon\n    auth: {auth_url: http://k, user_id: u, password: x}',
      'api_timeout',
      /not a number of seconds/,
    ],
    ['regions: [{nome: x}]\n    auth: {auth_url: http://k, user_id: u, password: x}', 'regions', /is not a region/],
  ])('reports %s', async (settings, key, message) => {
    const error = await problemOf(single(`\n    ${settings}`));
    expect(error).toMatchObject({ file: 'Secret ns/x', cloud: 'c', key });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
  });

  it('never repeats a password in any error', async () => {
    const word = fc.stringMatching(/^[a-z]{12}$/);
    const broken = fc.constantFrom(
      'auth_url: 1',
      'username: [u]',
      'project_name: {a: b}',
      ': :',
      'system_scope: no',
      '- x',
      '\t',
      'other: *SECRET',
      'other: "a" SECRET',
      "other: 'SECRET",
      'auth_url: ftp://u:SECRET@host',
      'auth_url: http//SECRET@host',
    );
    await fc.assert(
      fc.asyncProperty(word, broken, fc.boolean(), async (secret, line, badRegion) => {
        const regions = badRegion
          ? `
    regions: [{name: r, values: {auth: {password: ${secret}}}, x: 1}]`
          : '';
        const text = `clouds:
  c:${regions}
    auth:
      password: ${secret}
      ${line.replace('SECRET', secret)}
`;
        const error = await cloudFromText({ text, source: 's', cloud: 'c' }).catch((thrown: unknown) => thrown);
        if (error instanceof Error) expect(error.message).not.toContain(secret);
      }),
    );
  });
});
