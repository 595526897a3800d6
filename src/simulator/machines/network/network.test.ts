import { describe, expect, it } from 'vitest';
import type { PortService } from '../../../simkube/index.ts';
import { type BootingCloud, bootingCloud, greeter, testSoftware } from '../testing/booting-cloud.ts';
import type { Outside } from './dial.ts';
import { UnreachableError } from './unreachable.ts';

/** Creates a project with an external router and a function to create servers with listeners. */
async function town(outside?: Outside): Promise<Town> {
  const cloud = await bootingCloud(outside ? { machines: { software: () => testSoftware(), outside } } : {});
  const { user, read, networkId, subnetId } = cloud;
  const neutron = async (method: string, path: string, body?: unknown): Promise<ReturnType<typeof read>> => {
    const answer = await user.request(method, `/network/v2.0${path}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as never;
  };
  const octavia = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await user.request(method, `/load-balancer/v2.0/lbaas${path}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    await cloud.clock.advance(15_000);
    return answer.body;
  };
  const external = read(await user.request('GET', '/network/v2.0/networks?router:external=true'), 'networks.0.id');
  const router = read(
    await user.request('POST', '/network/v2.0/routers', {
      router: { name: 'r', external_gateway_info: { network_id: external } },
    }),
    'router.id',
  );
  await neutron('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
  const group = read(
    await user.request('POST', '/network/v2.0/security-groups', { security_group: { name: 'open' } }),
    'security_group.id',
  );
  const rule = async (desired: Record<string, unknown>): Promise<string> =>
    read(
      await user.request('POST', '/network/v2.0/security-group-rules', {
        security_group_rule: { security_group_id: group, direction: 'ingress', protocol: 'tcp', ...desired },
      }),
      'security_group_rule.id',
    );
  const dial = (address: string, port: number, from?: string): string => {
    try {
      const met = cloud.cloud.network.dial(address, port, from === undefined ? undefined : cloud.machine(from));
      return (met as PortService & { name: string }).name;
    } catch (error) {
      return error instanceof UnreachableError ? error.code : String(error);
    }
  };
  return {
    ...cloud,
    external,
    router,
    group,
    neutron,
    octavia,
    rule,
    dial,
    async serve(name, port = 6443) {
      const id = await cloud.bootServer(`#!/bin/sh\nserve-port ${port}\n`, {
        name,
        networks: [{ uuid: networkId }],
        security_groups: [{ name: 'open' }],
      });
      const port0 = cloud.machine(id).server.interfaces[0]!;
      return { id, portId: port0.id, address: port0.fixedIps[0]!.address };
    },
    async floatingIp(portId) {
      const answer = await user.request('POST', '/network/v2.0/floatingips', {
        floatingip: { floating_network_id: external, port_id: portId },
      });
      await cloud.clock.advance(1000);
      return { id: read(answer, 'floatingip.id'), address: read(answer, 'floatingip.floating_ip_address') };
    },
  };
}

interface Town extends BootingCloud {
  external: string;
  router: string;
  group: string;
  neutron(method: string, path: string, body?: unknown): Promise<unknown>;
  octavia(method: string, path: string, body?: unknown): Promise<unknown>;
  rule(desired: Record<string, unknown>): Promise<string>;
  /** returns the name of the listener, or the error code */
  dial(address: string, port: number, from?: string): string;
  serve(name: string, port?: number): Promise<{ id: string; portId: string; address: string }>;
  floatingIp(portId: string): Promise<{ id: string; address: string }>;
}

describe('a floating IP in the simulated network', () => {
  it('reaches its machine once it is active, as far as the security groups allow', async () => {
    const { serve, floatingIp, dial, rule, neutron } = await town();
    const server = await serve('a');
    const floating = await floatingIp(server.portId);
    expect(dial(floating.address, 6443)).toBe('ETIMEDOUT');
    const open = await rule({ port_range_min: 6443, port_range_max: 6443 });
    expect(dial(floating.address, 6443)).toBe('a:6443');
    expect(dial(floating.address, 22)).toBe('ETIMEDOUT');
    expect(dial(server.address, 6443)).toBe('EHOSTUNREACH');
    await neutron('DELETE', `/security-group-rules/${open}`);
    expect(dial(floating.address, 6443)).toBe('ETIMEDOUT');
  });

  it.each([
    ['0.0.0.0/0', 'a:6443'],
    ['127.0.0.0/8', 'a:6443'],
    ['10.0.0.0/8', 'ETIMEDOUT'],
  ])('answers with a rule for %s: %s', async (prefix, expected) => {
    const { serve, floatingIp, dial, rule } = await town();
    const server = await serve('a');
    await rule({ port_range_min: 6000, port_range_max: 7000, remote_ip_prefix: prefix });
    const floating = await floatingIp(server.portId);
    expect(dial(floating.address, 6443)).toBe(expected);
  });

  it('follows its port and reaches nothing after its release', async () => {
    const { serve, floatingIp, dial, rule, neutron, clock } = await town();
    const [a, b] = [await serve('a'), await serve('b')];
    await rule({});
    const { id, address } = await floatingIp(a.portId);
    expect(dial(address, 6443)).toBe('a:6443');
    await neutron('PUT', `/floatingips/${id}`, { floatingip: { port_id: b.portId } });
    await clock.advance(1000);
    expect(dial(address, 6443)).toBe('b:6443');
    await neutron('PUT', `/floatingips/${id}`, { floatingip: { port_id: null } });
    expect(dial(address, 6443)).toBe('EHOSTUNREACH');
  });

  it('requires a running machine with a listener, and a port and a router that are up', async () => {
    const { serve, floatingIp, dial, rule, neutron, clock, cloud, router } = await town();
    const { id, portId } = await serve('a');
    await rule({});
    const { address } = await floatingIp(portId);
    expect(dial(address, 22)).toBe('ECONNREFUSED');
    for (const [path, kind] of [
      [`/ports/${portId}`, 'port'],
      [`/routers/${router}`, 'router'],
    ] as const) {
      await neutron('PUT', path, { [kind]: { admin_state_up: false } });
      expect(dial(address, 6443)).not.toBe('a:6443');
      await neutron('PUT', path, { [kind]: { admin_state_up: true } });
      expect(dial(address, 6443)).toBe('a:6443');
    }
    cloud.operator.stopServer(id);
    expect(dial(address, 6443)).toBe('ETIMEDOUT');
    cloud.operator.startServer(id);
    await clock.advance(30_000);
    // While it reboots, the service of the first boot is not started again.
    expect(dial(address, 6443)).toBe('ECONNREFUSED');
    cloud.operator.deleteServer(id);
    expect(dial(address, 6443)).toBe('EHOSTUNREACH');
  });
});

describe('machines of one network', () => {
  it('reach fixed addresses of their network as the security groups allow', async () => {
    const { serve, dial, rule, group } = await town();
    const [a, b] = [await serve('a'), await serve('b')];
    expect(dial(b.address, 6443, a.id)).toBe('ETIMEDOUT');
    await rule({ remote_group_id: group, port_range_min: 6443, port_range_max: 6443 });
    expect(dial(b.address, 6443, a.id)).toBe('b:6443');
    expect(dial(a.address, 6443, a.id)).toBe('a:6443');
    expect(dial('127.0.0.1', 6443, a.id)).toBe('a:6443');
    expect(dial('127.0.0.1', 1, a.id)).toBe('ECONNREFUSED');
    expect(dial('10.0.99.99', 6443, a.id)).toBe('EHOSTUNREACH');
    expect(dial('elsewhere.example.com', 6443, a.id)).toBe('ENOTFOUND');
  });

  it('are not admitted by group when they connect over a floating IP', async () => {
    const { serve, dial, rule, group, floatingIp } = await town();
    const [a, b] = [await serve('a'), await serve('b')];
    const { address } = await floatingIp(b.portId);
    await rule({ remote_group_id: group });
    expect(dial(address, 6443, a.id)).toBe('ETIMEDOUT');
    await rule({ remote_ip_prefix: '172.24.4.0/24' });
    expect(dial(address, 6443, a.id)).toBe('b:6443');
  });

  it('do not see other networks without a router in between', async () => {
    const { serve, dial, rule, user, read, router, neutron, bootServer } = await town();
    await rule({});
    const a = await serve('a');
    const other = read(await user.request('POST', '/network/v2.0/networks', { network: { name: 'n2' } }), 'network.id');
    const subnet = read(
      await user.request('POST', '/network/v2.0/subnets', {
        subnet: { network_id: other, ip_version: 4, cidr: '10.9.0.0/24' },
      }),
      'subnet.id',
    );
    const port = read(
      await user.request('POST', '/network/v2.0/ports', {
        port: { network_id: other, port_security_enabled: false, fixed_ips: [{ ip_address: '10.9.0.9' }] },
      }),
      'port.id',
    );
    await bootServer('#!/bin/sh\nserve-port 80\n', { name: 'far', networks: [{ port }] });
    expect(dial('10.9.0.9', 80, a.id)).toBe('EHOSTUNREACH');
    await neutron('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnet });
    expect(dial('10.9.0.9', 80, a.id)).toBe('far:80');
  });

  it('are blocked by security groups without egress', async () => {
    const { serve, dial, rule, neutron, group, user, read } = await town();
    const [a, b] = [await serve('a'), await serve('b')];
    await rule({});
    expect(dial(b.address, 6443, a.id)).toBe('b:6443');
    const rules = read<{ id: string; direction: string }[]>(
      await user.request('GET', `/network/v2.0/security-group-rules?security_group_id=${group}`),
      'security_group_rules',
    );
    for (const { id, direction } of rules) {
      if (direction === 'egress') await neutron('DELETE', `/security-group-rules/${id}`);
    }
    expect(dial(b.address, 6443, a.id)).toBe('ETIMEDOUT');
  });
});

describe('a load balancer in the simulated network', () => {
  async function balanced(t: Town, monitored: boolean, listener: Record<string, unknown> = {}): Promise<Balanced> {
    const { octavia, read, subnetId, user } = t;
    const make = async (path: string, key: string, desired: Record<string, unknown>): Promise<string> =>
      read({ status: 201, headers: {}, body: await octavia('POST', path, { [key]: desired }) }, `${key}.id`);
    const lb = await make('/loadbalancers', 'loadbalancer', { name: 'lb', vip_subnet_id: subnetId });
    const listenerId = await make('/listeners', 'listener', {
      loadbalancer_id: lb,
      protocol: 'TCP',
      protocol_port: 443,
      ...listener,
    });
    const pool = await make('/pools', 'pool', {
      listener_id: listenerId,
      protocol: 'TCP',
      lb_algorithm: 'ROUND_ROBIN',
    });
    if (monitored) {
      await make('/healthmonitors', 'healthmonitor', {
        pool_id: pool,
        type: 'TCP',
        delay: 10,
        timeout: 5,
        max_retries: 5,
      });
    }
    const vip = read(
      await user.request('GET', `/load-balancer/v2.0/lbaas/loadbalancers/${lb}`),
      'loadbalancer.vip_address',
    );
    const vipPort = read(
      await user.request('GET', `/load-balancer/v2.0/lbaas/loadbalancers/${lb}`),
      'loadbalancer.vip_port_id',
    );
    return {
      lb,
      pool,
      vip,
      vipPort,
      member: (address, port = 6443) => make(`/pools/${pool}/members`, 'member', { address, protocol_port: port }),
      async states() {
        const members = read<{ operating_status: string }[]>(
          await user.request('GET', `/load-balancer/v2.0/lbaas/pools/${pool}/members`),
          'members',
        );
        return members.map(({ operating_status }) => operating_status);
      },
      async state() {
        return read(
          await user.request('GET', `/load-balancer/v2.0/lbaas/loadbalancers/${lb}`),
          'loadbalancer.operating_status',
        );
      },
    };
  }
  interface Balanced {
    lb: string;
    pool: string;
    vip: string;
    vipPort: string;
    member(address: string, port?: number): Promise<string>;
    states(): Promise<string[]>;
    state(): Promise<string>;
  }

  it('distributes connections to the members that answer, also behind its floating IP', async () => {
    const t = await town();
    await t.rule({});
    const [a, b] = [await t.serve('a'), await t.serve('b')];
    const { member, vipPort, vip } = await balanced(t, true);
    const { address } = await t.floatingIp(vipPort);
    expect(t.dial(address, 443)).toBe('ECONNRESET');
    await member(a.address);
    await member(b.address);
    expect([t.dial(address, 443), t.dial(address, 443), t.dial(address, 443)]).toEqual(['a:6443', 'b:6443', 'a:6443']);
    expect(t.dial(address, 6443)).toBe('ECONNREFUSED');
    expect(t.dial(vip, 443, a.id)).toMatch(/:6443$/);
  });

  it('notices by its monitor that members fail and recover, and reports it', async () => {
    const t = await town();
    await t.rule({});
    const [a, b] = [await t.serve('a'), await t.serve('b')];
    const { member, vipPort, states, state } = await balanced(t, true);
    const { address } = await t.floatingIp(vipPort);
    await member(a.address);
    await member(b.address);
    expect([await states(), await state()]).toEqual([['ONLINE', 'ONLINE'], 'ONLINE']);
    t.cloud.operator.stopServer(a.id);
    await t.clock.advance(5_000);
    expect([await states(), await state()]).toEqual([['ERROR', 'ONLINE'], 'DEGRADED']);
    expect([t.dial(address, 443), t.dial(address, 443)]).toEqual(['b:6443', 'b:6443']);
    t.cloud.operator.deleteServer(b.id);
    await t.clock.advance(5_000);
    expect([await states(), await state()]).toEqual([['ERROR', 'ERROR'], 'ERROR']);
    expect(t.dial(address, 443)).toBe('ECONNRESET');
    t.cloud.operator.startServer(a.id);
    await t.clock.advance(30_000);
    t.machine(a.id).listen(6443, { accept: () => {} });
    await t.clock.advance(5_000);
    expect([await states(), await state()]).toEqual([['ONLINE', 'ERROR'], 'DEGRADED']);
  });

  it('checks a member again when its security groups change', async () => {
    const t = await town();
    const a = await t.serve('a');
    const { member, states } = await balanced(t, true);
    await member(a.address);
    expect(await states()).toEqual(['ERROR']);
    await t.rule({});
    await t.clock.advance(5_000);
    expect(await states()).toEqual(['ONLINE']);
  });

  it('tries the next member when one does not answer and there is no monitor', async () => {
    const t = await town();
    await t.rule({});
    const [a, b] = [await t.serve('a'), await t.serve('b')];
    const { member, vipPort, states } = await balanced(t, false);
    const { address } = await t.floatingIp(vipPort);
    await member(a.address);
    await member(b.address);
    t.cloud.operator.stopServer(a.id);
    expect([t.dial(address, 443), t.dial(address, 443)]).toEqual(['b:6443', 'b:6443']);
    expect(await states()).toEqual(['NO_MONITOR', 'NO_MONITOR']);
  });

  it.each([
    [['127.0.0.0/8'], 'a:6443'],
    [['192.168.0.0/16'], 'ETIMEDOUT'],
    [['192.168.0.0/16', '127.0.0.1/32'], 'a:6443'],
  ])('admits only %j', async (allowed_cidrs, expected) => {
    const t = await town();
    await t.rule({});
    const a = await t.serve('a');
    const { member, vipPort } = await balanced(t, true, { allowed_cidrs });
    const { address } = await t.floatingIp(vipPort);
    await member(a.address);
    expect(t.dial(address, 443)).toBe(expected);
  });

  it('does not answer when it is broken or disabled', async () => {
    const t = await town();
    await t.rule({});
    const a = await t.serve('a');
    const { member, vipPort, lb } = await balanced(t, true);
    const { address } = await t.floatingIp(vipPort);
    await member(a.address);
    await t.octavia('PUT', `/loadbalancers/${lb}`, { loadbalancer: { admin_state_up: false } });
    expect(t.dial(address, 443)).toBe('ECONNREFUSED');
    await t.octavia('PUT', `/loadbalancers/${lb}`, { loadbalancer: { admin_state_up: true } });
    expect(t.dial(address, 443)).toBe('a:6443');
    t.cloud.operator.breakLoadBalancer(lb);
    expect(t.dial(address, 443)).toBe('ECONNREFUSED');
  });
});

describe('a virtual address', () => {
  it('reaches a machine that may hold it', async () => {
    const t = await town();
    await t.rule({});
    const virtual = t.read(
      await t.user.request('POST', '/network/v2.0/ports', {
        port: { network_id: t.networkId, fixed_ips: [{ ip_address: '10.0.7.7' }] },
      }),
      'port.id',
    );
    const [a, b] = [await t.serve('a'), await t.serve('b')];
    for (const { portId } of [a, b]) {
      await t.neutron('PUT', `/ports/${portId}`, { port: { allowed_address_pairs: [{ ip_address: '10.0.7.7' }] } });
    }
    const { address } = await t.floatingIp(virtual);
    expect(t.dial(address, 6443)).toBe('a:6443');
    expect(t.dial('10.0.7.7', 6443, b.id)).toBe('a:6443');
    t.cloud.operator.stopServer(a.id);
    expect(t.dial(address, 6443)).toBe('b:6443');
  });
});

describe('hosts outside the cloud', () => {
  const beyond: Outside = (host, port) => {
    if (host !== '127.65.1.1' && host !== 'plane.example.test') return undefined;
    if (port !== 6443) throw new UnreachableError('ECONNREFUSED', host, port);
    return greeter(`beyond:${port}`);
  };

  it('are reached by name and address from machines with outside access, and from outside', async () => {
    const { serve, dial, neutron, router } = await town(beyond);
    const { id } = await serve('a');
    expect(dial('127.65.1.1', 6443, id)).toBe('beyond:6443');
    expect(dial('plane.example.test', 6443, id)).toBe('beyond:6443');
    expect(dial('127.65.1.1', 6443)).toBe('beyond:6443');
    expect(dial('127.65.1.1', 22, id)).toBe('ECONNREFUSED');
    expect(dial('127.65.1.2', 6443, id)).toBe('EHOSTUNREACH');
    expect(dial('other.example.test', 6443, id)).toBe('ENOTFOUND');
    await neutron('PUT', `/routers/${router}`, { router: { external_gateway_info: {} } });
    expect(dial('127.65.1.1', 6443, id)).toBe('EHOSTUNREACH');
    expect(dial('plane.example.test', 6443, id)).toBe('ENOTFOUND');
  });

  it('are kept from machines by egress rules', async () => {
    const { serve, dial, neutron, group } = await town(beyond);
    const { id } = await serve('a');
    const { security_group_rules: rules } = (await neutron(
      'GET',
      `/security-group-rules?security_group_id=${group}&direction=egress`,
    )) as { security_group_rules: { id: string }[] };
    for (const rule of rules) await neutron('DELETE', `/security-group-rules/${rule.id}`);
    expect(dial('127.65.1.1', 6443, id)).toBe('ETIMEDOUT');
  });
});
