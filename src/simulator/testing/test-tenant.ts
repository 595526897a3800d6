import { smallWorld } from './small-world.ts';
import { type TestAnswer, type TestCloud, type TestUser, testCloud } from './test-cloud.ts';

/** A member with a network and the ids needed to create servers. */
export interface TestTenant extends TestCloud {
  readonly user: TestUser;
  readonly flavorId: string;
  readonly largeFlavorId: string;
  readonly disklessFlavorId: string;
  readonly imageId: string;
  readonly networkId: string;
  readonly subnetId: string;
  /** nova's answer; `path` follows the version, and the default microversion is 2.60 */
  nova(method: string, path: string, body?: unknown, version?: string): Promise<TestAnswer>;
  cinder(method: string, path: string, body?: unknown, version?: string): Promise<TestAnswer>;
  /** reads a part of a body by its path, for example `server.id` */
  read<T = string>(answer: TestAnswer, path: string): T;
  /** Creates a server on the network and returns its id. Given fields override the defaults. */
  makeServer(desired?: Record<string, unknown>): Promise<string>;
  /** the server as shown by nova */
  server(id: string): Promise<Record<string, unknown>>;
}

export function read<T = string>({ body }: TestAnswer, path: string): T {
  return path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)?.[key], body) as T;
}

export async function testTenant(options: Parameters<typeof testCloud>[0] = {}): Promise<TestTenant> {
  const base = await testCloud({ world: smallWorld, ...options });
  const user = await base.member('p');
  const nova: TestTenant['nova'] = (method, path, body, version = '2.60') =>
    user.request(method, `/compute/v2.1${path}`, body, { 'openstack-api-version': `compute ${version}` });
  const cinder: TestTenant['cinder'] = (method, path, body, version = '3.0') =>
    user.request(method, `/volume/v3/${user.projectId}${path}`, body, { 'openstack-api-version': `volume ${version}` });
  const flavors = read<{ id: string; name: string }[]>(await nova('GET', '/flavors'), 'flavors');
  const flavor = (name: string): string => flavors.find((each) => each.name === name)!.id;
  const imageId = read(await user.request('GET', '/image/v2/images?name=ubuntu'), 'images.0.id');
  const networkId = read(
    await user.request('POST', '/network/v2.0/networks', { network: { name: 'net' } }),
    'network.id',
  );
  const subnet = { network_id: networkId, ip_version: 4, cidr: '10.0.0.0/16' };
  const subnetId = read(await user.request('POST', '/network/v2.0/subnets', { subnet }), 'subnet.id');
  return {
    ...base,
    user,
    flavorId: flavor('small'),
    largeFlavorId: flavor('large'),
    disklessFlavorId: flavor('diskless'),
    imageId,
    networkId,
    subnetId,
    nova,
    cinder,
    read,
    async makeServer(desired = {}) {
      const server = {
        name: 's',
        flavorRef: flavor('small'),
        imageRef: imageId,
        networks: [{ uuid: networkId }],
        ...desired,
      };
      const answer = await nova('POST', '/servers', { server });
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
      return read(answer, 'server.id');
    },
    server: async (id) => read<Record<string, unknown>>(await nova('GET', `/servers/${id}`), 'server'),
  };
}
