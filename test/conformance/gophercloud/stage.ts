import { ask, type CloudEntry, findContent } from '../upstream/content.ts';

/** Environment variables of the tests, for an administrator and for a member. */
export interface Stage {
  readonly admin: Readonly<Record<string, string>>;
  readonly member: Readonly<Record<string, string>>;
  /** removes everything created for the tests */
  clear(): Promise<void>;
}

/** Unique per run, because servers refer to the network by name. */
const networkName = `gophercloud-${process.pid}`;

/**
 * Finds the resources the tests need in a cloud, and creates a network for servers. The user of the entry `admin` in
 * clouds.yaml must be named `admin`, because the tests check the name.
 */
export async function prepareStage(cloudsYaml: string): Promise<Stage> {
  const { clouds, wire, image, small, larger, external } = await findContent(cloudsYaml);
  const { network } = await ask<{ network: { id: string } }>(wire, 'network', 'POST', '/v2.0/networks', {
    network: { name: networkName, shared: true },
  });
  const { subnet } = await ask<{ subnet: { id: string } }>(wire, 'network', 'POST', '/v2.0/subnets', {
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
    // Tests for newer releases skip themselves.
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
  // gophercloud reads one domain for both user and project.
  variables['OS_DOMAIN_NAME'] ??= auth['user_domain_name'] ?? 'Default';
  return variables;
}
