import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Json,
  loadBalancerClient,
  makeExternal,
  networkClient,
  type ServiceClient,
} from '../network/testing/requests.ts';
import { testCloud } from '../testing/test-cloud.ts';

/** Resources of a project, one letter per create action. Most of them refer to existing resources. */
const specs = fc.array(fc.tuple(fc.constantFrom(...'nsprifgtlLPMH'), fc.nat(1_000), fc.nat(1_000)), {
  minLength: 5,
  maxLength: 50,
});

/** One resource of each kind, so that later actions have something to refer to. */
const prelude = [...'nsrigplLPMH'].map((kind) => [kind, 0, 0] as const);

const networkKinds = ['floatingips', 'trunks', 'ports', 'routers', 'subnets', 'networks', 'security-groups'];

describe('a project with anything in it', () => {
  it('is empty after everything was deleted in any order that works', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), specs, async (seed, wanted) => {
        const cloud = await testCloud({ seed });
        const user = await cloud.member();
        const network = networkClient(user);
        const octavia = loadBalancerClient(user);
        const external = await makeExternal(networkClient(cloud.admin));
        const before = rowsOf(cloud);
        for (const desired of [...prelude, ...wanted]) {
          await fill(network, octavia, external, desired);
          await cloud.clock.advance(30_000);
        }
        expect(rowsOf(cloud)['loadbalancer.members']).toBeGreaterThan(0);
        await deleteEverything(network, octavia, () => cloud.clock.advance(30_000));
        const after = rowsOf(cloud);
        // The default security group remains.
        expect(after).toEqual({
          ...before,
          ...pick(after, ['network.security_groups', 'network.security_group_rules']),
        });
        expect(after['network.security_groups']).toBeLessThanOrEqual(1);
      }),
      { numRuns: 15 },
    );
  });
});

function rowsOf({ cloud }: Awaited<ReturnType<typeof testCloud>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const table of cloud.core.state.tables()) {
    if (/^(network|loadbalancer|jobs)/.test(table.name)) counts[table.name] = table.size;
  }
  return counts;
}

function pick(counts: Record<string, number>, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, counts[name]!]));
}

async function fill(
  network: ServiceClient,
  octavia: ServiceClient,
  external: string,
  [kind, first, second]: readonly [string, number, number],
): Promise<void> {
  const some = async (client: ServiceClient, path: string, number: number): Promise<Json | undefined> => {
    const found = (await client.list(path)).filter((each) => each.id !== external);
    return found[number % Math.max(1, found.length)];
  };
  // A refused action is a valid part of the test.
  const post = (client: ServiceClient, path: string, body: object): Promise<unknown> => client.send('POST', path, body);
  const net = await some(network, '/networks', first);
  const subnet = await some(network, '/subnets', first);
  const port = await some(network, '/ports', first);
  const otherPort = await some(network, '/ports', second);
  const router = await some(network, '/routers', second);
  const pool = await some(octavia, '/pools', first);
  switch (kind) {
    case 'n':
      return void (await post(network, '/networks', { network: { name: 'n' } }));
    case 's': {
      const desired = { network_id: net?.id, ip_version: 4, cidr: `10.${second % 250}.0.0/24` };
      return void (await post(network, '/subnets', { subnet: desired }));
    }
    case 'p':
      return void (await post(network, '/ports', { port: { network_id: net?.id } }));
    case 'r':
      return void (await post(network, '/routers', { router: { external_gateway_info: { network_id: external } } }));
    case 'i':
      return void (await network.send('PUT', `/routers/${router?.id}/add_router_interface`, { subnet_id: subnet?.id }));
    case 'f':
      return void (await post(network, '/floatingips', {
        floatingip: { floating_network_id: external, ...(second % 2 === 0 && port && { port_id: port.id }) },
      }));
    case 'g':
      return void (await post(network, '/security-groups', { security_group: { name: 'g' } }));
    case 't': {
      const sub_ports = [{ port_id: otherPort?.id, segmentation_id: 7, segmentation_type: 'vlan' }];
      return void (await post(network, '/trunks', { trunk: { port_id: port?.id, sub_ports } }));
    }
    case 'l':
      return void (await post(octavia, '/loadbalancers', { loadbalancer: { vip_subnet_id: subnet?.id } }));
    case 'L': {
      const lb = await some(octavia, '/loadbalancers', first);
      const desired = { loadbalancer_id: lb?.id, protocol: 'TCP', protocol_port: 1 + second };
      return void (await post(octavia, '/listeners', { listener: desired }));
    }
    case 'P': {
      const listener = await some(octavia, '/listeners', first);
      const desired = { listener_id: listener?.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' };
      return void (await post(octavia, '/pools', { pool: desired }));
    }
    case 'M':
      return void (await post(octavia, `/pools/${pool?.id}/members`, {
        member: { address: `10.0.0.${1 + (second % 200)}`, protocol_port: 80 },
      }));
    case 'H': {
      const desired = { pool_id: pool?.id, type: 'TCP', delay: 5, timeout: 3, max_retries: 3 };
      return void (await post(octavia, '/healthmonitors', { healthmonitor: desired }));
    }
  }
}

/** Deletes repeatedly, like a user, until nothing more can be deleted. */
async function deleteEverything(
  network: ServiceClient,
  octavia: ServiceClient,
  wait: () => Promise<void>,
): Promise<void> {
  for (const { id } of await octavia.list('/loadbalancers')) {
    await octavia.send('DELETE', `/loadbalancers/${id}?cascade=true`);
  }
  await wait();
  for (let round = 0; round < networkKinds.length; round++) {
    for (const { id } of await network.list('/routers')) {
      for (const { id: port_id } of await network.list(`/ports?device_id=${id}`)) {
        await network.send('PUT', `/routers/${id}/remove_router_interface`, { port_id });
      }
    }
    for (const kind of networkKinds) {
      for (const { id } of await network.list(`/${kind}`)) await network.send('DELETE', `/${kind}/${id}`);
    }
    await wait();
  }
}
