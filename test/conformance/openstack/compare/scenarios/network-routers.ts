import type { Recorder } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

/** Creates a network with one subnet. */
async function makeNetwork(cloud: Recorder, name: string, cidr: string): Promise<{ network: string; subnet: string }> {
  const { network } = await cloud.post('/v2.0/networks', { network: { name } });
  const { subnet } = await cloud.post('/v2.0/subnets', {
    subnet: { network_id: network.id, ip_version: 4, cidr, name },
  });
  return { network: network.id, subnet: subnet.id };
}

async function externalNetwork(cloud: Recorder): Promise<string> {
  const { networks } = await cloud.until('/v2.0/networks?router:external=true&name=public', () => true);
  return networks[0].id;
}

export const routers: Scenario = {
  name: 'network: routers',
  service: 'network',
  async play(cloud) {
    cloud.ignore('revision_number');
    const external = await externalNetwork(cloud);
    const a = await makeNetwork(cloud, 'cmp-ra', '10.1.0.0/24');
    const b = await makeNetwork(cloud, 'cmp-rb', '10.2.0.0/24');
    const same = await makeNetwork(cloud, 'cmp-rc', '10.1.0.0/25');
    const { router } = await cloud.post('/v2.0/routers', { router: { name: 'cmp-router' } });
    const path = `/v2.0/routers/${router.id}`;
    cloud.undo('PUT', path, { router: { routes: [] } });
    await cloud.get(path);
    cloud.as('admin');
    await cloud.get(path);
    cloud.as('openstack');
    for (const desired of [
      { external_gateway_info: { network_id: a.network } },
      { external_gateway_info: { network_id: unknown } },
      { external_gateway_info: { network_id: 'x' } },
      { external_gateway_info: { enable_snat: true } },
      { external_gateway_info: 'x' },
      { external_gateway_info: { network_id: external, bogus: 1 } },
      { external_gateway_info: { network_id: external, enable_snat: false } },
      { external_gateway_info: { network_id: external, external_fixed_ips: [{ ip_address: '203.0.113.77' }] } },
      { external_gateway_info: {}, name: 'cmp-empty' },
      { external_gateway_info: null, name: 'cmp-null' },
      { ha: true },
      { distributed: true },
      { distributed: false },
      { routes: [] },
      { flavor_id: unknown },
      { availability_zone_hints: ['nowhere'] },
      { name: 7 },
      { bogus: 1 },
    ]) {
      await cloud.post('/v2.0/routers', { router: desired });
    }
    await cloud.put(`${path}/add_router_interface`, {});
    await cloud.put(`${path}/add_router_interface`, { subnet_id: 'x' });
    await cloud.put(`${path}/add_router_interface`, { subnet_id: unknown });
    await cloud.put(`${path}/add_router_interface`, { port_id: unknown });
    await cloud.put(`${path}/add_router_interface`, { subnet_id: a.subnet, port_id: unknown });
    cloud.undo('PUT', `${path}/remove_router_interface`, { subnet_id: a.subnet });
    cloud.undo('PUT', `${path}/remove_router_interface`, { subnet_id: b.subnet });
    const added = await cloud.put(`${path}/add_router_interface`, { subnet_id: a.subnet });
    await cloud.get(`/v2.0/ports/${added.port_id}`);
    cloud.as('admin');
    await cloud.get(`/v2.0/ports/${added.port_id}?fields=binding:vif_type&fields=status`);
    cloud.as('openstack');
    await cloud.put(`${path}/add_router_interface`, { subnet_id: a.subnet });
    await cloud.put(`${path}/add_router_interface`, { subnet_id: same.subnet });
    const { port } = await cloud.post('/v2.0/ports', {
      port: { network_id: b.network, fixed_ips: [{ ip_address: '10.2.0.1' }] },
    });
    const { port: used } = await cloud.post('/v2.0/ports', {
      port: { network_id: b.network, fixed_ips: [{ ip_address: '10.2.0.8' }], device_id: 'something' },
    });
    const { port: bare } = await cloud.post('/v2.0/ports', { port: { network_id: b.network, fixed_ips: [] } });
    await cloud.put(`${path}/add_router_interface`, { port_id: used.id });
    await cloud.put(`${path}/add_router_interface`, { port_id: bare.id });
    await cloud.put(`${path}/add_router_interface`, { port_id: port.id });
    await cloud.get(`/v2.0/ports/${port.id}`);
    await cloud.delete(`/v2.0/ports/${port.id}`);
    await cloud.put(`/v2.0/ports/${port.id}`, { port: { fixed_ips: [{ ip_address: '10.2.0.9' }] } });
    await cloud.put(`/v2.0/ports/${port.id}`, { port: { name: 'renamed' } });
    await cloud.get(`/v2.0/ports?device_id=${router.id}&fields=id&sort_key=id&sort_dir=asc`).then((list) => {
      cloud.records.at(-1)!.body = list.ports.length;
    });
    await cloud.delete(path).then((answer) => {
      const { NeutronError: error } = answer;
      cloud.records.at(-1)!.body = { type: error.type, ports: error.message.split(', ').length };
    });
    await cloud.delete(`/v2.0/subnets/${a.subnet}`);
    for (const change of [
      {},
      { name: 'cmp-router2' },
      { name: 'cmp-router' },
      { routes: [{ destination: '10.99.0.0/16', nexthop: '10.1.0.9' }] },
      { routes: [{ destination: '10.99.0.0/16', nexthop: '10.77.0.9' }] },
      { routes: [{ destination: '10.99.0.0/16', nexthop: '10.1.0.1' }] },
      { routes: [{ destination: '10.99.0.1/16', nexthop: '10.1.0.9' }] },
      { routes: 'x' },
      { external_gateway_info: { network_id: a.network } },
      { external_gateway_info: { network_id: external } },
    ]) {
      const answer = await cloud.put(path, { router: change });
      const address = answer.router?.external_gateway_info?.external_fixed_ips?.[0]?.ip_address;
      if (address === undefined) continue;
      cloud.hide(address, 'gateway');
      cloud.records.at(-1)!.body.router.external_gateway_info.external_fixed_ips[0].ip_address = '<gateway>';
    }
    await cloud.get(path);
    await cloud.put(path, { router: { external_gateway_info: { network_id: external } } });
    await cloud.put(`${path}/remove_router_interface`, { subnet_id: a.subnet });
    await cloud.put(`${path}/add_extraroutes`, {
      router: { routes: [{ destination: '10.98.0.0/16', nexthop: '10.1.0.9' }] },
    });
    await cloud.put(`${path}/remove_extraroutes`, {
      router: { routes: [{ destination: '10.99.0.0/16', nexthop: '10.1.0.9' }] },
    });
    await cloud.put(path, { router: { routes: [] } });
    await cloud.get(`/v2.0/ports?device_owner=network:router_gateway&device_id=${router.id}`);
    await cloud.put(path, { router: { external_gateway_info: {} } });
    await cloud.put(`${path}/remove_router_interface`, {});
    await cloud.put(`${path}/remove_router_interface`, { subnet_id: same.subnet });
    await cloud.put(`${path}/remove_router_interface`, { subnet_id: unknown });
    await cloud.put(`${path}/remove_router_interface`, { port_id: bare.id });
    await cloud.put(`${path}/remove_router_interface`, { port_id: port.id, subnet_id: a.subnet });
    await cloud.put(`${path}/remove_router_interface`, { port_id: port.id });
    await cloud.get(`/v2.0/ports/${port.id}`);
    await cloud.put(`${path}/remove_router_interface`, { subnet_id: a.subnet });
    for (const filter of ['name=cmp-router', 'admin_state_up=true', 'status=ACTIVE', 'tags=x', 'routes=x']) {
      await cloud.get(`/v2.0/routers?name=cmp-router&fields=name&${filter}`);
    }
    await cloud.put(`/v2.0/routers/${unknown}/add_router_interface`, { subnet_id: a.subnet });
    await cloud.put(`/v2.0/routers/${unknown}`, { router: { name: 'x' } });
    await cloud.get(`/v2.0/routers/${unknown}`);
    await cloud.delete(path);
    await cloud.delete(path);
  },
};

