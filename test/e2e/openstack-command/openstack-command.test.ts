import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled, type Outcome, runProcess } from '../../support/process.ts';
import { type CloudProcess, startCloud } from './cloud-process.ts';
import { OpenStackShell } from './openstack-shell.ts';

/** Prefers Debian's command, which another Python on the PATH may hide. */
const candidates = ['/usr/bin/openstack', 'openstack'];

async function findCommand(): Promise<string | undefined> {
  for (const candidate of candidates) if (await isInstalled(candidate, '--version')) return candidate;
  return undefined;
}

const command = await findCommand();
const title = 'the real openstack command against the simulated cloud';
const reason = ' (skipped: python3-openstackclient is not installed)';

/** A cloud with a command line user. */
interface Desk {
  readonly cloud: CloudProcess;
  readonly scratch: string;
  readonly shell: OpenStackShell;
  /** runs a command in its own process, to get its exit code */
  alone(...args: string[]): Promise<Outcome>;
  clear(): Promise<void>;
}

async function sitDown(timeScale: string): Promise<Desk> {
  const scratch = await mkdtemp(join(tmpdir(), 'capstan-openstack-'));
  const cloud = await startCloud({ args: ['--time-scale', timeScale, '--in-memory'] });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: scratch,
    OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml,
    OS_CLOUD: 'openstack',
  };
  const shell = new OpenStackShell(command!, { cwd: scratch, env });
  return {
    cloud,
    scratch,
    shell,
    alone: (...args) => runProcess(command!, args, { cwd: scratch, env }),
    clear: async () => {
      await shell.close();
      await cloud.stop();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

describe.skipIf(command === undefined)(title + (command === undefined ? reason : ''), { timeout: 300_000 }, () => {
  let desk: Desk;
  const openstack = (...args: string[]): Promise<string> => desk.shell.run(...args);
  const json = <T = Record<string, unknown>>(...args: string[]): Promise<T> => desk.shell.json<T>(...args);
  const names = (...args: string[]): Promise<string[]> => desk.shell.names(...args);

  beforeAll(async () => {
    desk = await sitDown('0.2');
  }, 120_000);

  afterAll(() => desk?.clear());

  // The steps depend on each other.
  it('creates a network with a route outside', async () => {
    await openstack('network', 'create', 'net', '--description', 'mine');
    const subnet = await json(
      'subnet',
      'create',
      'sub',
      '--network',
      'net',
      '--subnet-range',
      '10.20.0.0/24',
      '--dns-nameserver',
      '9.9.9.9',
    );
    expect(subnet).toMatchObject({ gateway_ip: '10.20.0.1', cidr: '10.20.0.0/24', dns_nameservers: ['9.9.9.9'] });
    await openstack('router', 'create', 'rtr');
    await openstack('router', 'set', 'rtr', '--external-gateway', 'public');
    await openstack('router', 'add', 'subnet', 'rtr', 'sub');
    const router = await json<{ external_gateway_info: object; interfaces_info: unknown[] }>('router', 'show', 'rtr');
    expect(router.interfaces_info).toHaveLength(1);
    expect(await names('network', 'list', '--external')).toEqual(['public']);
  });

  it('creates security groups and ports', async () => {
    await openstack('security', 'group', 'create', 'sg', '--description', 'web');
    const rule = await json('security', 'group', 'rule', 'create', 'sg', '--protocol', 'tcp', '--dst-port', '443:444');
    expect(rule).toMatchObject({ protocol: 'tcp', port_range_min: 443, port_range_max: 444 });
    const fixed = 'subnet=sub,ip-address=10.20.0.20';
    const port = await json(
      'port',
      'create',
      'port',
      '--network',
      'net',
      '--fixed-ip',
      fixed,
      '--security-group',
      'sg',
      '--tag',
      'mine',
    );
    expect(port).toMatchObject({ status: 'DOWN', fixed_ips: [{ ip_address: '10.20.0.20' }], tags: ['mine'] });
    expect(await names('port', 'list', '--tags', 'mine')).toEqual(['port']);
    await expect(openstack('port', 'create', 'double', '--network', 'net', '--fixed-ip', fixed)).rejects.toThrow(
      /IpAddressAlreadyAllocated|already allocated in subnet/,
    );
  });

  it('uploads an image', async () => {
    await writeFile(join(desk.scratch, 'disk.img'), 'not much of a disk');
    await openstack(
      'image',
      'create',
      'img',
      '--file',
      'disk.img',
      '--disk-format',
      'raw',
      '--property',
      'os_distro=none',
      '--tag',
      'own',
    );
    expect(await json('image', 'show', 'img')).toMatchObject({ status: 'active', size: 18, tags: ['own'] });
    expect(await names('image', 'list', '--tag', 'own')).toEqual(['img']);
    expect(await names('image', 'list', '--public')).toContain('ubuntu-22.04-x86_64');
  });

  it('creates a server in a group, on the port, with a floating IP', async () => {
    const group = await json<{ id: string }>('server', 'group', 'create', 'grp', '--policy', 'anti-affinity');
    await openstack('keypair', 'create', 'key', '--private-key', 'key.pem');
    const server = await json(
      ...[
        'server',
        'create',
        'srv',
        '--flavor',
        'm1.small',
        '--image',
        'img',
        '--nic',
        'port-id=port',
        '--key-name',
        'key',
      ],
      ...['--hint', `group=${group.id}`, '--property', 'purpose=test', '--wait'],
    );
    expect(server).toMatchObject({ status: 'ACTIVE', addresses: { net: ['10.20.0.20'] }, key_name: 'key' });
    const floating = await json<{ floating_ip_address: string }>('floating', 'ip', 'create', 'public');
    await openstack('server', 'add', 'floating', 'ip', 'srv', floating.floating_ip_address);
    expect(await json('server', 'show', 'srv')).toMatchObject({
      addresses: { net: ['10.20.0.20', floating.floating_ip_address] },
      properties: { purpose: 'test' },
    });
    expect(await openstack('console', 'log', 'show', 'srv')).toContain('Booting');
    const members = await json<{ members: unknown[] }>('server', 'group', 'show', 'grp');
    expect(members.members).toHaveLength(1);
  });

  it('stops and starts the server and lists its actions', async () => {
    await openstack('server', 'stop', 'srv');
    await expect.poll(async () => (await json('server', 'show', 'srv'))['status'], { timeout: 30_000 }).toBe('SHUTOFF');
    await openstack('server', 'start', 'srv');
    await expect.poll(async () => (await json('server', 'show', 'srv'))['status'], { timeout: 30_000 }).toBe('ACTIVE');
    const events = await json<{ Action: string }[]>('server', 'event', 'list', 'srv');
    expect(events.map(({ Action }) => Action)).toEqual(expect.arrayContaining(['create', 'stop', 'start']));
  });

  it('creates a volume and attaches it', async () => {
    await openstack('volume', 'create', 'vol', '--size', '2', '--type', 'ssd', '--property', 'a=b');
    await expect
      .poll(async () => (await json('volume', 'show', 'vol'))['status'], { timeout: 30_000 })
      .toBe('available');
    await openstack('server', 'add', 'volume', 'srv', 'vol');
    await expect.poll(async () => (await json('volume', 'show', 'vol'))['status'], { timeout: 30_000 }).toBe('in-use');
    await openstack('server', 'remove', 'volume', 'srv', 'vol');
    await expect
      .poll(async () => (await json('volume', 'show', 'vol'))['status'], { timeout: 30_000 })
      .toBe('available');
  });

  it('shows quotas, limits, zones and the catalogue', async () => {
    expect(await json('quota', 'show')).toMatchObject({ instances: 1000, ports: 10_000, volumes: 2000 });
    const limits = await json<{ Name: string; Value: number }[]>('limits', 'show', '--absolute');
    expect(limits.find(({ Name }) => Name === 'totalInstancesUsed')?.Value).toBe(1);
    const zones = await json<{ 'Zone Name': string }[]>('availability', 'zone', 'list', '--compute');
    expect(zones.map((zone) => zone['Zone Name'])).toEqual(['az2', 'az3', 'nova']);
    const services = await json<{ Type: string }[]>('catalog', 'list');
    expect(services.map(({ Type }) => Type)).toContain('load-balancer');
  });

  it('refuses what a member may not do, with a message and an exit code', async () => {
    await expect(openstack('network', 'create', 'shared', '--share')).rejects.toThrow(/disallowed by policy/);
    await expect(openstack('hypervisor', 'list')).rejects.toThrow(/Policy doesn't allow os_compute_api:os-hypervisors/);
    await expect(openstack('server', 'show', 'nobody')).rejects.toThrow(/No [Ss]erver/);
    const { code, stderr } = await desk.alone('project', 'create', 'mine');
    expect(code).toBe(1);
    expect(stderr).toContain('You are not authorized to perform the requested action');
  });

  it('deletes everything again', async () => {
    await openstack('server', 'delete', 'srv', '--wait');
    await openstack('server', 'group', 'delete', 'grp');
    await openstack('keypair', 'delete', 'key');
    await openstack('volume', 'delete', 'vol');
    const floating = await json<{ ID: string }[]>('floating', 'ip', 'list');
    await openstack('floating', 'ip', 'delete', ...floating.map(({ ID }) => ID));
    await openstack('port', 'delete', 'port');
    await openstack('router', 'remove', 'subnet', 'rtr', 'sub');
    await openstack('router', 'delete', 'rtr');
    await openstack('network', 'delete', 'net');
    await openstack('security', 'group', 'delete', 'sg');
    await openstack('image', 'delete', 'img');
    expect(await names('server', 'list')).toEqual([]);
    await expect.poll(() => names('volume', 'list'), { timeout: 30_000 }).toEqual([]);
    expect(await names('network', 'list')).not.toContain('net');
    expect(await names('security', 'group', 'list')).toEqual(['default']);
  });
});

const hasBalancers = command !== undefined && (await isInstalled(command, 'loadbalancer', 'list', '--help'));
const balancerReason = ' (skipped: python3-octaviaclient is not installed)';

describe.skipIf(!hasBalancers)(
  `openstack loadbalancer against the simulated cloud${hasBalancers ? '' : balancerReason}`,
  { timeout: 300_000 },
  () => {
    let desk: Desk;
    const openstack = (...args: string[]): Promise<string> => desk.shell.run(...args);
    const json = <T = Record<string, unknown>>(...args: string[]): Promise<T> => desk.shell.json<T>(...args);
    const names = (...args: string[]): Promise<string[]> => desk.shell.names(...args);

    beforeAll(async () => {
      desk = await sitDown('0.05');
    }, 120_000);

    afterAll(() => desk?.clear());

    it('creates a load balancer with listener, pool, member and monitor, then removes all at once', async () => {
      const subnet = 'k8s-clusterapi-cluster-default-capo-test';
      const balancer = await json<{ vip_port_id: string }>(
        ...['loadbalancer', 'create', '--name', 'lb', '--vip-subnet-id', subnet, '--wait'],
      );
      expect(balancer).toMatchObject({ provisioning_status: 'ACTIVE', provider: 'amphora' });
      await openstack(
        'loadbalancer',
        'listener',
        'create',
        'lb',
        '--name',
        'lsn',
        '--protocol',
        'TCP',
        '--protocol-port',
        '6443',
        '--allowed-cidr',
        '10.0.0.0/8',
        '--wait',
      );
      await openstack(
        'loadbalancer',
        'pool',
        'create',
        '--name',
        'pool',
        '--listener',
        'lsn',
        '--protocol',
        'TCP',
        '--lb-algorithm',
        'ROUND_ROBIN',
        '--wait',
      );
      await openstack(
        'loadbalancer',
        'member',
        'create',
        'pool',
        '--name',
        'mem',
        '--address',
        '10.6.0.10',
        '--protocol-port',
        '6443',
        '--wait',
      );
      await openstack(
        'loadbalancer',
        'healthmonitor',
        'create',
        'pool',
        '--name',
        'mon',
        '--type',
        'TCP',
        '--delay',
        '5',
        '--timeout',
        '3',
        '--max-retries',
        '3',
        '--wait',
      );
      expect(await json('loadbalancer', 'listener', 'show', 'lsn')).toMatchObject({
        protocol_port: 6443,
        provisioning_status: 'ACTIVE',
      });
      expect(await names('loadbalancer', 'member', 'list', 'pool')).toEqual(['mem']);
      const tree = await openstack('loadbalancer', 'status', 'show', 'lb');
      for (const part of ['lsn', 'pool', 'mem', 'mon']) expect(tree).toContain(part);
      await openstack('loadbalancer', 'delete', 'lb', '--cascade', '--wait');
      expect(await names('loadbalancer', 'list')).toEqual([]);
      await expect(openstack('port', 'show', balancer.vip_port_id)).rejects.toThrow(/No Port found|No port/i);
    });
  },
);
