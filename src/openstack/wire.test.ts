import { describe, expect, it } from 'vitest';
import type { OpenStack } from './openstack.ts';
import { collect } from './resource/pages.ts';
import { type FakeAnswer, fakeCloud } from './testing/fake-cloud.ts';

/** The request of one call, and the parsed result. */
type Row = [
  name: string,
  call: (cloud: OpenStack) => Promise<unknown>,
  route: string,
  body: unknown,
  answer: FakeAnswer,
  result?: unknown,
];

const server = { id: 's1', name: 's', status: 'BUILD' };
const port = {
  id: 'p1',
  name: 'p',
  network_id: 'n',
  status: 'DOWN',
  fixed_ips: [{ subnet_id: 'sn', ip_address: '10.0.0.5' }],
};
const balancer = { id: 'lb1', name: 'lb', provisioning_status: 'PENDING_CREATE', listeners: [{ id: 'l1' }], pools: [] };

const rows: Row[] = [
  [
    'a server with everything',
    (cloud) =>
      cloud.compute.servers.create({
        name: 's',
        flavorId: 'f',
        imageId: 'i',
        networks: [{ portId: 'p1' }, { networkId: 'n', fixedIp: '10.0.0.9' }],
        availabilityZone: 'az',
        userData: '#cloud-config',
        keyName: 'k',
        tags: ['t'],
        metadata: { a: 'b' },
        configDrive: true,
        serverGroupId: 'g',
        schedulerHints: { different_host: ['x'] },
        blockDevices: [{ source: 'volume', destination: 'volume', id: 'v', bootIndex: 0, deleteOnTermination: true }],
        securityGroups: ['default'],
        description: 'd',
      }),
    'POST /compute/v2.1/servers',
    {
      server: {
        name: 's',
        flavorRef: 'f',
        imageRef: 'i',
        networks: [{ port: 'p1' }, { uuid: 'n', fixed_ip: '10.0.0.9' }],
        availability_zone: 'az',
        user_data: Buffer.from('#cloud-config').toString('base64'),
        key_name: 'k',
        tags: ['t'],
        metadata: { a: 'b' },
        config_drive: true,
        block_device_mapping_v2: [
          { source_type: 'volume', destination_type: 'volume', uuid: 'v', boot_index: 0, delete_on_termination: true },
        ],
        security_groups: [{ name: 'default' }],
        description: 'd',
      },
      'os:scheduler_hints': { different_host: ['x'], group: 'g' },
    },
    { status: 202, json: { server: { id: 's1', adminPass: 'never kept' } } },
    { id: 's1' },
  ],
  [
    'a stop',
    (cloud) => cloud.compute.servers.stop('s1'),
    'POST /compute/v2.1/servers/s1/action',
    { 'os-stop': null },
    { status: 202 },
  ],
  [
    'a reboot',
    (cloud) => cloud.compute.servers.reboot('s1', 'HARD'),
    'POST /compute/v2.1/servers/s1/action',
    { reboot: { type: 'HARD' } },
    { status: 202 },
  ],
  [
    'console output',
    (cloud) => cloud.compute.servers.consoleOutput('s1', { lines: 2 }),
    'POST /compute/v2.1/servers/s1/action',
    { 'os-getConsoleOutput': { length: 2 } },
    { json: { output: 'a\nb' } },
    'a\nb',
  ],
  [
    'a new name',
    (cloud) => cloud.compute.servers.update('s1', { name: 'n' }),
    'PUT /compute/v2.1/servers/s1',
    { server: { name: 'n' } },
    { json: { server } },
  ],
  [
    'tags of a server',
    (cloud) => cloud.compute.servers.replaceTags('s1', ['a', 'b']),
    'PUT /compute/v2.1/servers/s1/tags',
    { tags: ['a', 'b'] },
    { json: { tags: ['a', 'b'] } },
  ],
  [
    'metadata',
    (cloud) => cloud.compute.servers.setMetadata('s1', { a: 'b' }),
    'POST /compute/v2.1/servers/s1/metadata',
    { metadata: { a: 'b' } },
    { json: {} },
  ],
  [
    'an interface',
    (cloud) => cloud.compute.servers.attachInterface('s1', { portId: 'p1' }),
    'POST /compute/v2.1/servers/s1/os-interface',
    { interfaceAttachment: { port_id: 'p1' } },
    {
      json: { interfaceAttachment: { port_id: 'p1', net_id: 'n', mac_addr: 'm', port_state: 'ACTIVE', fixed_ips: [] } },
    },
    { portId: 'p1', networkId: 'n', macAddress: 'm', state: 'ACTIVE', fixedIps: [] },
  ],
  [
    'a volume at a server',
    (cloud) => cloud.compute.servers.attachVolume('s1', { volumeId: 'v' }),
    'POST /compute/v2.1/servers/s1/os-volume_attachments',
    { volumeAttachment: { volumeId: 'v' } },
    { json: { volumeAttachment: { volumeId: 'v', serverId: 's1', device: '/dev/vdb' } } },
    { volumeId: 'v', serverId: 's1', device: '/dev/vdb' },
  ],
  [
    'a key pair',
    (cloud) => cloud.compute.keypairs.create({ name: 'k', publicKey: 'ssh-ed25519 A' }),
    'POST /compute/v2.1/os-keypairs',
    { keypair: { name: 'k', public_key: 'ssh-ed25519 A' } },
    { status: 201, json: { keypair: { name: 'k', public_key: 'ssh-ed25519 A', fingerprint: 'f', type: 'ssh' } } },
  ],
  [
    'key pairs, wrapped twice',
    (cloud) => collect(cloud.compute.keypairs.list()),
    'GET /compute/v2.1/os-keypairs',
    undefined,
    { json: { keypairs: [{ keypair: { name: 'k', public_key: 'p', fingerprint: 'f' } }] } },
    [{ name: 'k', publicKey: 'p', fingerprint: 'f', type: undefined }],
  ],
  [
    'a server group',
    (cloud) => cloud.compute.serverGroups.create({ name: 'g', policy: 'anti-affinity' }),
    'POST /compute/v2.1/os-server-groups',
    { server_group: { name: 'g', policy: 'anti-affinity' } },
    { json: { server_group: { id: 'g1', name: 'g', policy: 'anti-affinity', members: [] } } },
    { id: 'g1', name: 'g', policy: 'anti-affinity', members: [] },
  ],
  [
    'a port with everything',
    (cloud) =>
      cloud.network.ports.create({
        networkId: 'n',
        name: 'p',
        fixedIps: [{ subnetId: 'sn' }, { address: '10.0.0.7' }],
        securityGroupIds: ['sg'],
        allowedAddressPairs: [{ address: '10.1.0.0/24', macAddress: 'm' }],
        portSecurityEnabled: true,
        vnicType: 'direct',
        profile: { capabilities: ['switchdev'] },
        extra: { 'x:y': 1 },
      }),
    'POST /network/v2.0/ports',
    {
      port: {
        network_id: 'n',
        name: 'p',
        fixed_ips: [{ subnet_id: 'sn' }, { ip_address: '10.0.0.7' }],
        security_groups: ['sg'],
        allowed_address_pairs: [{ ip_address: '10.1.0.0/24', mac_address: 'm' }],
        port_security_enabled: true,
        'binding:vnic_type': 'direct',
        'binding:profile': { capabilities: ['switchdev'] },
        'x:y': 1,
      },
    },
    { status: 201, json: { port } },
  ],
  [
    'several ports',
    (cloud) => cloud.network.ports.createMany([{ networkId: 'n' }, { networkId: 'm' }]),
    'POST /network/v2.0/ports',
    { ports: [{ network_id: 'n' }, { network_id: 'm' }] },
    { status: 201, json: { ports: [port] } },
  ],
  [
    'a network',
    (cloud) => cloud.network.networks.create({ name: 'n', mtu: 1400, portSecurityEnabled: false }),
    'POST /network/v2.0/networks',
    { network: { name: 'n', mtu: 1400, port_security_enabled: false } },
    { status: 201, json: { network: { id: 'n1', name: 'n' } } },
  ],
  [
    'a subnet without gateway',
    (cloud) =>
      cloud.network.subnets.create({
        networkId: 'n',
        cidr: '10.0.0.0/24',
        ipVersion: 4,
        gatewayIp: null,
        dnsNameservers: ['1.1.1.1'],
      }),
    'POST /network/v2.0/subnets',
    { subnet: { network_id: 'n', cidr: '10.0.0.0/24', ip_version: 4, gateway_ip: null, dns_nameservers: ['1.1.1.1'] } },
    { status: 201, json: { subnet: { id: 's', name: '', network_id: 'n', cidr: '10.0.0.0/24', ip_version: 4 } } },
  ],
  [
    'a router with a gateway',
    (cloud) =>
      cloud.network.routers.create({ name: 'r', gateway: { networkId: 'x', fixedIps: [{ address: '1.2.3.4' }] } }),
    'POST /network/v2.0/routers',
    {
      router: {
        name: 'r',
        external_gateway_info: { network_id: 'x', external_fixed_ips: [{ ip_address: '1.2.3.4' }] },
      },
    },
    {
      status: 201,
      json: {
        router: {
          id: 'r1',
          name: 'r',
          external_gateway_info: { network_id: 'x', external_fixed_ips: [], enable_snat: true },
        },
      },
    },
  ],
  [
    'a gateway taken away',
    (cloud) => cloud.network.routers.update('r1', { gateway: null }),
    'PUT /network/v2.0/routers/r1',
    { router: { external_gateway_info: {} } },
    { json: { router: { id: 'r1', name: 'r', external_gateway_info: null } } },
  ],
  [
    'a router interface',
    (cloud) => cloud.network.routers.addInterface('r1', { subnetId: 's' }),
    'PUT /network/v2.0/routers/r1/add_router_interface',
    { subnet_id: 's' },
    { json: { id: 'r1', port_id: 'p', subnet_id: 's', network_id: 'n' } },
    { portId: 'p', subnetId: 's', networkId: 'n' },
  ],
  [
    'a trunk',
    (cloud) =>
      cloud.network.trunks.create({
        portId: 'p',
        name: 't',
        subports: [{ portId: 'q', segmentationType: 'vlan', segmentationId: 7 }],
      }),
    'POST /network/v2.0/trunks',
    {
      trunk: { port_id: 'p', sub_ports: [{ port_id: 'q', segmentation_type: 'vlan', segmentation_id: 7 }], name: 't' },
    },
    { status: 201, json: { trunk: { id: 't1', name: 't', port_id: 'p', sub_ports: [] } } },
  ],
  [
    'subports taken away',
    (cloud) => cloud.network.trunks.removeSubports('t1', ['q']),
    'PUT /network/v2.0/trunks/t1/remove_subports',
    { sub_ports: [{ port_id: 'q' }] },
    { json: { id: 't1', name: 't', port_id: 'p', sub_ports: [] } },
  ],
  [
    'security group rules',
    (cloud) =>
      cloud.network.securityGroupRules.createMany([
        {
          securityGroupId: 'g',
          direction: 'ingress',
          protocol: 'tcp',
          portRangeMin: 1,
          portRangeMax: 2,
          remoteGroupId: 'h',
        },
      ]),
    'POST /network/v2.0/security-group-rules',
    {
      security_group_rules: [
        {
          security_group_id: 'g',
          direction: 'ingress',
          protocol: 'tcp',
          port_range_min: 1,
          port_range_max: 2,
          remote_group_id: 'h',
        },
      ],
    },
    { status: 201, json: { security_group_rules: [] } },
  ],
  [
    'a floating IP',
    (cloud) => cloud.network.floatingIps.create({ networkId: 'x', portId: 'p', description: 'd' }),
    'POST /network/v2.0/floatingips',
    { floatingip: { floating_network_id: 'x', port_id: 'p', description: 'd' } },
    {
      status: 201,
      json: { floatingip: { id: 'f', floating_ip_address: '1.2.3.4', floating_network_id: 'x', port_id: 'p' } },
    },
  ],
  [
    'a floating IP set free',
    (cloud) => cloud.network.floatingIps.update('f', { portId: null }),
    'PUT /network/v2.0/floatingips/f',
    { floatingip: { port_id: null } },
    { json: { floatingip: { id: 'f', floating_ip_address: '1.2.3.4' } } },
  ],
  [
    'tags of a network',
    (cloud) => cloud.network.networks.replaceTags('n1', ['t']),
    'PUT /network/v2.0/networks/n1/tags',
    { tags: ['t'] },
    { json: { tags: ['t'] } },
  ],
  [
    'a volume',
    (cloud) => cloud.volume.volumes.create({ name: 'v', size: 5, imageId: 'i', volumeType: 'fast' }),
    'POST /volume/v3/project-id/volumes',
    { volume: { size: 5, volume_type: 'fast', imageRef: 'i', name: 'v' } },
    { status: 202, json: { volume: { id: 'v1', name: 'v', status: 'creating', size: 5, bootable: 'false' } } },
  ],
  [
    'a larger volume',
    (cloud) => cloud.volume.volumes.extend('v1', 9),
    'POST /volume/v3/project-id/volumes/v1/action',
    { 'os-extend': { new_size: 9 } },
    { status: 202 },
  ],
  [
    'a load balancer',
    (cloud) => cloud.loadBalancer.loadBalancers.create({ name: 'lb', vipSubnetId: 's', tags: ['t'] }),
    'POST /load-balancer/v2.0/lbaas/loadbalancers',
    { loadbalancer: { vip_subnet_id: 's', name: 'lb', tags: ['t'] } },
    { status: 201, json: { loadbalancer: balancer } },
  ],
  [
    'a listener',
    (cloud) =>
      cloud.loadBalancer.listeners.create({
        name: 'l',
        loadBalancerId: 'lb1',
        protocol: 'TCP',
        protocolPort: 6443,
        allowedCidrs: ['10.0.0.0/8'],
      }),
    'POST /load-balancer/v2.0/lbaas/listeners',
    {
      listener: {
        loadbalancer_id: 'lb1',
        protocol: 'TCP',
        protocol_port: 6443,
        name: 'l',
        allowed_cidrs: ['10.0.0.0/8'],
      },
    },
    { status: 201, json: { listener: { id: 'l1', name: 'l', protocol: 'TCP', protocol_port: 6443 } } },
  ],
  [
    'a pool',
    (cloud) =>
      cloud.loadBalancer.pools.create({ name: 'p', listenerId: 'l1', protocol: 'TCP', algorithm: 'ROUND_ROBIN' }),
    'POST /load-balancer/v2.0/lbaas/pools',
    { pool: { protocol: 'TCP', listener_id: 'l1', name: 'p', lb_algorithm: 'ROUND_ROBIN' } },
    { status: 201, json: { pool: { id: 'p1', name: 'p', protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' } } },
  ],
  [
    'a member',
    (cloud) => cloud.loadBalancer.members('p1').create({ address: '10.0.0.5', protocolPort: 6443, name: 'm' }),
    'POST /load-balancer/v2.0/lbaas/pools/p1/members',
    { member: { address: '10.0.0.5', protocol_port: 6443, name: 'm' } },
    { status: 201, json: { member: { id: 'm1', name: 'm', address: '10.0.0.5', protocol_port: 6443 } } },
  ],
  [
    'all members at once',
    (cloud) => cloud.loadBalancer.members('p1').replaceAll([{ address: '10.0.0.5', protocolPort: 6443 }]),
    'PUT /load-balancer/v2.0/lbaas/pools/p1/members',
    { members: [{ address: '10.0.0.5', protocol_port: 6443 }] },
    { status: 202 },
  ],
  [
    'a monitor',
    (cloud) =>
      cloud.loadBalancer.healthMonitors.create({
        name: 'h',
        poolId: 'p1',
        type: 'TCP',
        delay: 10,
        timeout: 5,
        maxRetries: 5,
      }),
    'POST /load-balancer/v2.0/lbaas/healthmonitors',
    { healthmonitor: { pool_id: 'p1', type: 'TCP', name: 'h', delay: 10, timeout: 5, max_retries: 5 } },
    {
      status: 201,
      json: { healthmonitor: { id: 'h1', name: 'h', type: 'TCP', delay: 10, timeout: 5, max_retries: 5 } },
    },
  ],
  [
    'an image',
    (cloud) =>
      cloud.image.images.create({
        name: 'i',
        diskFormat: 'qcow2',
        containerFormat: 'bare',
        tags: ['t'],
        properties: { os_distro: 'x' },
      }),
    'POST /image/v2/images',
    { os_distro: 'x', name: 'i', disk_format: 'qcow2', container_format: 'bare', tags: ['t'] },
    { status: 201, json: { id: 'i1', name: 'i', status: 'queued', os_distro: 'x' } },
  ],
];

describe('requests and answers on the wire', () => {
  it.each(rows)('match for %s', async (_name, call, route, body, answer, result) => {
    const cloud = fakeCloud();
    cloud.on(route, answer);
    const outcome = await call(cloud.connect());
    const sent = cloud.requests.at(-1)!;
    expect(`${sent.method} ${sent.path}`).toBe(route);
    expect(sent.json).toEqual(body);
    if (result !== undefined) expect(outcome).toEqual(result);
  });
});

describe('filters', () => {
  it.each<[string, (cloud: OpenStack) => AsyncIterable<unknown>, string, string]>([
    [
      'servers',
      (cloud) =>
        cloud.compute.servers.list({ tags: ['a', 'b'], changesSince: '2020-01-01T00:00:00Z', status: 'ACTIVE' }),
      'servers',
      '/compute/v2.1/servers/detail?status=ACTIVE&tags=a,b&changes-since=2020-01-01T00:00:00Z',
    ],
    [
      'external networks',
      (cloud) => cloud.network.networks.list({ external: true, notTags: ['x'] }),
      'networks',
      '/network/v2.0/networks?router:external=true&not-tags=x',
    ],
    [
      'ports by address',
      (cloud) =>
        cloud.network.ports.list({ networkId: 'n', fixedIp: { address: '10.0.0.5', subnetId: 's' }, id: ['a', 'b'] }),
      'ports',
      '/network/v2.0/ports?network_id=n&id=a&id=b&fixed_ips=subnet_id=s&fixed_ips=ip_address=10.0.0.5',
    ],
    [
      'floating IPs',
      (cloud) => cloud.network.floatingIps.list({ address: '1.2.3.4', portId: 'p', tagsAny: ['t'] }),
      'floatingips',
      '/network/v2.0/floatingips?floating_ip_address=1.2.3.4&port_id=p&tags-any=t',
    ],
    [
      'images',
      (cloud) =>
        cloud.image.images.list({
          name: 'in:side',
          tags: ['a', 'b'],
          properties: { os_distro: 'u' },
          visibility: 'public',
        }),
      'images',
      '/image/v2/images?os_distro=u&name=in:"in:side"&visibility=public&tag=a&tag=b&limit=1000',
    ],
    [
      'volumes',
      (cloud) => cloud.volume.volumes.list({ name: 'v', metadata: { a: 'b' } }),
      'volumes',
      '/volume/v3/project-id/volumes/detail?name=v&metadata={"a":"b"}',
    ],
    [
      'listeners',
      (cloud) => cloud.loadBalancer.listeners.list({ loadBalancerId: 'lb', tags: ['t'] }),
      'listeners',
      '/load-balancer/v2.0/lbaas/listeners?tags=t&loadbalancer_id=lb',
    ],
  ])('are sent in the URL for %s', async (_name, list, many, url) => {
    const cloud = fakeCloud();
    cloud.on(`GET ${url.split('?')[0]}`, { json: { [many]: [] } });
    await collect(list(cloud.connect()));
    expect(cloud.log.at(-1)).toBe(`GET ${url}`);
  });
});

describe('a server', () => {
  it('is read with all its fields', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /compute/v2.1/servers/s1', {
      json: {
        server: {
          id: 's1',
          name: 's',
          status: 'ERROR',
          image: '',
          flavor: { original_name: 'm1.small', vcpus: 1, ram: 2048, disk: 20 },
          fault: { code: 500, message: 'No valid host was found.', created: '2026-11-15T03:47:14Z' },
          addresses: {
            net: [{ version: 4, addr: '10.0.0.5', 'OS-EXT-IPS:type': 'floating', 'OS-EXT-IPS-MAC:mac_addr': 'fa:16' }],
          },
          config_drive: 'True',
          'OS-SRV-USG:launched_at': '2026-11-15T03:47:15.000000',
          'OS-EXT-STS:task_state': null,
          'os-extended-volumes:volumes_attached': [{ id: 'v', delete_on_termination: true }],
        },
      },
    });
    expect(await cloud.connect().compute.servers.get('s1')).toMatchObject({
      imageId: undefined,
      flavor: { name: 'm1.small', vcpus: 1 },
      fault: { code: 500, message: 'No valid host was found.' },
      addresses: { net: [{ address: '10.0.0.5', version: 4, type: 'floating', macAddress: 'fa:16' }] },
      configDrive: true,
      launchedAt: '2026-11-15T03:47:15.000000Z',
      taskState: undefined,
      volumes: [{ id: 'v', deleteOnTermination: true }],
      tags: [],
    });
  });
});

