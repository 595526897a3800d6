import { describe, expect, it } from 'vitest';
import { collect } from '../resource/pages.ts';
import { type FakeCloud, fakeCloud } from '../testing/fake-cloud.ts';
import { isRehearsedAddress, type RehearsedCloud, rehearse } from './rehearse.ts';

const project = { project_id: 'project-id' };

/** A small cloud. It rejects all requests that would change it. */
async function rehearsed(): Promise<{ cloud: FakeCloud; rehearsal: RehearsedCloud }> {
  const cloud = fakeCloud();
  const answers: Readonly<Record<string, object>> = {
    'network/v2.0/networks': { networks: [{ id: 'n1', name: 'theirs', tags: ['a'], subnets: ['s1'], ...project }] },
    'network/v2.0/subnets': {
      subnets: [{ id: 's1', name: 'theirs', network_id: 'n1', cidr: '10.0.0.0/24', ...project }],
    },
    'network/v2.0/ports': { ports: [{ id: 'p1', name: 'theirs', network_id: 'n1', fixed_ips: [], ...project }] },
    'network/v2.0/security-groups': { security_groups: [] },
    'network/v2.0/floatingips': {
      floatingips: [
        { id: 'f1', floating_ip_address: '203.0.113.9', floating_network_id: 'x', port_id: 'p1', ...project },
      ],
    },
    'network/v2.0/routers': { routers: [] },
    'compute/v2.1/servers/detail': {
      servers: [
        {
          id: 'v1',
          name: 'old.one',
          status: 'ACTIVE',
          tenant_id: 'project-id',
          'os-extended-volumes:volumes_attached': [
            { id: 'd1', delete_on_termination: true },
            { id: 'd2', delete_on_termination: false },
          ],
        },
      ],
    },
    'volume/v3/project-id/volumes/detail': {
      volumes: ['d1', 'd2'].map((id) => ({ id, name: id, status: 'in-use', size: 5 })),
    },
    'load-balancer/v2.0/lbaas/loadbalancers': { loadbalancers: [] },
  };
  for (const [path, json] of Object.entries(answers)) cloud.on(`GET /${path}`, { json });
  return { cloud, rehearsal: await rehearse(cloud.connect()) };
}

const noted = ({ changes }: RehearsedCloud): string[] => changes.map(({ action, type }) => `${action} ${type}`);
const reads = ({ log }: FakeCloud): string[] => log.filter((line) => line.startsWith('GET'));

