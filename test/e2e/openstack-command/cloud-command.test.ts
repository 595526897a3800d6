import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type CloudEntry,
  type CloudProcess,
  type CloudProcessOptions,
  runCapstan,
  startCloud,
} from './cloud-process.ts';

const running: CloudProcess[] = [];

afterEach(async () => {
  for (const cloud of running.splice(0)) await cloud.stop();
});

async function start(options?: CloudProcessOptions): Promise<CloudProcess> {
  const cloud = await startCloud(options);
  running.push(cloud);
  return cloud;
}

async function tokenFor({
  auth,
}: CloudEntry): Promise<{ token: string; catalog: { type: string; endpoints: { url: string }[] }[] }> {
  const domain = { name: 'Default' };
  const response = await fetch(`${auth['auth_url']}/auth/tokens`, {
    method: 'POST',
    body: JSON.stringify({
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: auth['username'], domain, password: auth['password'] } },
        },
        scope: { project: { name: auth['project_name'], domain } },
      },
    }),
  });
  expect(response.status).toBe(201);
  const body = (await response.json()) as { token: { catalog: { type: string; endpoints: { url: string }[] }[] } };
  return { token: response.headers.get('x-subject-token')!, catalog: body.token.catalog };
}

async function networkNames(cloud: CloudProcess): Promise<string[]> {
  const { token } = await tokenFor((await cloud.clouds())['openstack']!);
  const response = await fetch(`${cloud.url}/network/v2.0/networks`, { headers: { 'x-auth-token': token } });
  return ((await response.json()) as { networks: { name: string }[] }).networks.map(({ name }) => name);
}

async function makeNetwork(cloud: CloudProcess, name: string): Promise<number> {
  const { token } = await tokenFor((await cloud.clouds())['openstack']!);
  const { status } = await fetch(`${cloud.url}/network/v2.0/networks`, {
    method: 'POST',
    headers: { 'x-auth-token': token },
    body: JSON.stringify({ network: { name } }),
  });
  return status;
}

describe('capstan cloud', () => {
  it('prints its addresses, writes a private clouds.yaml, and stops cleanly', async () => {
    const cloud = await start();
    const lines = cloud.child.stdout().trimEnd().split('\n');
    expect(lines.filter((line) => line === 'ready')).toHaveLength(1);
    expect(lines.at(-1)).toBe('ready');
    expect(cloud.child.stdout()).toContain(cloud.cloudsYaml);
    expect((await stat(cloud.cloudsYaml)).mode & 0o777).toBe(0o600);
    const clouds = await cloud.clouds();
    const member = await tokenFor(clouds['openstack']!);
    expect(member.catalog.map(({ type }) => type).sort()).toEqual(
      ['compute', 'identity', 'image', 'load-balancer', 'network', 'placement', 'volumev3'].sort(),
    );
    const users = (token: string): Promise<Response> =>
      fetch(`${cloud.url}/identity/v3/users`, { headers: { 'x-auth-token': token } });
    expect((await users(member.token)).status).toBe(403);
    expect((await users((await tokenFor(clouds['admin']!)).token)).status).toBe(200);
    expect(await cloud.end('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('keeps its state, address and passwords over a stop and over a crash', async () => {
    let cloud = await start();
    expect(await makeNetwork(cloud, 'before-stop')).toBe(201);
    const before = await readFile(cloud.cloudsYaml, 'utf8');
    cloud = await cloud.restart('SIGTERM');
    running.splice(0, 1, cloud);
    expect(await readFile(cloud.cloudsYaml, 'utf8')).toBe(before);
    expect(await makeNetwork(cloud, 'before-crash')).toBe(201);
    cloud = await cloud.restart('SIGKILL');
    running.splice(0, 1, cloud);
    expect(await networkNames(cloud)).toEqual(expect.arrayContaining(['before-stop', 'before-crash']));
  });

  it('forgets everything when told to', async () => {
    let cloud = await start({ args: ['--in-memory'] });
    await makeNetwork(cloud, 'gone');
    cloud = await cloud.restart();
    running.splice(0, 1, cloud);
    expect(await networkNames(cloud)).not.toContain('gone');
  });

  it('serves over HTTPS with an authority that clouds.yaml names', async () => {
    const cloud = await start({ args: ['--https'] });
    expect(cloud.url).toMatch(/^https:/);
    const { cacert } = (await cloud.clouds())['openstack']!;
    const agent = new Agent({ ca: await readFile(cacert!, 'utf8') });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(`${cloud.url}/identity/v3`, { agent }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it('starts without the excluded services and with the given faults', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-faults-'));
    try {
      const faults = join(directory, 'faults.yaml');
      await writeFile(faults, 'faults:\n  - when: {service: image}\n    effect: {kind: status, status: 503}\n');
      const cloud = await start({ args: ['--without', 'load-balancer', '--faults', faults, '--time-scale', '0'] });
      const { token, catalog } = await tokenFor((await cloud.clouds())['openstack']!);
      expect(catalog.map(({ type }) => type)).not.toContain('load-balancer');
      const images = await fetch(`${cloud.url}/image/v2/images`, { headers: { 'x-auth-token': token } });
      expect(images.status).toBe(503);
      const rules = await fetch(`${cloud.url}/_admin/faults`, {
        headers: { 'x-admin-token': await cloud.adminToken() },
      });
      expect(await rules.json()).toMatchObject([{ rule: { id: 'rule-1' }, struck: 1 }]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it.each([
    [['--listen', 'nonsense'], '--listen: "nonsense" is not an address'],
    [['--time-scale', 'fast'], '--time-scale: "fast" is not a number'],
    [['--without', 'compute'], '--without: "compute" cannot be left out'],
    [['--faults', '/nonexistent'], '--faults: /nonexistent'],
    [['--bogus'], "unknown option '--bogus'"],
  ])('refuses %j with exit code 2 and the reason', async (args, message) => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-cloud-bad-'));
    try {
      const { code, stderr } = await runCapstan('cloud', '--data-dir', directory, ...args);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('refuses a directory used by another cloud', async () => {
    const cloud = await start();
    const { code, stderr } = await runCapstan('cloud', '--data-dir', cloud.directory, '--listen', '127.0.0.1:0');
    expect(code).toBe(1);
    expect(stderr).toMatch(/in use|used by|lock/i);
  });
});

describe('capstan up --simulated-cloud', () => {
  it('runs the management API and the cloud in one process', async () => {
    const keys = await mkdtemp(join(tmpdir(), 'capstan-up-cloud-'));
    try {
      const cloud = await start({
        command: ['up', '--listen', '127.0.0.1:0', '--simulated-cloud'],
        args: ['--kubeconfig', join(keys, 'kubeconfig'), '--encryption-key-file', join(keys, 'key')],
      });
      expect(cloud.child.stdout()).toMatch(/^management API {2}https:/m);
      expect(await networkNames(cloud)).toContain('public');
      expect(await cloud.end('SIGTERM')).toMatchObject({ code: 0 });
    } finally {
      await rm(keys, { recursive: true, force: true });
    }
  });
});
