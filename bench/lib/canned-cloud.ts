import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Transport } from '../../src/openstack/index.ts';

/** A cloud with constant answers, built once, so that only the client's own work is measured. */
export interface CannedCloud {
  /** answers by path and query, ignoring the host and the order of parameters */
  readonly pages: ReadonlyMap<string, Buffer>;
  readonly transport: Transport;
}

export interface CannedSize {
  servers: number;
  ports: number;
  loadBalancers: number;
  floatingIps: number;
  volumes: number;
}

const pageSize = 500;
const time = '2026-11-15T03:47:14Z';
const projectId = 'f'.repeat(32);
const id = (kind: number, index: number): string =>
  `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** In the format of nova 26. */
function server(index: number): object {
  return {
    id: id(1, index),
    name: `cluster-${Math.floor(index / 10)}-md-0-${index}`,
    status: 'ACTIVE',
    tenant_id: projectId,
    user_id: projectId,
    metadata: { depl: 'k8s' },
    hostId: 'a'.repeat(56),
    image: { id: id(9, 1), links: [{ rel: 'bookmark', href: `http://127.0.0.1:8774/images/${id(9, 1)}` }] },
    flavor: { vcpus: 2, ram: 4096, disk: 20, ephemeral: 0, swap: 0, original_name: 'm1.medium', extra_specs: {} },
    created: time,
    updated: time,
    addresses: {
      [`k8s-clusterapi-cluster-default-${Math.floor(index / 10)}`]: [
        {
          version: 4,
          addr: `10.6.${index >> 8}.${index & 255}`,
          'OS-EXT-IPS:type': 'fixed',
          'OS-EXT-IPS-MAC:mac_addr': 'fa:16:3e:00:00:01',
        },
      ],
    },
    accessIPv4: '',
    accessIPv6: '',
    links: [
      { rel: 'self', href: `http://127.0.0.1:8774/v2.1/servers/${id(1, index)}` },
      { rel: 'bookmark', href: `http://127.0.0.1:8774/servers/${id(1, index)}` },
    ],
    'OS-DCF:diskConfig': 'MANUAL',
    progress: 0,
    'OS-EXT-AZ:availability_zone': 'nova',
    config_drive: '',
    key_name: 'k',
    'OS-SRV-USG:launched_at': '2026-11-15T03:47:15.000000',
    'OS-SRV-USG:terminated_at': null,
    security_groups: [{ name: 'default' }],
    'OS-EXT-STS:task_state': null,
    'OS-EXT-STS:vm_state': 'active',
    'OS-EXT-STS:power_state': 1,
    'os-extended-volumes:volumes_attached': [],
    locked: false,
    locked_reason: null,
    description: null,
    tags: ['capstan'],
    trusted_image_certificates: null,
    server_groups: [],
    'OS-EXT-SRV-ATTR:hostname': `cluster-${index}`,
  };
}

const common = {
  project_id: projectId,
  tenant_id: projectId,
  description: '',
  tags: ['capstan'],
  created_at: time,
  updated_at: time,
};

function port(index: number): object {
  return {
    ...common,
    id: id(2, index),
    name: `cluster-${index}-0`,
    network_id: id(8, 1),
    admin_state_up: true,
    mac_address: 'fa:16:3e:00:00:01',
    device_id: id(1, index),
    device_owner: 'compute:nova',
    status: 'ACTIVE',
    fixed_ips: [{ subnet_id: id(8, 2), ip_address: `10.6.${index >> 8}.${index & 255}` }],
    allowed_address_pairs: [],
    extra_dhcp_opts: [],
    security_groups: [id(8, 3)],
    'binding:vnic_type': 'normal',
    port_security_enabled: true,
    qos_policy_id: null,
    qos_network_policy_id: null,
    dns_name: '',
    dns_assignment: [{ ip_address: '10.6.0.1', hostname: 'host', fqdn: 'host.openstacklocal.' }],
    dns_domain: '',
    revision_number: 4,
  };
}

function loadBalancer(index: number): object {
  return {
    ...common,
    id: id(3, index),
    name: `k8s-clusterapi-cluster-default-${index}-kubeapi`,
    provisioning_status: 'ACTIVE',
    operating_status: 'ONLINE',
    admin_state_up: true,
    vip_address: '10.6.0.9',
    vip_port_id: id(2, index),
    vip_subnet_id: id(8, 2),
    vip_network_id: id(8, 1),
    additional_vips: [],
    listeners: [{ id: id(4, index) }],
    pools: [{ id: id(5, index) }],
    provider: 'amphora',
    flavor_id: null,
    vip_qos_policy_id: null,
    availability_zone: null,
  };
}

function floatingIp(index: number): object {
  return {
    ...common,
    id: id(6, index),
    floating_ip_address: `203.0.${index >> 8}.${index & 255}`,
    floating_network_id: id(8, 9),
    router_id: id(8, 8),
    port_id: id(2, index),
    fixed_ip_address: '10.6.0.9',
    status: 'ACTIVE',
    port_details: {
      name: 'p',
      network_id: id(8, 1),
      mac_address: 'fa:16:3e:00:00:01',
      admin_state_up: true,
      status: 'ACTIVE',
      device_id: id(1, index),
      device_owner: 'Octavia',
    },
    port_forwardings: [],
    dns_domain: '',
    dns_name: '',
    qos_policy_id: null,
    revision_number: 2,
  };
}