export const floatingIps: Scenario = {
  name: 'network: floating IPs',
  service: 'network',
  async play(cloud) {
    cloud.ignore('revision_number');
    const external = await externalNetwork(cloud);
    const { networks } = await cloud.get(
      '/v2.0/networks?name=public&fields=name&fields=router:external&fields=is_default',
    );
    if (networks.length !== 1) throw new Error('no external network');
    const a = await makeNetwork(cloud, 'cmp-fa', '10.1.0.0/24');
    const lone = await makeNetwork(cloud, 'cmp-fb', '10.2.0.0/24');
    const { router } = await cloud.post('/v2.0/routers', {
      router: { name: 'cmp-frouter', external_gateway_info: { network_id: external } },
    });
    cloud.hide(router.external_gateway_info.external_fixed_ips[0].ip_address, 'gateway');
    cloud.records.pop();
    const routerPath = `/v2.0/routers/${router.id}`;
    cloud.undo('PUT', `${routerPath}/remove_router_interface`, { subnet_id: a.subnet });
    await cloud.put(`${routerPath}/add_router_interface`, { subnet_id: a.subnet });
    const port = async (network: string, ...addresses: string[]): Promise<string> => {
      const made = await cloud.post('/v2.0/ports', {
        port: { network_id: network, name: 'cmp-fport', fixed_ips: addresses.map((ip_address) => ({ ip_address })) },
      });
      return made.port.id;
    };
    const first = await port(a.network, '10.1.0.5');
    const double = await port(a.network, '10.1.0.6', '10.1.0.7');
    const bare = await port(a.network);
    const far = await port(lone.network, '10.2.0.5');
    const make = async (name: string, desired: object): Promise<string> => {
      const made = await cloud.post('/v2.0/floatingips', { floatingip: { floating_network_id: external, ...desired } });
      if (!made.floatingip) return '';
      cloud.hide(made.floatingip.floating_ip_address, name);
      cloud.records.at(-1)!.body.floatingip.floating_ip_address = `<${name}>`;
      return made.floatingip.id;
    };
    const one = await make('one', { description: 'd' });
    const two = await make('two', { port_id: first });
    const path = `/v2.0/floatingips/${one}`;
    await cloud.get(path);
    for (const desired of [
      { floating_network_id: unknown },
      { floating_network_id: a.network },
      { floating_network_id: 'x' },
      { port_id: unknown },
      { port_id: 'x' },
      { port_id: far },
      { port_id: bare },
      { port_id: double },
      { port_id: double, fixed_ip_address: '10.1.0.99' },
      { fixed_ip_address: '10.1.0.5' },
      { port_id: first, fixed_ip_address: 'x' },
      { port_id: first, fixed_ip_address: 'fd00::1' },
      { floating_ip_address: '203.0.113.200' },
      { subnet_id: unknown },
      { subnet_id: a.subnet },
      { qos_policy_id: unknown },
      { dns_name: 'x' },
      { status: 'ACTIVE' },
      { tags: ['a'] },
    ]) {
      await make('more', desired);
    }
    await cloud.post('/v2.0/floatingips', { floatingip: {} });
    await cloud.put(path, { floatingip: { port_id: first } }).then((answer) => {
      const { NeutronError: error } = answer;
      cloud.records.at(-1)!.body = { type: error?.type };
    });
    await cloud.put(path, { floatingip: { port_id: double, fixed_ip_address: '10.1.0.7' } });
    await cloud.until(path, ({ floatingip }) => floatingip.status === 'ACTIVE');
    await cloud.get(path);
    await cloud.put(path, { floatingip: { description: 'other' } });
    await cloud.put(path, { floatingip: { floating_network_id: external } });
    await cloud.put(`/v2.0/floatingips/${two}`, { floatingip: { port_id: null } });
    await cloud.until(`/v2.0/floatingips/${two}`, ({ floatingip }) => floatingip.status === 'DOWN');
    await cloud.get(`/v2.0/floatingips/${two}`);
    for (const filter of [
      `port_id=${double}`,
      `port_id=${unknown}`,
      'fixed_ip_address=10.1.0.7',
      `floating_network_id=${external}&fixed_ip_address=10.1.0.7`,
      `router_id=${router.id}`,
      'status=ACTIVE&fixed_ip_address=10.1.0.7',
      'dns_name=x',
    ]) {
      await cloud.get(`/v2.0/floatingips?${filter}&fields=id`);
    }
    await cloud.put(`${routerPath}/remove_router_interface`, { subnet_id: a.subnet });
    await cloud.put(routerPath, { router: { external_gateway_info: {} } });
    await cloud.put(routerPath, { router: { external_gateway_info: null } });
    await cloud.put(path, { floatingip: {} });
    await cloud.until(path, ({ floatingip }) => floatingip.status === 'DOWN');
    await cloud.put(path, { floatingip: { port_id: double, fixed_ip_address: '10.1.0.7' } });
    await cloud.until(path, ({ floatingip }) => floatingip.status === 'ACTIVE');
    await cloud.delete(`/v2.0/ports/${double}`);
    await cloud.until(path, ({ floatingip }) => floatingip.status === 'DOWN');
    await cloud.get(path);
    await cloud.put(`/v2.0/networks/${external}`, { network: { name: 'mine' } });
    await cloud.delete(`/v2.0/networks/${external}`);
    await cloud.post('/v2.0/ports', { port: { network_id: external } });
    await cloud.post('/v2.0/subnets', { subnet: { network_id: external, ip_version: 4, cidr: '10.0.0.0/24' } });
    await cloud.delete(path);
    await cloud.delete(path);
    await cloud.get(path);
    await cloud.put(path, { floatingip: { port_id: null } });
  },
};
