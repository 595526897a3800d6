import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { connectWire, type WireCloud } from '../openstack/compare/wire.ts';

/** Variables the tests read, once as an administrator and once as a member. */
export interface Stage {
  readonly admin: Readonly<Record<string, string>>;
  readonly member: Readonly<Record<string, string>>;
  /** removes what was made for the tests */
  clear(): Promise<void>;
}

interface CloudEntry {
  readonly auth: Readonly<Record<string, string>>;
  readonly region_name?: string;
}

/** Of its own for each run: servers are put on it by name. */
const networkName = `gophercloud-${process.pid}`;

/**
 * What the tests expect to find in a cloud: an image, two flavors, an external network, and a network of their own to put
 * servers on. clouds.yaml needs the clouds `admin` (whose user must be called that: the tests look at the name) and
 * `openstack`, a member of a project.
 */
export async function prepareStage(cloudsYaml: string): Promise<Stage> {
  const { clouds } = parse(await readFile(cloudsYaml, 'utf8')) as { clouds: Record<string, CloudEntry> };
  const wire = await connectWire('gophercloud', cloudsYaml);
  const { images } = await must<{ images: { id: string; name: string }[] }>(
    wire,
    'image',
    'GET',
    '/v2/images?status=active',
  );
  const { flavors } = await must<{
    flavors: { id: string; ram: number; disk: number; 'OS-FLV-EXT-DATA:ephemeral': number }[];
  }>(wire, 'compute', 'GET', '/flavors/detail');
  const { networks } = await must<{ networks: { id: string; name: string }[] }>(
    wire,
    'network',
    'GET',
    '/v2.0/networks?router:external=true',
  );
  const image = images.find(({ name }) => name.startsWith('cirros')) ?? images[0];
  const [small, larger] = flavors.filter(({ disk }) => disk > 0).sort((a, b) => a.ram - b.ram);
  const external = networks[0];
  if (!image || !small || !larger || !external) {
    throw new Error('the cloud lacks an image, two flavors with disks or an external network');
  }
  const { network } = await must<{ network: { id: string } }>(wire, 'network', 'POST', '/v2.0/networks', {
    network: { name: networkName, shared: true },
  });
  const { subnet } = await must<{ subnet: { id: string } }>(wire, 'network', 'POST', '/v2.0/subnets', {
    subnet: { name: networkName, network_id: network.id, ip_version: 4, cidr: '10.77.0.0/16' },
  });
  const found = {
    OS_IMAGE_ID: image.id,
    OS_FLAVOR_ID: small.id,
    OS_FLAVOR_ID_RESIZE: larger.id,
    OS_NETWORK_NAME: networkName,
    OS_NETWORK_ID: network.id,
    OS_SUBNET_ID: subnet.id,
    OS_POOL_NAME: external.name,
    OS_EXTGW_ID: external.id,
    // The tests of newer releases are left out by their own conditions.
    OS_BRANCH: 'stable/zed',
  };
  return {
    admin: { ...credentials(clouds['admin']!), ...found },
    member: { ...credentials(clouds['openstack']!), ...found },
    async clear() {
      await wire.send({ as: 'admin', service: 'network', method: 'DELETE', path: `/v2.0/networks/${network.id}` });
    },
  };
}

function credentials({ auth, region_name = 'RegionOne' }: CloudEntry): Record<string, string> {
  const variables: Record<string, string> = { OS_REGION_NAME: region_name, OS_IDENTITY_API_VERSION: '3' };
  for (const [name, value] of Object.entries(auth)) variables[`OS_${name.toUpperCase()}`] = value;
  // gophercloud reads one domain for both.
  variables['OS_DOMAIN_NAME'] ??= auth['user_domain_name'] ?? 'Default';
  return variables;
}

async function must<T>(wire: WireCloud, service: string, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await wire.send({ as: 'admin', service, method, path, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}
