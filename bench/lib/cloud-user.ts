import {
  createCloud,
  defaultWorld,
  type SimulatedCloud,
  type Transport,
  type World,
} from '../../src/simulator/index.ts';

const unlimited = {
  compute: { instances: -1, cores: -1, ram: -1, metadata_items: 128 },
  network: { network: -1, subnet: -1, port: -1, router: -1, floatingip: -1, security_group: -1 },
  volume: { volumes: -1, gigabytes: -1, snapshots: -1 },
};

/** The default world without quotas, which would limit the benchmark. */
export const benchWorld: World = {
  ...defaultWorld,
  projects: [
    {
      name: 'bench',
      quotas: unlimited,
      users: [{ name: 'bench', password: 'bench', roles: ['member', 'reader', 'load-balancer_member'] }],
      networks: [{ name: 'bench', cidr: '10.0.0.0/12' }],
    },
  ],
};

/** A user of a cloud, with everything needed to create servers. */
export interface CloudUser {
  send(method: string, path: string, body?: unknown): Promise<{ status: number; body: Uint8Array }>;
  sendText(method: string, path: string, body: string): Promise<{ status: number; body: Uint8Array }>;
  ask<T>(method: string, path: string, body?: unknown): Promise<T>;
  readonly token: string;
  readonly flavorId: string;
  readonly imageId: string;
  readonly networkId: string;
}

const decoder = new TextDecoder();

export async function enterCloud(transport: Transport, origin: string): Promise<CloudUser> {
  const domain = { id: 'default' };
  const login = await transport({
    method: 'POST',
    url: `${origin}/identity/v3/auth/tokens`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: {
        identity: { methods: ['password'], password: { user: { name: 'bench', domain, password: 'bench' } } },
        scope: { project: { name: 'bench', domain } },
      },
    }),
  });
  const token = login.headers['x-subject-token'];
  if (token === undefined) throw new Error(`no token: ${decoder.decode(login.body)}`);
  const headers = {
    'x-auth-token': token,
    'content-type': 'application/json',
    'openstack-api-version': 'compute 2.60',
  };
  const send: CloudUser['send'] = (method, path, body) =>
    transport({ method, url: origin + path, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const sendText: CloudUser['sendText'] = (method, path, body) =>
    transport({ method, url: origin + path, headers, body });
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${decoder.decode(answer.body)}`);
    return (answer.body.length === 0 ? undefined : JSON.parse(decoder.decode(answer.body))) as T;
  };
  const { flavors } = await ask<{ flavors: { id: string; name: string }[] }>('GET', '/compute/v2.1/flavors');
  const { images } = await ask<{ images: { id: string }[] }>('GET', '/image/v2/images?name=ubuntu-22.04-x86_64');
  const { networks } = await ask<{ networks: { id: string }[] }>('GET', '/network/v2.0/networks?name=bench');
  const flavorId = flavors.find(({ name }) => name === 'm1.tiny')!.id;
  return { send, sendText, ask, token, flavorId, imageId: images[0]!.id, networkId: networks[0]!.id };
}

/**
 * Creates a port and a server on it, and returns their ids. Bodies are assembled from prepared texts, so that building
 * them costs little.
 */
export async function makeServer(user: CloudUser, name: string): Promise<{ portId: string; serverId: string }> {
  const port = await user.sendText(
    'POST',
    '/network/v2.0/ports',
    `{"port":{"network_id":"${user.networkId}","name":"${name}"}}`,
  );
  const portId = idIn(port);
  const server = await user.sendText(
    'POST',
    '/compute/v2.1/servers',
    `{"server":{"name":"${name}","flavorRef":"${user.flavorId}","imageRef":"${user.imageId}","networks":[{"port":"${portId}"}],${serverRest}`,
  );
  return { portId, serverId: idIn(server) };
}

const idMark = Buffer.from('"id":"');

function idIn({ status, body }: { status: number; body: Uint8Array }): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const at = bytes.indexOf(idMark);
  if (status >= 300 || at < 0) throw new Error(`${status} ${bytes.toString()}`);
  return bytes.toString('latin1', at + idMark.length, at + idMark.length + 36);
}

/** A few kilobytes, the size of a node's bootstrap data. */
const userData = Buffer.from('#cloud-config\n'.padEnd(3000, 'x')).toString('base64');
const serverRest = `"tags":["bench","cluster"],"metadata":{"purpose":"bench"},"user_data":"${userData}"}}`;

export function benchCloud(options: Omit<Parameters<typeof createCloud>[0], 'world'>): Promise<SimulatedCloud> {
  return createCloud({ ...options, world: benchWorld });
}
