import type { Json, Recorder } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';
const base = '/v2.0/lbaas';
const network = { service: 'network' };

async function makeNetwork(cloud: Recorder, cidr = '10.1.0.0/24'): Promise<{ network: string; subnet: string }> {
  const made = await cloud.post('/v2.0/networks', { network: { name: 'cmp-lb' } }, network);
  const { subnet } = await cloud.post(
    '/v2.0/subnets',
    { subnet: { network_id: made.network.id, ip_version: 4, cidr, name: 'cmp-lb' } },
    network,
  );
  cloud.records.length = 0;
  return { network: made.network.id, subnet: subnet.id };
}

/** Waits until a load balancer is no longer pending. */
async function settled(cloud: Recorder, path: string): Promise<Json> {
  return cloud.until(path, (body) => !String(body.loadbalancer?.provisioning_status).startsWith('PENDING'));
}

async function gone(cloud: Recorder, path: string): Promise<void> {
  await cloud.until(path, (_body, status) => status === 404);
}

export const loadBalancerDoor: Scenario = {
  name: 'load balancer: the door',
  service: 'load-balancer',
  async play(cloud) {
    cloud.as('nobody');
    await cloud.get('/');
    await cloud.get('/v2');
    await cloud.get(`${base}/loadbalancers`);
    cloud.as('openstack');
    await cloud.get('/v2.0');
    await cloud.get('/v2.0/lbaas');
    await cloud.get(`${base}/nothing`);
    await cloud.get(`${base}/providers`);
    await cloud.get(`${base}/flavors`);
    await cloud.get(`${base}/flavors/${unknown}`);
    await cloud.get(`${base}/availabilityzones`);
    await cloud.get(`${base}/availabilityzones/nope`);
    await cloud.get(`${base}/flavorprofiles`);
    await cloud.get('/v2.0/octavia/amphorae');
    await cloud.get('/v2/lbaas/loadbalancers?name=none');
    for (const [kind, name] of [
      ['loadbalancers', 'loadbalancer'],
      ['listeners', 'listener'],
      ['pools', 'pool'],
      ['healthmonitors', 'healthmonitor'],
      ['l7policies', 'l7policy'],
    ] as const) {
      await cloud.get(`${base}/${kind}?name=none`);
      await cloud.get(`${base}/${kind}?name=none&bogus=1`);
      await cloud.get(`${base}/${kind}/${unknown}`);
      await cloud.delete(`${base}/${kind}/${unknown}`);
      await cloud.put(`${base}/${kind}/${unknown}`, { [name]: { name: 'x' } });
    }
    await cloud.get(`${base}/pools/${unknown}/members`);
    await cloud.get(`${base}/pools/${unknown}/members/${unknown}`);
    await cloud.get(`${base}/loadbalancers/${unknown}/status`);
    await cloud.get(`${base}/loadbalancers/${unknown}/stats`);
    await cloud.get(`${base}/loadbalancers/nope`);
    await cloud.get(`${base}/loadbalancers?name=none&limit=x`);
    await cloud.get(`${base}/loadbalancers?name=none&marker=nope`);
    await cloud.get(`${base}/loadbalancers?name=none&sort_key=bogus`);
    await cloud.get(`${base}/loadbalancers?name=none&sort=name:up`);
    await cloud.get(`${base}/quotas/defaults`);
    await cloud.get(`${base}/quotas/00000000000000000000000000000001`);
    await cloud.get(`${base}/quotas`);
    await cloud.post(`${base}/loadbalancers`, '{bad');
    await cloud.post(`${base}/loadbalancers`, {});
    await cloud.post(`${base}/loadbalancers`, []);
    await cloud.post(`${base}/loadbalancers`, { bogus: {} });
    await cloud.post(`${base}/loadbalancers`, { loadbalancer: {} });
    await cloud.post(`${base}/loadbalancers`, { loadbalancer: { bogus: 1 } });
    await cloud.post(`${base}/loadbalancers`, { loadbalancer: 'x' });
    await cloud.request('PATCH', `${base}/loadbalancers/${unknown}`, {});
  },
};