describe('an image', () => {
  it('sends new, changed and removed properties in one patch', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /image/v2/images/i', { json: { id: 'i', name: 'n', status: 'active', old: '1', 'a/b': '2' } });
    cloud.on('PATCH /image/v2/images/i', { json: { id: 'i', name: 'n', status: 'active' } });
    await cloud.connect().image.images.setProperties('i', { old: null, 'a/b': '3', fresh: '4', absent: null });
    const sent = cloud.requests.at(-1)!;
    expect(sent.headers['content-type']).toBe('application/openstack-images-v2.1-json-patch');
    expect(JSON.parse(Buffer.from(sent.body as Uint8Array).toString())).toEqual([
      { op: 'remove', path: '/old' },
      { op: 'replace', path: '/a~1b', value: '3' },
      { op: 'add', path: '/fresh', value: '4' },
    ]);
  });

  it('is uploaded from a stream even over a transport without streams', async () => {
    const cloud = fakeCloud();
    cloud.on('PUT /image/v2/images/i/file', { status: 204 });
    async function* content(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('ab');
      yield Buffer.from('cd');
    }
    await cloud.connect().image.images.upload('i', content());
    expect(Buffer.from(cloud.requests.at(-1)!.body as Uint8Array).toString()).toBe('abcd');
  });
});
