import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../machinery/index.ts';
import { testTenant } from '../testing/test-tenant.ts';

const missing = '00000000-0000-4000-8000-000000000000';

describe('a server', () => {
  it('is built step by step and gets its port, host and addresses', async () => {
    const { makeServer, server, clock, user, read } = await testTenant();
    const id = await makeServer({ tags: ['t'], metadata: { a: 'b' } });
    expect(await server(id)).toMatchObject({
      status: 'BUILD',
      addresses: {},
      hostId: '',
      'OS-EXT-STS:task_state': 'scheduling',
      'OS-EXT-STS:vm_state': 'building',
      'OS-EXT-STS:power_state': 0,
      'OS-SRV-USG:launched_at': null,
    });
    await clock.advance(3000);
    const active = await server(id);
    expect(active).toMatchObject({
      status: 'ACTIVE',
      tags: ['t'],
      metadata: { a: 'b' },
      security_groups: [{ name: 'default' }],
      'OS-EXT-STS:task_state': null,
      'OS-EXT-STS:power_state': 1,
      'OS-EXT-AZ:availability_zone': 'nova',
    });
    expect(active['hostId']).toMatch(/^[0-9a-f]{56}$/);
    const ports = read<Record<string, unknown>[]>(
      await user.request('GET', `/network/v2.0/ports?device_id=${id}`),
      'ports',
    );
    expect(ports).toMatchObject([{ status: 'ACTIVE', device_owner: 'compute:nova' }]);
    const [{ ip_address }] = ports[0]!['fixed_ips'] as [{ ip_address: string }];
    expect(active['addresses']).toMatchObject({ net: [{ addr: ip_address, 'OS-EXT-IPS:type': 'fixed', version: 4 }] });
  });

  it('is deleted with the port nova made and leaves the port it was given', async () => {
    const { makeServer, clock, user, read, networkId, nova } = await testTenant();
    const given = read(
      await user.request('POST', '/network/v2.0/ports', { port: { network_id: networkId } }),
      'port.id',
    );
    const id = await makeServer({ networks: [{ port: given }, { uuid: networkId }] });
    await clock.advance(3000);
    expect(read<unknown[]>(await nova('GET', `/servers/${id}/os-interface`), 'interfaceAttachments')).toHaveLength(2);
    expect((await nova('DELETE', `/servers/${id}`)).status).toBe(204);
    expect(await nova('GET', `/servers/${id}`)).toMatchObject({
      body: { server: { 'OS-EXT-STS:task_state': 'deleting' } },
    });
    expect((await nova('DELETE', `/servers/${id}`)).status).toBe(204);
    await clock.advance(2000);
    expect(await nova('GET', `/servers/${id}`)).toMatchObject({
      status: 404,
      body: { itemNotFound: { code: 404, message: `Instance ${id} could not be found.` } },
    });
    const left = read<Record<string, unknown>[]>(
      await user.request('GET', `/network/v2.0/ports?network_id=${networkId}`),
      'ports',
    );
    expect(left).toMatchObject([{ id: given, device_id: '', device_owner: '', status: 'DOWN' }]);
  });

  it('boots from a volume made from an image, deleted with the server when asked to', async () => {
    const { makeServer, server, clock, cinder, read, imageId, nova, disklessFlavorId } = await testTenant();
    const device = { source_type: 'image', destination_type: 'volume', uuid: imageId, boot_index: 0, volume_size: 5 };
    const id = await makeServer({
      flavorRef: disklessFlavorId,
      imageRef: '',
      block_device_mapping_v2: [{ ...device, delete_on_termination: true }],
    });
    await clock.advance(15_000);
    const active = await server(id);
    expect(active).toMatchObject({ status: 'ACTIVE', image: '' });
    const [volume] = read<Record<string, unknown>[]>(await cinder('GET', '/volumes/detail'), 'volumes');
    expect(volume).toMatchObject({
      status: 'in-use',
      bootable: 'true',
      attachments: [{ server_id: id, device: '/dev/sda' }],
    });
    expect(active['os-extended-volumes:volumes_attached']).toEqual([
      { id: volume!['id'], delete_on_termination: true },
    ]);
    const root = `/servers/${id}/os-volume_attachments/${String(volume!['id'])}`;
    expect((await nova('DELETE', root)).body).toMatchObject({
      badRequest: { message: 'Cannot detach a root device volume' },
    });
    await nova('DELETE', `/servers/${id}`);
    await clock.advance(5000);
    expect(read<unknown[]>(await cinder('GET', '/volumes'), 'volumes')).toEqual([]);
  });

  it('goes into ERROR and says so when no host fits', async () => {
    const { makeServer, server, clock, cloud } = await testTenant();
    for (const name of ['host-1', 'host-2', 'host-3']) cloud.operator.setHost(name, { enabled: false });
    const id = await makeServer();
    await clock.advance(3000);
    const failed = await server(id);
    expect(failed).toMatchObject({
      status: 'ERROR',
      hostId: '',
      addresses: {},
      fault: { code: 500, message: 'No valid host was found. There are not enough hosts available.' },
    });
    expect(failed).not.toHaveProperty('progress');
  });

  it('goes into ERROR when its network has no address left and leaves nothing behind', async () => {
    const { user, read, makeServer, server, clock } = await testTenant();
    const net = read(await user.request('POST', '/network/v2.0/networks', { network: { name: 'tiny' } }), 'network.id');
    await user.request('POST', '/network/v2.0/subnets', {
      subnet: { network_id: net, ip_version: 4, cidr: '10.9.0.0/30' },
    });
    const first = await makeServer({ networks: [{ uuid: net }] });
    await clock.advance(3000);
    const second = await makeServer({ networks: [{ uuid: net }] });
    await clock.advance(3000);
    expect((await server(first))['status']).toBe('ACTIVE');
    expect(await server(second)).toMatchObject({ status: 'ERROR', addresses: {} });
    expect(JSON.stringify((await server(second))['fault'])).toContain('No more IP addresses available on network');
  });

  it.each([
    [
      'anti-affinity',
      (hosts: Set<unknown>, states: string[]) => [hosts.size, states.sort()],
      [3, ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ERROR']],
    ],
    [
      'affinity',
      (hosts: Set<unknown>, states: string[]) => [hosts.size, states],
      [1, ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE']],
    ],
    [
      'soft-anti-affinity',
      (hosts: Set<unknown>, states: string[]) => [hosts.size, states],
      [3, ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE']],
    ],
  ])('is placed by the policy of its group: %s', async (policy, summary, expected) => {
    const { nova, read, clock, server, flavorId, imageId } = await testTenant();
    const group = read(
      await nova('POST', '/os-server-groups', { server_group: { name: 'g', policy } }, '2.64'),
      'server_group.id',
    );
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) {
      const body = { server: { name: `s${i}`, flavorRef: flavorId, imageRef: imageId, networks: 'none' } };
      ids.push(read(await nova('POST', '/servers', { ...body, 'os:scheduler_hints': { group } }), 'server.id'));
    }
    await clock.advance(3000);
    const servers = await Promise.all(ids.map(server));
    const hosts = new Set(servers.map((each) => each['hostId']).filter((host) => host !== ''));
    expect(
      summary(
        hosts,
        servers.map((each) => String(each['status'])),
      ),
    ).toEqual(expected);
    expect(
      read<string[]>(await nova('GET', `/os-server-groups/${group}`, undefined, '2.64'), 'server_group.members'),
    ).toEqual(ids);
  });

  it('is placed in the requested zone', async () => {
    const { makeServer, server, clock } = await testTenant();
    const id = await makeServer({ availability_zone: 'az2' });
    await clock.advance(3000);
    expect((await server(id))['OS-EXT-AZ:availability_zone']).toBe('az2');
  });

  it('is created several times at once, each with a number', async () => {
    const { makeServer, clock, nova, read } = await testTenant();
    await makeServer({ name: 'many', min_count: 2, max_count: 3 });
    await clock.advance(3000);
    const names = read<{ name: string }[]>(await nova('GET', '/servers'), 'servers').map(({ name }) => name);
    expect(names.sort()).toEqual(['many-1', 'many-2', 'many-3']);
  });
});

describe('requests that nova refuses', () => {
  it.each<[string, Record<string, unknown>, number, string]>([
    ['flavor', { flavorRef: missing }, 400, `Flavor ${missing} could not be found.`],
    ['image', { imageRef: missing }, 400, 'Can not find requested image'],
    [
      'image form',
      { imageRef: 'x' },
      400,
      "Invalid input for field/attribute imageRef. Value: x. 'x' is not valid under any of the given schemas",
    ],
    ['no image', { imageRef: '' }, 400, 'Missing imageRef attribute'],
    ['network', { networks: [{ uuid: missing }] }, 400, `Network ${missing} could not be found.`],
    ['port', { networks: [{ port: missing }] }, 400, `Port id ${missing} could not be found.`],
    ['key', { key_name: 'nope' }, 400, 'Invalid key_name provided.'],
    ['zone', { availability_zone: 'nope' }, 400, 'The requested availability zone is not available'],
    ['group', { security_groups: [{ name: 'nope' }] }, 400, "Unable to find security_group with name or id 'nope'"],
    ['name', { name: '' }, 400, "Invalid input for field/attribute name. Value: . '' is too short"],
    [
      'name with spaces',
      { name: ' x' },
      400,
      "An invalid 'name' value was provided. The name must be: printable characters. Can not start or end with whitespace.",
    ],
    ['unknown property', { bogus: 1 }, 400, "Additional properties are not allowed ('bogus' was unexpected)"],
    ['user data', { user_data: 'x' }, 400, "'x' is not a 'base64'"],
    ['tag', { tags: ['a,b'] }, 400, "'a,b' does not match '^[^,/]*$'"],
    [
      'metadata',
      { metadata: { k: 7 } },
      400,
      "Invalid input for field/attribute k. Value: 7. 7 is not of type 'string'",
    ],
    [
      'volume without size',
      {
        imageRef: '',
        block_device_mapping_v2: [{ source_type: 'image', destination_type: 'volume', uuid: 'IMAGE', boot_index: 0 }],
      },
      400,
      "Images with destination_type 'volume' need to have a non-zero size specified",
    ],
    [
      'unknown volume',
      {
        imageRef: '',
        block_device_mapping_v2: [{ source_type: 'volume', destination_type: 'volume', uuid: missing, boot_index: 0 }],
      },
      400,
      `Block Device Mapping is Invalid: failed to get volume ${missing}.`,
    ],
    [
      'no boot device',
      { block_device_mapping_v2: [{ source_type: 'blank', destination_type: 'volume', volume_size: 1 }] },
      400,
      'Boot sequence for the instance',
    ],
    [
      'a flavor without disk',
      { flavorRef: 'DISKLESS' },
      403,
      'Only volume-backed servers are allowed for flavors with zero disk.',
    ],
  ])('are answered with an error for %s', async (_name, desired, status, message) => {
    const { nova, flavorId, imageId, disklessFlavorId } = await testTenant();
    const text = JSON.stringify({
      server: { name: 's', flavorRef: flavorId, imageRef: imageId, networks: 'none', ...desired },
    });
    const body: unknown = JSON.parse(
      text.replace('"IMAGE"', `"${imageId}"`).replace('"DISKLESS"', `"${disklessFlavorId}"`),
    );
    const answer = await nova('POST', '/servers', body);
    expect(answer.status).toBe(status);
    const [wrapper] = Object.values(answer.body as Record<string, { message: string; code: number }>);
    expect(wrapper?.code).toBe(status);
    expect(wrapper?.message).toContain(message);
  });

  it('are refused for a port that is in use', async () => {
    const { makeServer, clock, nova, read, flavorId, imageId } = await testTenant();
    const id = await makeServer();
    await clock.advance(3000);
    const port = read(await nova('GET', `/servers/${id}/os-interface`), 'interfaceAttachments.0.port_id');
    const server = { name: 's', flavorRef: flavorId, imageRef: imageId, networks: [{ port }] };
    expect(await nova('POST', '/servers', { server })).toMatchObject({
      status: 409,
      body: { conflictingRequest: { message: `Port ${port} is still in use.` } },
    });
  });

  it('are refused with fields of a later microversion or with too high a version', async () => {
    const { nova, flavorId, imageId } = await testTenant();
    const server = { name: 's', flavorRef: flavorId, imageRef: imageId, networks: 'none', tags: ['a'] };
    expect((await nova('POST', '/servers', { server }, '2.51')).status).toBe(400);
    expect((await nova('POST', '/servers', { server }, '2.52')).status).toBe(202);
    expect(await nova('GET', '/servers', undefined, '2.999')).toMatchObject({
      status: 406,
      headers: { 'openstack-api-version': 'compute 2.999' },
      body: {
        computeFault: { message: 'Version 2.999 is not supported by the API. Minimum is 2.1 and maximum is 2.93.' },
      },
    });
    expect((await nova('GET', '/servers', undefined, 'bogus')).status).toBe(400);
    expect((await nova('GET', '/servers', undefined, 'latest')).headers['openstack-api-version']).toBe('compute 2.93');
  });

  it('are refused beyond the quota', async () => {
    const { nova, flavorId, imageId, cloud, user } = await testTenant();
    cloud.operator.setQuota('compute', user.projectId, { instances: 2, cores: 100, ram: 100_000 });
    const server = { name: 's', flavorRef: flavorId, imageRef: imageId, networks: 'none' };
    expect((await nova('POST', '/servers', { server })).status).toBe(202);
    expect(await nova('POST', '/servers', { server: { ...server, min_count: 2 } })).toMatchObject({
      status: 403,
      body: { forbidden: { message: 'Quota exceeded for instances: Requested 2, but already used 1 of 2 instances' } },
    });
    // The quota does not allow all five, but it allows the minimum.
    expect((await nova('POST', '/servers', { server: { ...server, min_count: 1, max_count: 5 } })).status).toBe(202);
    expect((await nova('POST', '/servers', { server })).status).toBe(403);
    const limits = (await nova('GET', '/limits')).body as { limits: { absolute: Record<string, number> } };
    expect(limits.limits.absolute).toMatchObject({ totalInstancesUsed: 2, totalCoresUsed: 2, maxTotalInstances: 2 });
  });

  it('are refused as writes of readers and for servers of other projects', async () => {
    const tenant = await testTenant();
    const id = await tenant.makeServer();
    const reader = await tenant.member('r', ['reader']);
    const body = { server: { name: 's', flavorRef: tenant.flavorId, imageRef: tenant.imageId } };
    expect(await reader.request('POST', '/compute/v2.1/servers', body)).toMatchObject({
      status: 403,
      body: { forbidden: { message: "Policy doesn't allow os_compute_api:servers:create to be performed." } },
    });
    expect((await reader.request('GET', `/compute/v2.1/servers/${id}`)).status).toBe(404);
    expect((await tenant.admin.request('GET', `/compute/v2.1/servers/${id}`)).status).toBe(200);
  });
});

describe('lists of servers', () => {
  it('are paged, newest first, with a link to the next page', async () => {
    const { makeServer, nova, read } = await testTenant();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push(await makeServer({ name: `s${i}` }));
    const first = await nova('GET', '/servers?limit=2');
    expect(read<{ id: string }[]>(first, 'servers').map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const next = read(first, 'servers_links.0.href');
    expect(next).toBe(`http://cloud.test/compute/v2.1/servers?limit=2&marker=${ids[1]}`);
    const second = await nova('GET', next.replace('http://cloud.test/compute/v2.1', ''));
    expect(read<{ id: string }[]>(second, 'servers').map(({ id }) => id)).toEqual([ids[0]]);
    expect(second.body).not.toHaveProperty('servers_links');
    expect((await nova('GET', '/servers?marker=nope')).body).toMatchObject({
      badRequest: { message: 'marker [nope] not found' },
    });
  });

  it.each<[string, string[]]>([
    ['name=^web-1$', ['web-1']],
    ['name=web', ['web-1', 'web-2']],
    ['name=WEB-1', ['web-1']],
    ['tags=a', ['web-1', 'db']],
    ['tags=a,b', ['web-1']],
    ['tags-any=b,c', ['web-1', 'web-2']],
    ['not-tags=a', ['web-2']],
    ['not-tags-any=a,c', []],
    ['status=ACTIVE', ['web-1', 'web-2', 'db']],
    ['status=SHUTOFF', []],
    ['unknown=1', ['web-1', 'web-2', 'db']],
    ['sort_key=display_name&sort_dir=asc', ['db', 'web-1', 'web-2']],
  ])('are filtered by %s', async (query, names) => {
    const { makeServer, nova, read, clock } = await testTenant();
    await makeServer({ name: 'web-1', tags: ['a', 'b'] });
    await makeServer({ name: 'web-2', tags: ['c'] });
    await makeServer({ name: 'db', tags: ['a'] });
    await clock.advance(3000);
    const found = read<{ name: string }[]>(await nova('GET', `/servers?${query}`), 'servers').map(({ name }) => name);
    expect(query.includes('sort') ? found : found.sort()).toEqual(query.includes('sort') ? names : [...names].sort());
  });

  it('are filtered by address and include deleted servers for changes-since', async () => {
    const { makeServer, nova, read, clock } = await testTenant();
    const id = await makeServer({ networks: 'none' });
    await makeServer({ name: 'kept' });
    await clock.advance(3000);
    expect(read<unknown[]>(await nova('GET', '/servers?ip=10.0'), 'servers')).toHaveLength(1);
    await nova('DELETE', `/servers/${id}`);
    await clock.advance(3000);
    const changed = read<Record<string, unknown>[]>(
      await nova('GET', '/servers/detail?changes-since=2020-01-01T00:00:00Z'),
      'servers',
    );
    expect(changed.map(({ status }) => status).sort()).toEqual(['ACTIVE', 'DELETED']);
    expect((await nova('GET', '/servers?status=DELETED')).status).toBe(403);
  });

  it.each([
    ['limit=-1', "Invalid input for query parameters limit. Value: -1. '-1' does not match '^[0-9]*$'"],
    ['name=[', "Invalid input for query parameters name. Value: [. '[' is not a 'regex'"],
    ['changes-since=zz', "'zz' is not a 'date-time'"],
    ['sort_key=bogus', "'bogus' is not one of ['access_ip_v4'"],
    ['status=BOGUS', 'Invalid status value'],
  ])('refuse %s', async (query, message) => {
    const { nova } = await testTenant();
    const answer = await nova('GET', `/servers?${query}`);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(JSON.stringify(message).slice(1, -1));
  });

  it('show servers of all projects to administrators only', async () => {
    const tenant = await testTenant();
    await tenant.makeServer();
    expect((await tenant.nova('GET', '/servers?all_tenants=1')).status).toBe(403);
    const all = await tenant.admin.request('GET', '/compute/v2.1/servers?all_tenants=1');
    expect((all.body as { servers: unknown[] }).servers).toHaveLength(1);
    expect((await tenant.admin.request('GET', '/compute/v2.1/servers')).body).toEqual({ servers: [] });
  });
});

describe('the list of servers', () => {
  it('compares names with any pattern in linear time', async () => {
    const { makeServer, clock, nova, read } = await testTenant();
    await makeServer({ name: `${'a'.repeat(200)}!` });
    await makeServer({ name: 'web-1' });
    await clock.advance(3000);
    const names = async (pattern: string): Promise<string[]> =>
      read<{ name: string }[]>(await nova('GET', `/servers?name=${encodeURIComponent(pattern)}`), 'servers').map(
        ({ name }) => name,
      );
    // A backtracking matcher would need exponential time here.
    expect(await names('^(a+)+$')).toEqual([]);
    expect(await names('^(A+)+!$')).toHaveLength(1);
    expect(await names('WEB|db')).toEqual(['web-1']);
    expect(await names('^web-[[:digit:]]$')).toEqual(['web-1']);
  });

  it('refuses a pattern that costs too much or cannot be matched in linear time', async () => {
    const { makeServer, clock, nova } = await testTenant();
    const dice = seededRandom(7);
    for (let i = 0; i < 9; i++) {
      await makeServer({ name: Array.from({ length: 250 }, () => (dice.next() < 0.5 ? 'a' : 'b')).join('') });
    }
    await clock.advance(3000);
    const list = (pattern: string) => nova('GET', `/servers?name=${encodeURIComponent(pattern)}`);
    expect(await list('(a|b)*a(a|b|.|[a-c]|[a-d]|[a-e]|[a-f]|[a-g]|[a-h]|[a-i]|[a-j]){300}z')).toMatchObject({
      status: 400,
      body: { badRequest: { message: expect.stringContaining('takes too many steps to match') } },
    });
    expect(await list('(a)\\1')).toMatchObject({
      status: 400,
      body: { badRequest: { message: expect.stringContaining("is not a 'regex'") } },
    });
  });

  it('finds servers by part of a fixed address, not by a pattern', async () => {
    const { makeServer, clock, nova, read, networkId } = await testTenant();
    const id = await makeServer({ networks: [{ uuid: networkId, fixed_ip: '10.0.7.31' }] });
    await makeServer({ networks: [{ uuid: networkId, fixed_ip: '10.0.8.31' }] });
    await clock.advance(3000);
    const found = async (filter: string) =>
      read<{ id: string }[]>(await nova('GET', `/servers?${filter}`), 'servers').map((server) => server.id);
    expect(await found('ip=10.0.7')).toEqual([id]);
    expect(await found('ip=10.0.7..')).toEqual([]);
    expect(await found('ip6=fe80&ip=0.7.31')).toEqual([id]);
  });

  it.each(['2026', '2026-01', '20260101', '2026-01-01T00', '2026-01-01 00:00', '2026-01-01T00:00:00.000000'])(
    'reads changes-since=%s as a time in UTC',
    async (since) => {
      const { makeServer, clock, nova, read } = await testTenant();
      await clock.advance(Date.UTC(2026, 0, 1, 0, 0, 1) - clock.now());
      await makeServer();
      expect(read(await nova('GET', `/servers?changes-since=${encodeURIComponent(since)}`), 'servers')).toHaveLength(1);
      expect(
        read(
          await nova('GET', `/servers?changes-since=${encodeURIComponent(since.replace('2026', '2027'))}`),
          'servers',
        ),
      ).toHaveLength(0);
      expect((await nova('GET', '/servers?changes-since=202601')).status).toBe(400);
    },
  );
});