export const loadBalancers: Scenario = {
  name: 'load balancer: load balancers',
  service: 'load-balancer',
  async play(cloud) {
    cloud.ignore('operating_status');
    const { network: net, subnet } = await makeNetwork(cloud);
    cloud.ignore('revision_number');
    for (const desired of [
      { vip_subnet_id: unknown },
      { vip_network_id: unknown },
      { vip_port_id: unknown },
      { vip_subnet_id: 'x' },
      { vip_subnet_id: subnet, vip_address: 'x' },
      { vip_subnet_id: subnet, vip_address: '10.9.0.5' },
      { vip_subnet_id: subnet, provider: 'nope' },
      { vip_subnet_id: subnet, flavor_id: unknown },
      { vip_subnet_id: subnet, availability_zone: 'nope' },
      { vip_subnet_id: subnet, name: 7 },
      { vip_subnet_id: subnet, name: 'x'.repeat(256) },
      { vip_subnet_id: subnet, admin_state_up: 'maybe' },
      { vip_subnet_id: subnet, tags: 'x' },
      { vip_subnet_id: subnet, vip_qos_policy_id: unknown },
      { vip_subnet_id: subnet, project_id: 'someone-else' },
      { vip_network_id: net, vip_subnet_id: unknown },
      { vip_network_id: net, vip_address: '10.9.0.5' },
    ]) {
      await cloud.post(`${base}/loadbalancers`, { loadbalancer: desired });
    }
    const { loadbalancer } = await cloud.post(`${base}/loadbalancers`, {
      loadbalancer: {
        name: 'cmp-lb',
        vip_subnet_id: subnet,
        vip_address: '10.1.0.50',
        description: 'd',
        tags: ['b', 'a'],
      },
    });
    const path = `${base}/loadbalancers/${loadbalancer.id}`;
    cloud.undo('GET', path);
    await cloud.put(path, { loadbalancer: { name: 'x' } });
    await cloud.delete(path);
    await cloud.post(`${base}/listeners`, {
      listener: { loadbalancer_id: loadbalancer.id, protocol: 'TCP', protocol_port: 80 },
    });
    await cloud.post(`${base}/pools`, {
      pool: { loadbalancer_id: loadbalancer.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' },
    });
    await settled(cloud, path);
    await cloud.get(path);
    await cloud.get(`/v2.0/ports/${loadbalancer.vip_port_id}`, network).then((answer) => {
      cloud.records.at(-1)!.body.port.security_groups = answer.port.security_groups.length;
    });
    await cloud.get(`/v2.0/security-groups?name=lb-${loadbalancer.id}`, network);
    await cloud.get(`${path}/status`);
    await cloud.get(`${path}/statuses`);
    await cloud.get(`${path}/stats`);
    await cloud.put(`${path}/failover`);
    for (const filter of [
      'vip_address=10.1.0.50',
      `vip_subnet_id=${subnet}`,
      `vip_port_id=${loadbalancer.vip_port_id}`,
      'provisioning_status=ACTIVE',
      'operating_status=ONLINE',
      'admin_state_up=true',
      'provider=amphora',
      'tags=a',
      'tags=a,b',
      'tags=c',
      'not-tags=c',
      'tags-any=a,c',
      'description=d',
      `id=${loadbalancer.id}`,
      'limit=1',
      'sort=name:desc',
      `marker=${loadbalancer.id}`,
    ]) {
      await cloud.get(`${base}/loadbalancers?name=cmp-lb&fields=name&fields=id&${filter}`);
    }
    await cloud.get(`${path}?fields=name&fields=tags`);
    for (const change of [
      { vip_address: '10.1.0.51' },
      { bogus: 1 },
      { name: 7 },
      { provider: 'amphora' },
      { name: 'cmp-lb2', description: '', admin_state_up: false, tags: [] },
    ]) {
      await cloud.put(path, { loadbalancer: change });
    }
    await cloud.put(path, { loadbalancer: { name: 'x' } });
    await settled(cloud, path);
    await cloud.get(path);
    await cloud.put(path, { loadbalancer: {} });
    await settled(cloud, path);
    await cloud.delete(`/v2.0/ports/${loadbalancer.vip_port_id}`, network);
    await cloud.delete(path);
    await cloud.delete(path);
    await gone(cloud, path);
    await cloud.get(path);
    await cloud.get(`/v2.0/ports/${loadbalancer.vip_port_id}`, network);
    const { port } = await cloud.post(
      '/v2.0/ports',
      { port: { network_id: net, name: 'cmp-own', fixed_ips: [{ ip_address: '10.1.0.60' }] } },
      network,
    );
    const { loadbalancer: own } = await cloud.post(`${base}/loadbalancers`, {
      loadbalancer: { name: 'cmp-own', vip_port_id: port.id },
    });
    const ownPath = `${base}/loadbalancers/${own.id}`;
    await settled(cloud, ownPath);
    await cloud.get(`/v2.0/ports/${port.id}`, network).then((answer) => {
      cloud.records.at(-1)!.body.port.security_groups = answer.port.security_groups.length;
    });
    await cloud.delete(ownPath);
    await gone(cloud, ownPath);
    await cloud.get(`/v2.0/ports/${port.id}`, network);
  },
};

export const loadBalancerParts: Scenario = {
  name: 'load balancer: parts',
  service: 'load-balancer',
  async play(cloud) {
    cloud.ignore('operating_status');
    const { subnet } = await makeNetwork(cloud);
    const { loadbalancer } = await cloud.post(`${base}/loadbalancers`, {
      loadbalancer: { name: 'cmp-parts', vip_subnet_id: subnet, vip_address: '10.1.0.50' },
    });
    const id = loadbalancer.id as string;
    const path = `${base}/loadbalancers/${id}`;
    cloud.undo('DELETE', `${path}?cascade=true`);
    await settled(cloud, path);
    const listener = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 6443 };
    for (const desired of [
      {},
      { ...listener, loadbalancer_id: unknown },
      { ...listener, loadbalancer_id: 'x' },
      { ...listener, protocol: 'BOGUS' },
      { ...listener, protocol: 'tcp' },
      { ...listener, protocol_port: 0 },
      { ...listener, protocol_port: 70_000 },
      { ...listener, protocol_port: 'x' },
      { ...listener, connection_limit: -2 },
      { ...listener, allowed_cidrs: ['x'] },
      { ...listener, allowed_cidrs: ['fd00::/64'] },
      { ...listener, allowed_cidrs: 'x' },
      { ...listener, default_pool_id: unknown },
      { ...listener, timeout_client_data: -1 },
      { ...listener, insert_headers: { 'X-Forwarded-For': 'true' } },
      { ...listener, protocol: 'HTTP', insert_headers: { Bogus: 'true' } },
      { ...listener, protocol: 'TERMINATED_HTTPS' },
      { ...listener, default_tls_container_ref: 'http://x/y' },
      { ...listener, client_authentication: 'BOGUS' },
      { ...listener, client_authentication: 'MANDATORY' },
      { ...listener, bogus: 1 },
      { ...listener, name: 7 },
    ]) {
      await cloud.request('POST', `${base}/listeners`, { listener: desired });
    }
    const { listener: made } = await cloud.request('POST', `${base}/listeners`, {
      listener: { ...listener, name: 'cmp-listener', allowed_cidrs: ['10.0.0.7/8', '192.168.0.0/16'], tags: ['t'] },
    });
    await cloud.get(`${path}?fields=provisioning_status&fields=listeners`);
    await cloud.request('POST', `${base}/listeners`, { listener: { ...listener, protocol_port: 81 } });
    await settled(cloud, path);
    const listenerPath = `${base}/listeners/${made.id}`;
    await cloud.get(listenerPath);
    await cloud.request('POST', `${base}/listeners`, { listener });
    await cloud.request('POST', `${base}/listeners`, { listener: { ...listener, protocol: 'HTTP' } });
    const pool = { protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' };
    for (const desired of [
      {},
      { ...pool },
      { ...pool, listener_id: unknown },
      { ...pool, loadbalancer_id: unknown },
      { ...pool, loadbalancer_id: id, protocol: 'BOGUS' },
      { ...pool, loadbalancer_id: id, lb_algorithm: 'BOGUS' },
      { ...pool, listener_id: made.id, protocol: 'UDP' },
      { ...pool, loadbalancer_id: id, session_persistence: { type: 'BOGUS' } },
      { ...pool, loadbalancer_id: id, session_persistence: { type: 'APP_COOKIE' } },
      { ...pool, loadbalancer_id: id, bogus: 1 },
    ]) {
      await cloud.request('POST', `${base}/pools`, { pool: desired });
    }
    const { pool: madePool } = await cloud.request('POST', `${base}/pools`, {
      pool: { ...pool, listener_id: made.id, name: 'cmp-pool', session_persistence: { type: 'SOURCE_IP' } },
    });
    await cloud.get(`${listenerPath}?fields=provisioning_status&fields=default_pool_id`);
    await settled(cloud, path);
    const poolPath = `${base}/pools/${madePool.id}`;
    await cloud.get(poolPath);
    await cloud.request('POST', `${base}/pools`, { pool: { ...pool, listener_id: made.id } });
    const member = { address: '10.1.0.5', protocol_port: 6443 };
    for (const desired of [
      {},
      { ...member, address: 'x' },
      { ...member, address: '169.254.169.254' },
      { ...member, protocol_port: 0 },
      { ...member, subnet_id: unknown },
      { ...member, subnet_id: 'x' },
      { ...member, weight: 300 },
      { ...member, bogus: 1 },
    ]) {
      await cloud.request('POST', `${poolPath}/members`, { member: desired });
    }
    const { member: madeMember } = await cloud.request('POST', `${poolPath}/members`, {
      member: { ...member, name: 'cmp-member', subnet_id: subnet },
    });
    await cloud.get(`${poolPath}?fields=provisioning_status&fields=members`);
    await settled(cloud, path);
    const memberPath = `${poolPath}/members/${madeMember.id}`;
    await cloud.get(memberPath);
    await cloud.request('POST', `${poolPath}/members`, { member });
    await cloud.get(`${poolPath}/members?name=cmp-member&fields=name`);
    await cloud.get(`${poolPath}/members?address=10.1.0.5&fields=name`);
    await cloud.get(`${poolPath}/members?bogus=1`);
    const monitor = { pool_id: madePool.id, type: 'TCP', delay: 10, timeout: 5, max_retries: 3 };
    for (const desired of [
      {},
      { ...monitor, pool_id: unknown },
      { ...monitor, type: 'BOGUS' },
      { ...monitor, type: 'UDP-CONNECT' },
      { ...monitor, max_retries: 11 },
      { ...monitor, max_retries: 0 },
      { ...monitor, delay: -1 },
      { ...monitor, delay: 'x' },
      { ...monitor, url_path: '/' },
      { ...monitor, http_method: 'GET' },
      { ...monitor, type: 'HTTP', url_path: 'x' },
      { ...monitor, type: 'HTTP', expected_codes: 'x' },
      { ...monitor, type: 'HTTP', domain_name: 'example.org' },
      { ...monitor, timeout: 50 },
      { ...monitor, bogus: 1 },
    ]) {
      const answer = await cloud.request('POST', `${base}/healthmonitors`, { healthmonitor: desired });
      if (!answer.healthmonitor) continue;
      await settled(cloud, path);
      await cloud.delete(`${base}/healthmonitors/${answer.healthmonitor.id}`);
      await settled(cloud, path);
    }
    const { healthmonitor } = await cloud.request('POST', `${base}/healthmonitors`, {
      healthmonitor: { ...monitor, name: 'cmp-monitor' },
    });
    await settled(cloud, path);
    const monitorPath = `${base}/healthmonitors/${healthmonitor.id}`;
    await cloud.get(monitorPath);
    await cloud.get(poolPath);
    await cloud.get(memberPath);
    await cloud.request('POST', `${base}/healthmonitors`, { healthmonitor: monitor });
    await cloud.get(`${path}/status`);
    await cloud.get(`${path}`);
    for (const [kind, filter] of [
      ['listeners', `loadbalancer_id=${id}`],
      ['listeners', 'protocol=TCP&protocol_port=6443&name=cmp-listener'],
      ['listeners', 'name=cmp-listener&default_pool_id=x'],
      ['listeners', 'name=cmp-listener&allowed_cidrs=x'],
      ['pools', `loadbalancer_id=${id}`],
      ['pools', 'name=cmp-pool&protocol=TCP'],
      ['pools', `name=cmp-pool&listener_id=${made.id}`],
      ['healthmonitors', `pool_id=${madePool.id}`],
      ['healthmonitors', 'name=cmp-monitor&type=TCP'],
      ['l7policies', 'name=none'],
    ] as const) {
      await cloud.get(`${base}/${kind}?${filter}&fields=name`);
    }
    for (const [where, name, changes] of [
      [
        listenerPath,
        'listener',
        [
          { protocol_port: 1 },
          { allowed_cidrs: ['fd00::/64'] },
          { allowed_cidrs: ['10.0.0.0/8'] },
          { default_pool_id: null },
        ],
      ],
      [
        listenerPath,
        'listener',
        [{ default_pool_id: unknown }, { default_pool_id: madePool.id }, { connection_limit: null }],
      ],
      [poolPath, 'pool', [{ protocol: 'HTTP' }, { lb_algorithm: 'LEAST_CONNECTIONS' }, { session_persistence: null }]],
      [memberPath, 'member', [{ address: '10.1.0.6' }, { weight: 0, backup: true }, { weight: null }]],
      [monitorPath, 'healthmonitor', [{ type: 'HTTP' }, { delay: 20, name: '' }, { delay: null }, { url_path: '/x' }]],
    ] as const) {
      for (const change of changes) {
        await cloud.put(where, { [name]: change });
        await settled(cloud, path);
      }
    }
    await cloud.put(`${poolPath}/members`, {
      members: [
        { ...member, weight: 5 },
        { address: '10.1.0.7', protocol_port: 6443, name: 'new' },
      ],
    });
    await settled(cloud, path);
    await cloud.get(`${poolPath}/members?sort=address&fields=address&fields=weight&fields=name`);
    await cloud.put(`${poolPath}/members?additive_only=true`, {
      members: [{ address: '10.1.0.8', protocol_port: 6443 }],
    });
    await settled(cloud, path);
    await cloud.get(`${poolPath}/members?sort=address&fields=address`);
    await cloud.put(`${poolPath}/members`, { members: [] });
    await settled(cloud, path);
    await cloud.get(`${poolPath}/members`);
    await cloud.put(`${poolPath}/members`, { members: [{ address: 'x', protocol_port: 1 }] });
    await cloud.get(`${path}?fields=pools&fields=listeners`);
    await cloud.get(`/v2.0/security-groups?name=lb-${id}&fields=name`, network);
    await cloud.delete(path);
    await cloud.delete(monitorPath);
    await cloud.delete(poolPath);
    await settled(cloud, path);
    await cloud.get(monitorPath);
    await cloud.delete(poolPath);
    await settled(cloud, path);
    await cloud.get(poolPath);
    await cloud.get(`${listenerPath}?fields=default_pool_id`);
    await cloud.delete(listenerPath);
    await settled(cloud, path);
    await cloud.get(listenerPath);
    await cloud.request('POST', `${base}/listeners`, { listener });
    await settled(cloud, path);
    await cloud.delete(`${path}?cascade=maybe`);
    await cloud.delete(`${path}?cascade=true`);
    await cloud.get(`${path}?fields=provisioning_status`);
    await cloud.delete(`${path}?cascade=true`);
    await gone(cloud, path);
    await cloud.get(`${base}/listeners?loadbalancer_id=${id}`);
  },
};

/** Layer 7 policies, as far as clients use them. */
export const layerSeven: Scenario = {
  name: 'load balancer: layer 7',
  service: 'load-balancer',
  async play(cloud) {
    cloud.ignore('operating_status');
    const { subnet } = await makeNetwork(cloud);
    const { loadbalancer } = await cloud.post(`${base}/loadbalancers`, {
      loadbalancer: {
        name: 'cmp-l7',
        vip_subnet_id: subnet,
        vip_address: '10.1.0.50',
        listeners: [
          {
            name: 'cmp-l7-listener',
            protocol: 'HTTP',
            protocol_port: 80,
            default_pool: {
              name: 'cmp-l7-pool',
              protocol: 'HTTP',
              lb_algorithm: 'ROUND_ROBIN',
              healthmonitor: { type: 'HTTP', delay: 5, timeout: 3, max_retries: 2 },
              members: [{ address: '10.1.0.5', protocol_port: 80 }],
            },
          },
        ],
      },
    });
    const path = `${base}/loadbalancers/${loadbalancer.id}`;
    cloud.undo('DELETE', `${path}?cascade=true`);
    await settled(cloud, path);
    await cloud.get(path);
    const { listeners } = await cloud.get(`${base}/listeners?name=cmp-l7-listener&fields=id&fields=default_pool_id`);
    const { pools } = await cloud.get(`${base}/pools?name=cmp-l7-pool`);
    const policy = { listener_id: listeners[0].id, action: 'REDIRECT_TO_POOL', redirect_pool_id: pools[0].id };
    for (const desired of [
      {},
      { ...policy, listener_id: unknown },
      { ...policy, action: 'BOGUS' },
      { listener_id: listeners[0].id, action: 'REDIRECT_TO_URL' },
      { ...policy, redirect_pool_id: unknown },
    ]) {
      await cloud.request('POST', `${base}/l7policies`, { l7policy: desired });
    }
    const { l7policy } = await cloud.request('POST', `${base}/l7policies`, {
      l7policy: { ...policy, name: 'cmp-policy' },
    });
    await settled(cloud, path);
    const policyPath = `${base}/l7policies/${l7policy.id}`;
    await cloud.get(policyPath);
    for (const desired of [
      {},
      { type: 'BOGUS', compare_type: 'EQUAL_TO', value: 'x' },
      { type: 'PATH', compare_type: 'BOGUS', value: 'x' },
      { type: 'PATH', compare_type: 'STARTS_WITH' },
      { type: 'HEADER', compare_type: 'EQUAL_TO', value: 'x' },
    ]) {
      await cloud.request('POST', `${policyPath}/rules`, { rule: desired });
    }
    const { rule } = await cloud.request('POST', `${policyPath}/rules`, {
      rule: { type: 'PATH', compare_type: 'STARTS_WITH', value: '/api' },
    });
    await settled(cloud, path);
    await cloud.get(`${policyPath}/rules/${rule.id}`);
    await cloud.get(`${policyPath}/rules`);
    await cloud.get(policyPath);
    await cloud.get(`${base}/listeners/${listeners[0].id}`);
    await cloud.put(`${policyPath}/rules/${rule.id}`, { rule: { value: '/v2' } });
    await settled(cloud, path);
    await cloud.put(policyPath, { l7policy: { name: 'renamed' } });
    await settled(cloud, path);
    await cloud.delete(`${base}/pools/${pools[0].id}`);
    await settled(cloud, path);
    await cloud.delete(`${policyPath}/rules/${rule.id}`);
    await settled(cloud, path);
    await cloud.get(`${policyPath}/rules`);
    await cloud.delete(policyPath);
    await settled(cloud, path);
    await cloud.get(policyPath);
  },
};
