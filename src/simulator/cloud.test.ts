import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ManualClock, seededRandom, systemRandom } from '../machinery/index.ts';
import { createCloud, type SimulatedCloud } from './cloud.ts';
import { renderCloudsYaml } from './clouds-yaml.ts';
import { smallWorld } from './testing/small-world.ts';
import { send, type TestAnswer } from './testing/test-cloud.ts';
import { read } from './testing/test-tenant.ts';
import { defaultWorld } from './world/default-world.ts';
import type { World } from './world/world.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-cloud-'));
  tokenUsed.token = '';
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const world: World = {
  ...smallWorld,
  projects: [{ name: 'demo', users: [{ name: 'demo', roles: ['member'], applicationCredentials: ['ci'] }] }],
};

/** the first token issued in a test */
const tokenUsed = { token: '' };

async function login(
  cloud: SimulatedCloud,
): Promise<(method: string, path: string, body?: unknown) => Promise<TestAnswer>> {
  const [{ id, password, projectId }] = cloud.secrets.users as [SimulatedCloud['secrets']['users'][number]];
  const answer = await send(cloud, 'POST', '/identity/v3/auth/tokens', {
    body: {
      auth: {
        identity: { methods: ['password'], password: { user: { id, password } } },
        scope: { project: { id: projectId } },
      },
    },
  });
  const token = answer.headers['x-subject-token']!;
  tokenUsed.token ||= token;
  return (method, path, body) =>
    send(cloud, method, path, {
      token,
      headers: { 'openstack-api-version': 'compute 2.60' },
      ...(body !== undefined && { body }),
    });
}

describe('a persistent cloud', () => {
  it('is the same after a restart and continues operations under way', async () => {
    const clock = new ManualClock();
    const first = await createCloud({ clock, random: systemRandom, world, directory });
    const ask = await login(first);
    const flavor = read(await ask('GET', '/compute/v2.1/flavors?sort_key=name&sort_dir=desc'), 'flavors.0.id');
    const image = read(await ask('GET', '/image/v2/images'), 'images.0.id');
    const server = { name: 's', flavorRef: flavor, imageRef: image, networks: 'none' };
    const id = read(await ask('POST', '/compute/v2.1/servers', { server }), 'server.id');
    // Simulates a kill: only the lock is released.
    first.core.jobs.stop();
    await rm(join(directory, 'lock'));

    const second = await createCloud({ clock, random: systemRandom, world, directory });
    expect(second.secrets).toEqual(first.secrets);
    const askAgain = await login(second);
    expect(await askAgain('GET', `/compute/v2.1/servers/${id}`)).toMatchObject({
      body: { server: { status: 'BUILD' } },
    });
    await clock.advance(5000);
    expect(await askAgain('GET', `/compute/v2.1/servers/${id}`)).toMatchObject({
      body: { server: { status: 'ACTIVE' } },
    });
    // Tokens from before the restart stay valid.
    const { token } = tokenUsed;
    expect((await send(second, 'GET', '/compute/v2.1/servers', { token })).status).toBe(200);
    await second.close();
  });

  it('powers machines on again that were running', async () => {
    const clock = new ManualClock();
    const on: string[] = [];
    const machineHost = {
      powerOn: ({ name }: { name: string }) => void on.push(name),
      powerOff: () => {},
      removed: () => {},
    };
    const options = { clock, random: systemRandom, world, directory, machineHost };
    const first = await createCloud(options);
    const ask = await login(first);
    const flavor = read(await ask('GET', '/compute/v2.1/flavors?sort_key=name&sort_dir=desc'), 'flavors.0.id');
    const image = read(await ask('GET', '/image/v2/images'), 'images.0.id');
    await ask('POST', '/compute/v2.1/servers', {
      server: { name: 's', flavorRef: flavor, imageRef: image, networks: 'none' },
    });
    await clock.advance(5000);
    await first.close();
    const second = await createCloud(options);
    expect(on).toEqual(['s', 's']);
    await second.close();
  });

  it('is used by one process at a time and keeps its secrets private', async () => {
    const options = { clock: new ManualClock(), random: systemRandom, world, directory };
    const cloud = await createCloud(options);
    await expect(createCloud(options)).rejects.toMatchObject({ code: expect.stringMatching(/^CAP_/) as string });
    expect((await stat(join(directory, 'secrets.json'))).mode & 0o777).toBe(0o600);
    const state = await readFile(join(directory, 'state-1.jsonl'), 'utf8');
    expect(state).not.toContain(cloud.secrets.adminPassword);
    expect(state).not.toContain(cloud.secrets.applicationCredentials[0]!.secret);
    await cloud.close();
  });
});

