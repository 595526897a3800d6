import { describe, expect, it } from 'vitest';
import { collect, type SubnetSpec } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createLab } from './support/lab.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';

contract('networks', (cloud) => {
  const network = () => cloud.member.network;

  describe('networks', () => {
    it('start with the usual defaults', async () => {
      const name = uniqueName('net');
      const made = await network().networks.create({ name });
      expect(made).toMatchObject({
        name,
        status: 'ACTIVE',
        adminStateUp: true,
        shared: false,
        external: false,
        portSecurityEnabled: true,
        subnetIds: [],
        tags: [],
        description: '',
        projectId: cloud.tenant.projectId,
      });
      expect(made.mtu).toBeGreaterThan(1000);
      expect(await network().networks.get(made.id)).toEqual(made);
      expect((await network().networks.find(name))?.id).toBe(made.id);
    });

    it('are changed, each change with a new revision', async () => {
      const made = await network().networks.create({ name: uniqueName('net') });
      const changed = await network().networks.update(made.id, { name: 'other', description: 'd' });
      expect(changed).toMatchObject({ name: 'other', description: 'd' });
      expect(changed.revision).toBeGreaterThan(made.revision!);
      const stale = network().service.request({
        method: 'PUT',
        path: `/networks/${made.id}`,
        json: { network: { name: 'x' } },
        headers: { 'if-match': 'revision_number=0' },
      });
      await refused(stale, { status: 412, kind: 'precondition', type: 'RevisionNumberConstraintFailed' });
    });

    it('include the external one for everybody', async () => {
      const external = await collect(network().networks.list({ external: true }));
      expect(external.map(({ id }) => id)).toContain(cloud.world.external.id);
      expect(external.every((one) => one.external)).toBe(true);
    });

    it('are created several at once, or not at all', async () => {
      const name = uniqueName('bulk');
      const bulk = (second: object) =>
        network().service.request({ method: 'POST', path: '/networks', json: { networks: [{ name }, second] } });
      expect((await bulk({ name })).members('networks')).toHaveLength(2);
      await refused(bulk({ bogus: 1 }), { status: 400 });
      expect(await collect(network().networks.list({ name }))).toHaveLength(2);
    });

    it('of others are hidden', async () => {
      const made = await network().networks.create({ name: uniqueName('net') });
      const stranger = await cloud.stranger();
      await refused(stranger.cloud.network.networks.get(made.id), { status: 404, type: 'NetworkNotFound' });
      expect(await stranger.cloud.network.networks.delete(made.id)).toBe(false);
    });
  });

  describe('creation and change of networks', () => {
    it.each<[string, object, number, string, string | RegExp]>([
      [
        'an attribute nobody knows',
        { network: { bogus: 1 } },
        400,
        'HTTPBadRequest',
        "Unrecognized attribute(s) 'bogus'",
      ],
      ['another wrapper', { netwrok: {} }, 400, 'HTTPBadRequest', "Unable to find 'network' in request body"],
      [
        'a name that is a number',
        { network: { name: 7 } },
        400,
        'HTTPBadRequest',
        "Invalid input for name. Reason: '7' is not a valid string.",
      ],
      [
        'a flag that is none',
        { network: { admin_state_up: 'maybe' } },
        400,
        'InvalidInput',
        "'maybe' cannot be converted to boolean.",
      ],
      [
        'an attribute that is only read',
        { network: { status: 'ACTIVE' } },
        400,
        'HTTPBadRequest',
        "Attribute 'status' not allowed in POST",
      ],
      ['tags at birth', { network: { tags: ['t'] } }, 400, 'HTTPBadRequest', "Attribute 'tags' not allowed in POST"],
      [
        'sharing',
        { network: { shared: true } },
        403,
        'PolicyNotAuthorized',
        /create_network:shared.* is disallowed by policy/,
      ],
      [
        'an external network',
        { network: { 'router:external': true } },
        403,
        'PolicyNotAuthorized',
        /is disallowed by policy/,
      ],
      [
        'a provider network',
        { network: { 'provider:network_type': 'flat' } },
        403,
        'PolicyNotAuthorized',
        /is disallowed by policy/,
      ],
    ])('is refused for %s', async (_what, json, status, type, says) => {
      await refused(network().service.request({ method: 'POST', path: '/networks', json }), { status, type, says });
    });

    it('is refused for a read-only attribute', async () => {
      const made = await network().networks.create({ name: uniqueName('net') });
      const json = { network: { id: nobody } };
      await refused(network().service.request({ method: 'PUT', path: `/networks/${made.id}`, json }), {
        status: 400,
        says: 'Cannot update read-only attribute id',
      });
    });
  });

  describe('lists', () => {
    it('are split into pages with links both ways', async () => {
      const description = uniqueName('pages');
      for (const name of ['a', 'b', 'c']) await network().networks.create({ name, description });
      const names = async (pageSize?: number) =>
        (await collect(network().networks.list({ description, sortKey: 'name', sortDir: 'asc' }, { pageSize }))).map(
          ({ name }) => name,
        );
      expect(await names()).toEqual(['a', 'b', 'c']);
      expect(await names(1)).toEqual(['a', 'b', 'c']);
      expect(await names(3)).toEqual(['a', 'b', 'c']);
      const answer = await network().service.request({
        method: 'GET',
        path: '/networks',
        query: { description, limit: 2 },
      });
      const links = answer.object()['networks_links'] as { rel: string; href: string }[];
      expect(links.map(({ rel }) => rel)).toEqual(['next', 'previous']);
      expect(links[1]!.href).toContain('page_reverse=True');
      const unlimited = await network().service.request({ method: 'GET', path: '/networks', query: { description } });
      expect(unlimited.object()).not.toHaveProperty('networks_links');
    });

    it('can be sorted and limited to some fields', async () => {
      const answer = await network().service.request({
        method: 'GET',
        path: '/networks',
        query: { fields: ['id', 'name'], sort_key: 'name', sort_dir: 'desc' },
      });
      const found = answer.members('networks');
      expect(found.every((one) => Object.keys(one).toSorted().join() === 'id,name')).toBe(true);
    });

    it.each([
      ['a filter nobody knows', { bogus: 'x' }, 400, "['bogus'] is invalid attribute for filtering"],
      [
        'a sort key nobody knows',
        { sort_key: 'bogus', sort_dir: 'asc' },
        400,
        "['bogus'] is invalid attribute for sort_keys",
      ],
      [
        'a limit below zero',
        { limit: -1 },
        400,
        "Bad limit request: Limit must be an integer 0 or greater and not '-1'.",
      ],
      ['a marker that is not there', { limit: 1, marker: nobody }, 404, `Network ${nobody} could not be found.`],
    ])('refuse %s', async (_what, query, status, says) => {
      await refused(network().service.request({ method: 'GET', path: '/networks', query }), { status, says });
    });
  });

  describe('tags', () => {
    it('are replaced, added, found and removed', async () => {
      const made = await network().networks.create({ name: uniqueName('net') });
      const mark = uniqueName('tag');
      await network().networks.replaceTags(made.id, [mark, 'b']);
      await network().networks.addTag(made.id, 'c');
      await network().networks.addTag(made.id, 'c');
      expect((await network().networks.get(made.id)).tags.toSorted()).toEqual([mark, 'b', 'c'].toSorted());
      const ids = async (filter: Parameters<ReturnType<typeof network>['networks']['list']>[0]) =>
        (await collect(network().networks.list({ ...filter, projectId: cloud.tenant.projectId }))).map(({ id }) => id);
      expect(await ids({ tags: [mark, 'b'] })).toEqual([made.id]);
      expect(await ids({ tags: [mark, 'x'] })).toEqual([]);
      expect(await ids({ tagsAny: [mark, 'x'] })).toEqual([made.id]);
      expect(await ids({ notTags: [mark] })).not.toContain(made.id);
      expect(await ids({ notTagsAny: [mark, 'x'] })).not.toContain(made.id);
      expect(await network().networks.removeTag(made.id, 'c')).toBe(true);
      expect(await network().networks.removeTag(made.id, 'c')).toBe(false);
      await refused(network().networks.replaceTags(made.id, ['x'.repeat(256)]), { status: 400, type: 'InvalidInput' });
      await refused(network().networks.replaceTags(nobody, ['x']), { status: 404, type: 'TagResourceNotFound' });
    });
  });

  describe('subnets', () => {
    it('start with a gateway, a pool and DHCP', async () => {
      const { network: net } = await createLab(cloud.member);
      const desired = { networkId: net.id, cidr: '10.2.0.7/24', ipVersion: 4, dnsNameservers: ['9.9.9.9'] } as const;
      expect(await network().subnets.create(desired)).toMatchObject({
        cidr: '10.2.0.0/24',
        gatewayIp: '10.2.0.1',
        allocationPools: [{ start: '10.2.0.2', end: '10.2.0.254' }],
        enableDhcp: true,
        dnsNameservers: ['9.9.9.9'],
        hostRoutes: [],
        ipVersion: 4,
      });
    });

    it('may have no gateway, other pools, and IPv6', async () => {
      const { network: net } = await createLab(cloud.member);
      const plain = await network().subnets.create({
        networkId: net.id,
        cidr: '10.3.0.0/24',
        ipVersion: 4,
        gatewayIp: null,
        enableDhcp: false,
        allocationPools: [{ start: '10.3.0.10', end: '10.3.0.20' }],
      });
      expect(plain).toMatchObject({
        gatewayIp: undefined,
        enableDhcp: false,
        allocationPools: [{ start: '10.3.0.10', end: '10.3.0.20' }],
      });
      const slaac = await network().subnets.create({
        networkId: net.id,
        cidr: 'fd00:1::/64',
        ipVersion: 6,
        ipv6AddressMode: 'slaac',
        ipv6RaMode: 'slaac',
      });
      expect(slaac).toMatchObject({ ipVersion: 6, ipv6AddressMode: 'slaac' });
      const port = await network().ports.create({ networkId: net.id });
      expect(port.fixedIps.map(({ subnetId }) => subnetId)).toContain(slaac.id);
    });

    it('can be changed', async () => {
      const { subnet } = await createLab(cloud.member);
      const changed = await network().subnets.update(subnet.id, { dnsNameservers: ['1.1.1.1', '8.8.8.8'], name: 'n' });
      expect(changed).toMatchObject({ dnsNameservers: ['1.1.1.1', '8.8.8.8'], name: 'n' });
    });

    it.each<[string, Partial<SubnetSpec>, number, string | undefined, string | RegExp]>([
      ['overlapping another', { cidr: '10.20.0.128/25' }, 400, 'InvalidInput', 'overlaps with another subnet'],
      ['no CIDR at all', { cidr: 'bogus' }, 400, undefined, /bogus/],
      [
        'a CIDR of the other version',
        { cidr: '10.9.0.0/24', ipVersion: 6 },
        400,
        'InvalidInput',
        "does not match the ip_version '6'.",
      ],
      [
        'a gateway inside the pool',
        { cidr: '10.9.0.0/24', gatewayIp: '10.9.0.50', allocationPools: [{ start: '10.9.0.10', end: '10.9.0.99' }] },
        409,
        'GatewayConflictWithAllocationPools',
        /10\.9\.0\.50/,
      ],
      [
        'a pool outside the CIDR',
        { cidr: '10.9.0.0/24', allocationPools: [{ start: '10.8.0.10', end: '10.8.0.99' }] },
        400,
        'OutOfBoundsAllocationPool',
        /./,
      ],
      ['an unknown network', { networkId: nobody, cidr: '10.9.0.0/24' }, 404, 'NetworkNotFound', /./],
    ])('refuse %s', async (_what, desired, status, type, says) => {
      const { network: net } = await createLab(cloud.member);
      await refused(network().subnets.create({ networkId: net.id, cidr: '10.9.0.0/24', ipVersion: 4, ...desired }), {
        status,
        ...(type && { type }),
        says,
      });
    });

    it('cannot be deleted while in use', async () => {
      const { network: net, subnet } = await createLab(cloud.member);
      const port = await network().ports.create({ networkId: net.id });
      await refused(network().subnets.delete(subnet.id), { status: 409, kind: 'conflict', type: 'SubnetInUse' });
      await refused(network().networks.delete(net.id), { status: 409, type: 'NetworkInUse', says: port.id });
      await network().ports.delete(port.id);
      expect(await network().networks.delete(net.id)).toBe(true);
      await refused(network().subnets.get(subnet.id), { status: 404, type: 'SubnetNotFound' });
    });
  });

  it('lists its extensions', async () => {
    const aliases = await network().extensions.aliases();
    for (const alias of [
      'standard-attr-tag',
      'trunk',
      'allowed-address-pairs',
      'port-security',
      'security-group',
      'router',
      'external-net',
      'quotas',
    ]) {
      expect(aliases).toContain(alias);
    }
    await refused(network().service.request({ method: 'GET', path: '/extensions/no-such-thing' }), { status: 404 });
  });
});