function volume(index: number): object {
  return {
    id: id(7, index),
    name: `v-${index}`,
    status: 'in-use',
    size: 50,
    availability_zone: 'nova',
    created_at: '2026-11-15T03:48:17.294715',
    updated_at: '2026-11-15T03:48:18.294715',
    description: null,
    volume_type: '__DEFAULT__',
    metadata: {},
    bootable: 'true',
    encrypted: false,
    multiattach: false,
    attachments: [
      {
        id: id(7, index),
        attachment_id: id(7, index),
        volume_id: id(7, index),
        server_id: id(1, index),
        host_name: null,
        device: '/dev/vda',
      },
    ],
  };
}

export function cannedCloud(origin: string, size: CannedSize): CannedCloud {
  const pages = new Map<string, Buffer>();
  const put = (path: string, body: object): void => void pages.set(path, Buffer.from(JSON.stringify(body)));
  const list = (path: string, many: string, count: number, make: (index: number) => object): void => {
    for (let from = 0; ; from += pageSize) {
      const items: { id?: string }[] = [];
      for (let index = from; index < Math.min(count, from + pageSize); index++) items.push(make(index));
      const isFull = items.length === pageSize;
      const next = isFull
        ? [{ rel: 'next', href: `${origin}${path}?limit=${pageSize}&marker=${items.at(-1)!.id}` }]
        : [];
      const marker = from === 0 ? '' : `?marker=${(make(from - 1) as { id: string }).id}`;
      put(path + marker, { [many]: items, ...(isFull && { [`${many}_links`]: next }) });
      if (!isFull) return;
    }
  };
  list('/compute/v2.1/servers/detail', 'servers', size.servers, server);
  list('/network/v2.0/ports', 'ports', size.ports, port);
  list('/network/v2.0/floatingips', 'floatingips', size.floatingIps, floatingIp);
  list('/volume/v3/p/volumes/detail', 'volumes', size.volumes, volume);
  list('/load-balancer/v2.0/lbaas/loadbalancers', 'loadbalancers', size.loadBalancers, loadBalancer);
  put('/compute/v2.1/servers/detail?changes', { servers: [] });
  put('/compute/v2.1/servers/one', { server: server(1) });
  put('/compute/v2.1/', { version: { id: 'v2.1', status: 'CURRENT', version: '2.93', min_version: '2.1' } });
  put('/identity/v3/auth/tokens', tokenBody(origin));
  const transport: Transport = async (request) => answerFor(pages, request.url);
  return { pages, transport };
}

function tokenBody(origin: string): object {
  const services = [
    ['identity', '/identity'],
    ['compute', '/compute/v2.1'],
    ['network', '/network'],
    ['image', '/image'],
    ['volumev3', '/volume/v3/p'],
    ['load-balancer', '/load-balancer'],
  ];
  return {
    token: {
      methods: ['password'],
      user: { id: 'u', name: 'u', domain: { id: 'default', name: 'Default' } },
      project: { id: projectId, name: 'p', domain: { id: 'default', name: 'Default' } },
      roles: [],
      issued_at: '2026-11-15T03:00:00.000000Z',
      expires_at: '2026-11-16T03:00:00.000000Z',
      catalog: services.map(([type, path]) => ({
        type,
        name: type,
        endpoints: [{ interface: 'public', region_id: 'RegionOne', url: `${origin}${path}` }],
      })),
    },
  };
}

const headers = { 'content-type': 'application/json', 'x-subject-token': 'token', 'x-openstack-request-id': 'req-1' };

function answerFor(pages: ReadonlyMap<string, Buffer>, url: string): Awaited<ReturnType<Transport>> {
  const { pathname, searchParams } = new URL(url);
  const marker = searchParams.get('marker');
  const variant = searchParams.has('changes-since') ? '?changes' : marker === null ? '' : `?marker=${marker}`;
  const body = pages.get(pathname + variant);
  if (!body) throw new Error(`nothing canned for ${url}`);
  return { status: 200, headers, body };
}

/** Serves the same over HTTP from a separate process, so that its CPU time does not count. */
export async function serveCanned(
  pagesAt: (origin: string) => CannedCloud,
): Promise<{ origin: string; close(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', serverCode], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const message = async (): Promise<unknown> => (await once(child, 'message'))[0];
  const origin = `http://127.0.0.1:${Number(await message())}`;
  child.send([...pagesAt(origin).pages]);
  await message();
  return {
    origin,
    async close() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

const serverCode = `
const { createServer } = require('node:http');
const pages = new Map();
const server = createServer((request, response) => {
  request.resume();
  const { pathname, searchParams } = new URL(request.url, 'http://x');
  const marker = searchParams.get('marker');
  const variant = searchParams.has('changes-since') ? '?changes' : marker === null ? '' : '?marker=' + marker;
  const body = pages.get(pathname + variant);
  const headers = { 'content-type': 'application/json', 'x-subject-token': 'token', 'content-length': body ? body.length : 0 };
  response.writeHead(body ? 200 : 404, headers);
  response.end(body);
});
process.on('message', (entries) => {
  for (const [path, body] of entries) pages.set(path, Buffer.from(body));
  process.send('ready');
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
`;