describe('an unreadable cloud directory', () => {
  it('is reported with what to do and is not left locked', async () => {
    const options = { clock: new ManualClock(), random: systemRandom, world, directory };
    await (await createCloud(options)).close();
    await rm(join(directory, 'secrets.json'));
    for (let i = 0; i < 2; i++) {
      await expect(createCloud(options)).rejects.toMatchObject({
        code: 'CAP_CLOUD_STATE_DAMAGED',
        hint: expect.stringContaining(directory) as string,
      });
    }
  });
});

describe('clouds.yaml', () => {
  it('contains a member, the administrator and the application credential', async () => {
    const cloud = await createCloud({ clock: new ManualClock(), random: seededRandom(1), world });
    const { clouds } = parse(
      renderCloudsYaml({ url: 'https://c:1', region: 'RegionOne', secrets: cloud.secrets, authorityFile: '/ca' }),
    ) as {
      clouds: Record<string, { auth: Record<string, string>; cacert: string; auth_type?: string }>;
    };
    expect(Object.keys(clouds)).toEqual(['openstack', 'admin', 'ci-application-credential']);
    expect(clouds['openstack']).toMatchObject({
      auth: { auth_url: 'https://c:1/identity/v3', username: 'demo', project_name: 'demo' },
      region_name: 'RegionOne',
      cacert: '/ca',
    });
    expect(clouds['ci-application-credential']?.auth_type).toBe('v3applicationcredential');
    await cloud.close();
  });
});

describe('the default world', () => {
  it('contains what the manifests of the guides name', async () => {
    const cloud = await createCloud({ clock: new ManualClock(), random: seededRandom(1), world: defaultWorld });
    const ask = await login(cloud);
    const names = async (path: string, key: string): Promise<string[]> =>
      read<{ name: string }[]>(await ask('GET', path), key).map(({ name }) => name);
    expect(await names('/compute/v2.1/flavors', 'flavors')).toEqual(
      expect.arrayContaining(['m1.medium', 'SCS-2V-4', 'SCS-4V-8', 'SCS-2V-4-20s', '2C-4GB-100GB', 'b2-15', 'b2-30']),
    );
    expect(await names('/image/v2/images', 'images')).toEqual(
      expect.arrayContaining([
        'ubuntu-22.04-x86_64',
        'ubuntu-capi-image-v1.33.6',
        'ubuntu-capi-image-v1.32.8',
        'Ubuntu 22.04',
        'Ubuntu-18.04-2',
        'Ubuntu_20.04_node',
      ]),
    );
    const external = await ask('GET', '/network/v2.0/networks?router:external=true');
    expect(read<unknown[]>(external, 'networks')).toMatchObject([
      { id: '375af7fe-a2c1-4c26-a57d-6d33175a6650', name: 'public' },
    ]);
    const existing = 'k8s-clusterapi-cluster-default-capo-test';
    for (const kind of ['networks', 'subnets', 'routers']) {
      expect(read<unknown[]>(await ask('GET', `/network/v2.0/${kind}?name=${existing}`), kind)).toHaveLength(1);
    }
    const keys = read<{ keypair: { name: string } }[]>(await ask('GET', '/compute/v2.1/os-keypairs'), 'keypairs');
    expect(keys.map(({ keypair }) => keypair.name)).toContain('lattice-key');
    const { projectId } = cloud.secrets.users[0]!;
    expect(await names(`/volume/v3/${projectId}/types`, 'volume_types')).toEqual(
      expect.arrayContaining(['high-speed', 'classic']),
    );
    expect(await names('/load-balancer/v2/lbaas/flavors', 'flavors')).toContain('small');
    await cloud.close();
  });
});
