import type { TestAnswer, TestUser } from '../../testing/test-cloud.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests walk freely through answers of many shapes
export type Json = any;

/** Client of one service. It unwraps bodies. */
export interface ServiceClient {
  readonly user: TestUser;
  /** returns the whole answer; `path` is below the service's API */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  list(path: string): Promise<Json[]>;
  get(path: string): Promise<Json>;
  /** Creates an object and expects success. `kind` is the wrapper, for example `security_group`. */
  make(kind: string, desired: object): Promise<Json>;
  change(kind: string, id: string, changes: object): Promise<Json>;
  remove(kind: string, id: string): Promise<void>;
}

/** Paths of collections that are not the wrapper plus `s`. */
const paths: Readonly<Record<string, string>> = {
  security_group: 'security-groups',
  security_group_rule: 'security-group-rules',
  l7policy: 'l7policies',
  rbac_policy: 'rbac-policies',
  address_scope: 'address-scopes',
  address_group: 'address-groups',
  policy: 'qos/policies',
};

export function clientOf(user: TestUser, root: string): ServiceClient {
  const send: ServiceClient['send'] = (method, path, body, headers) =>
    user.request(method, `${root}${path}`, body, headers);
  const must = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const pathOf = (kind: string): string => `/${paths[kind] ?? `${kind}s`}`;
  return {
    user,
    send,
    async list(path) {
      const body = await must('GET', path);
      return body[Object.keys(body).find((key) => !key.endsWith('_links'))!];
    },
    async get(path) {
      const body = await must('GET', path);
      return Object.values(body)[0];
    },
    make: async (kind, desired) => (await must('POST', pathOf(kind), { [kind]: desired }))[kind],
    change: async (kind, id, changes) => (await must('PUT', `${pathOf(kind)}/${id}`, { [kind]: changes }))[kind],
    remove: async (kind, id) => void (await must('DELETE', `${pathOf(kind)}/${id}`)),
  };
}

export function networkClient(user: TestUser): ServiceClient {
  return clientOf(user, '/network/v2.0');
}

export function loadBalancerClient(user: TestUser): ServiceClient {
  return clientOf(user, '/load-balancer/v2.0/lbaas');
}

/** Returns the status and neutron's error type. */
export function refusalOf({ status, body }: TestAnswer): [status: number, type: string | undefined] {
  return [status, (body as Json)?.NeutronError?.type];
}

/** Creates a network with one subnet. */
export async function makeNetwork(
  network: ServiceClient,
  cidr: string,
  more: object = {},
): Promise<{ networkId: string; subnetId: string }> {
  const { id: networkId } = await network.make('network', { name: 'n' });
  const { id: subnetId } = await network.make('subnet', { network_id: networkId, ip_version: 4, cidr, ...more });
  return { networkId, subnetId };
}

/** Creates the external network. */
export async function makeExternal(admin: ServiceClient, cidr = '203.0.113.0/24'): Promise<string> {
  const { id } = await admin.make('network', { name: 'public', 'router:external': true });
  await admin.make('subnet', { network_id: id, ip_version: 4, cidr, enable_dhcp: false });
  return id;
}