describe('a rehearsed cloud', () => {
  it('shows what was made and asks the cloud only for lists, each once', async () => {
    const { cloud, rehearsal } = await rehearsed();
    const { networks, subnets } = rehearsal.openstack.network;
    const network = await networks.create({ name: 'ours', description: 'mine' });
    const subnet = await subnets.create({ name: 'ours', networkId: network.id, cidr: '10.1.0.0/24', ipVersion: 4 });
    expect((await collect(networks.list())).map(({ name }) => name).sort()).toEqual(['ours', 'theirs']);
    expect((await collect(networks.list({ tags: ['a'] }))).map(({ name }) => name)).toEqual(['theirs']);
    expect((await networks.get(network.id)).subnetIds).toEqual([subnet.id]);
    expect(await subnets.find('ours', { networkId: network.id })).toEqual(subnet);
    expect(noted(rehearsal)).toEqual(['create network', 'create subnet']);
    expect(cloud.log.every((line) => line.startsWith('GET') || line.includes('/auth/tokens'))).toBe(true);
    expect(new Set(reads(cloud)).size).toBe(reads(cloud).length);
  });

  it('finds servers by pattern and by exact name, also after changes', async () => {
    const { rehearsal } = await rehearsed();
    const { servers } = rehearsal.openstack.compute;
    const names = async (name: string): Promise<string[]> =>
      (await collect(servers.list({ name }))).map((server) => server.name);
    expect(await names('^old\\.one$')).toEqual(['old.one']);
    expect(await names('^old.one$')).toEqual(['old.one']);
    expect(await names('^oldxone$')).toEqual([]);
    expect(await names('old')).toEqual(['old.one']);
    await servers.create({ name: 'new-1', flavorId: 'f', imageId: 'i', networks: 'none' });
    expect(await names('^new-1$')).toEqual(['new-1']);
    expect((await servers.find('new-1'))?.name).toBe('new-1');
    await servers.delete('v1');
    expect(await names('^old\\.one$')).toEqual([]);
    expect(await servers.find('old.one')).toBeUndefined();
  });

  it('finds nothing under an unknown id and refuses unknown filters', async () => {
    const { rehearsal } = await rehearsed();
    const { networks } = rehearsal.openstack.network;
    await expect(networks.get('nobody')).rejects.toMatchObject({ kind: 'notFound' });
    await expect(collect(networks.list({ colour: 'red' } as never))).rejects.toThrow('filter "colour"');
  });

  it('fails on unknown calls and passes none of them on', async () => {
    const { cloud, rehearsal } = await rehearsed();
    expect(() => rehearsal.openstack.compute.servers.reboot('v1', 'HARD')).toThrow('does not know the call "reboot"');
    expect(() => rehearsal.openstack.network.networks.update('n1', { name: 'x' })).toThrow('"update"');
    expect(cloud.log.filter((line) => !line.startsWith('GET') && !line.includes('/auth/tokens'))).toEqual([]);
  });

  it('allows all egress of a new security group, as neutron does, and notes only requested rules', async () => {
    const { rehearsal } = await rehearsed();
    const { securityGroups, securityGroupRules } = rehearsal.openstack.network;
    const group = await securityGroups.create({ name: 'g' });
    expect(group.rules.map(({ direction, ethertype }) => `${direction} ${ethertype}`)).toEqual([
      'egress IPv4',
      'egress IPv6',
    ]);
    const [rule] = await securityGroupRules.createMany([
      { securityGroupId: group.id, direction: 'ingress', protocol: 'tcp' },
    ]);
    expect((await securityGroups.get(group.id)).rules).toContainEqual(rule);
    expect(await securityGroupRules.delete(rule?.id ?? '')).toBe(true);
    expect(noted(rehearsal)).toEqual(['create securityGroup', 'create securityGroupRule', 'delete securityGroupRule']);
  });

  it('plugs a new server into its ports and shows their addresses, which belong to nobody', async () => {
    const { rehearsal } = await rehearsed();
    const { compute, network } = rehearsal.openstack;
    const [port] = await network.ports.createMany([{ networkId: 'n1', name: 'p' }]);
    const { id } = await compute.servers.create({ name: 's', flavorId: 'f', networks: [{ portId: port?.id ?? '' }] });
    const server = await compute.servers.get(id);
    expect(server.status).toBe('ACTIVE');
    expect(server.addresses['theirs']?.every(({ address }) => isRehearsedAddress(address))).toBe(true);
    expect((await network.ports.get(port?.id ?? '')).deviceId).toBe(id);
  });

  it('deletes volumes that go with their server and keeps addresses that led to a port', async () => {
    const { rehearsal } = await rehearsed();
    const { compute, network, volume } = rehearsal.openstack;
    expect((await collect(compute.servers.list({ name: '^old\\.one$' }))).map(({ id }) => id)).toEqual(['v1']);
    expect(await compute.servers.delete('v1')).toBe(true);
    expect(await compute.servers.delete('v1')).toBe(false);
    expect((await collect(volume.volumes.list())).map(({ id }) => id)).toEqual(['d2']);
    expect(await network.floatingIps.find('203.0.113.9')).toMatchObject({ portId: 'p1' });
    await network.ports.delete('p1');
    expect(await network.floatingIps.find('203.0.113.9')).toMatchObject({ portId: undefined });
    expect(noted(rehearsal)).toEqual(['delete server', 'delete volume', 'delete port']);
    expect(rehearsal.current('server', 'v1')).toBeUndefined();
  });

  it('notes a change with its fields when something differs, and none when nothing does', async () => {
    const { rehearsal } = await rehearsed();
    const { floatingIps, subnets, networks } = rehearsal.openstack.network;
    await subnets.update('s1', { dnsNameservers: [] });
    await subnets.update('s1', { dnsNameservers: ['9.9.9.9'] });
    await floatingIps.update('f1', { portId: 'p2' });
    await networks.replaceTags('n1', ['a', 'b']);
    expect(rehearsal.changes.map(({ type, fields }) => [type, fields])).toEqual([
      ['subnet', ['dnsNameservers']],
      ['floatingIp', ['portId']],
      ['network', ['tags']],
    ]);
    expect((await collect(networks.list({ tags: ['b'] }))).map(({ id }) => id)).toEqual(['n1']);
  });

  it('attaches listeners, pools and monitors to their load balancer', async () => {
    const { rehearsal } = await rehearsed();
    const { loadBalancer } = rehearsal.openstack;
    const balancer = await loadBalancer.loadBalancers.create({ name: 'b', vipNetworkId: 'n1' });
    const listener = await loadBalancer.listeners.create({
      name: 'l',
      loadBalancerId: balancer.id,
      protocol: 'TCP',
      protocolPort: 6443,
    });
    const pool = await loadBalancer.pools.create({
      name: 'l',
      protocol: 'TCP',
      algorithm: 'ROUND_ROBIN',
      listenerId: listener.id,
    });
    await loadBalancer.members(pool.id).create({ name: 'm', address: '10.0.0.1', protocolPort: 6443 });
    expect(await collect(loadBalancer.listeners.list({ loadBalancerId: balancer.id }))).toMatchObject([
      { defaultPoolId: pool.id },
    ]);
    expect(await collect(loadBalancer.pools.list({ loadBalancerId: balancer.id }))).toMatchObject([{ id: pool.id }]);
    expect(await collect(loadBalancer.members(pool.id).list())).toMatchObject([{ name: 'm' }]);
    expect((await loadBalancer.loadBalancers.get(balancer.id)).poolIds).toEqual([pool.id]);
  });
});
