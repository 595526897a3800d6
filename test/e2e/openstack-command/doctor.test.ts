import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Outcome } from '../../support/process.ts';
import { type CloudEntry, type CloudProcess, runCapstan, runCapstanIn, startCloud } from './cloud-process.ts';

let cloud: CloudProcess;
let secured: CloudProcess;
let poor: CloudProcess;
let website: Server;
let directory: string;
let entry: CloudEntry;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-doctor-'));
  website = createServer((_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<html><body>Please log in to the proxy</body></html>');
  });
  await new Promise<void>((resolve) => website.listen(0, '127.0.0.1', resolve));
  [cloud, secured, poor] = await Promise.all([
    startCloud(),
    startCloud({ args: ['--https'] }),
    startCloud({ args: ['--without', 'load-balancer', 'volumev3'] }),
  ]);
  entry = (await cloud.clouds())['openstack']!;
});

afterAll(async () => {
  for (const each of [cloud, secured, poor]) await each?.stop();
  website?.close();
  if (directory) await rm(directory, { recursive: true, force: true });
});

/** Runs `capstan doctor` with a clouds.yaml of one cloud, `mine`. */
async function doctorOn(mine: object, ...args: string[]): Promise<Outcome> {
  const file = join(directory, 'clouds.yaml');
  await writeFile(file, stringify({ clouds: { mine } }));
  return runCapstanIn({ OS_CLIENT_CONFIG_FILE: file }, 'doctor', '--cloud', 'mine', ...args);
}

async function expired(): Promise<object> {
  const { auth } = entry;
  const domain = { name: 'Default' };
  const login = await fetch(`${auth['auth_url']}/auth/tokens`, {
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
  const { token } = (await login.json()) as { token: { user: { id: string } } };
  const made = await fetch(`${auth['auth_url']}/users/${token.user.id}/application_credentials`, {
    method: 'POST',
    headers: { 'x-auth-token': login.headers.get('x-subject-token')! },
    body: JSON.stringify({ application_credential: { name: 'short', expires_at: '2199-01-01T00:00:00' } }),
  });
  const { application_credential: credential } = (await made.json()) as {
    application_credential: { id: string; secret: string };
  };
  await fetch(`${auth['auth_url']}/users/${token.user.id}/application_credentials/${credential.id}`, {
    method: 'DELETE',
    headers: { 'x-auth-token': login.headers.get('x-subject-token')! },
  });
  return {
    auth_type: 'v3applicationcredential',
    auth: {
      auth_url: auth['auth_url'],
      application_credential_id: credential.id,
      application_credential_secret: credential.secret,
    },
  };
}

describe('capstan doctor', () => {
  it('finds a cloud fit for clusters', async () => {
    const outcome = await doctorOn(entry);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).not.toMatch(/FAILED|WARNING/);
    for (const check of ['credentials', 'compute', 'external network', 'volumes', 'load balancers']) {
      expect(outcome.stdout).toMatch(new RegExp(`^OK +${check} `, 'm'));
    }
  });

  it('prints the same as JSON', async () => {
    const { stdout, code } = await doctorOn(entry, '-o', 'json');
    const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string }[] };
    expect(code).toBe(0);
    expect(findings.every(({ status }) => status === 'ok')).toBe(true);
  });

  it('reads the clouds.yaml the cloud wrote', async () => {
    const outcome = await runCapstanIn({ OS_CLIENT_CONFIG_FILE: secured.cloudsYaml, OS_CLOUD: 'openstack' }, 'doctor');
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
  });

  const faults: [name: string, mine: () => object | Promise<object>, says: RegExp][] = [
    ['a wrong password', () => ({ ...entry, auth: { ...entry.auth, password: 'swordfish' } }), /password/i],
    [
      'a project that is not there',
      () => ({ ...entry, auth: { ...entry.auth, project_id: undefined, project_name: 'nowhere' } }),
      /project/i,
    ],
    ['an application credential that is gone', expired, /application credential/i],
    ['a wrong region', () => ({ ...entry, region_name: 'Atlantis' }), /Atlantis.*RegionOne/],
    [
      'a certificate nobody vouches for',
      async () => ({ ...(await secured.clouds())['openstack']!, cacert: undefined }),
      /cacert/,
    ],
    [
      'a proxy that answers HTML',
      () => {
        const { port } = website.address() as AddressInfo;
        return { ...entry, auth: { ...entry.auth, auth_url: `http://127.0.0.1:${port}/v3` } };
      },
      /web page/,
    ],
    [
      'nobody at the address',
      () => ({ ...entry, auth: { ...entry.auth, auth_url: 'http://127.0.0.1:1/v3' } }),
      /127\.0\.0\.1:1/,
    ],
  ];
  it.each(faults)('says what is wrong and what to do: %s', async (_, mine, says) => {
    const given = await mine();
    const { code, stdout, stderr } = await doctorOn(given);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const problem = stderr.split('\n').filter((line) => line.startsWith('capstan: ') && !line.includes('warning:'));
    expect(problem).toHaveLength(1);
    expect(problem[0]).toMatch(says);
    const { auth } = given as { auth: Record<string, string> };
    for (const secret of ['password', 'application_credential_secret']) {
      if (auth[secret]) expect(stderr).not.toContain(auth[secret]);
    }
  });

  it('lists the existing clouds when asked for an unknown one', async () => {
    const outcome = await runCapstanIn({ OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml }, 'doctor', '--cloud', 'nowhere');
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/nowhere.*openstack/);
  });

  it('reports missing services unless told that they are not needed', async () => {
    const mine = (await poor.clouds())['openstack']!;
    const missing = await doctorOn(mine);
    expect(missing.code).toBe(1);
    expect(missing.stdout).toMatch(/^FAILED +volumes .*--without volume/m);
    expect(missing.stdout).toMatch(/^FAILED +load balancers .*--without load-balancer/m);
    const told = await doctorOn(mine, '--without', 'load-balancer', 'volume');
    expect(told.code).toBe(0);
    expect(told.stdout).toMatch(/^SKIPPED +load balancers /m);
  });

  it('refuses unknown options with code 2', async () => {
    expect((await runCapstan('doctor', '--clout', 'x')).code).toBe(2);
  });
});
