import fc from 'fast-check';
import { read, type TestTenant } from './test-tenant.ts';

/** A random action of a user, an operator or the clock. Numbers choose among existing resources. */
export type Step =
  | { readonly kind: 'server'; readonly network: number; readonly large: boolean; readonly fromVolume: boolean }
  | { readonly kind: 'volume'; readonly size: number }
  | {
      readonly kind: 'port' | 'network' | 'group' | 'router' | 'floating' | 'balancer' | 'serverGroup';
      readonly pick: number;
    }
  | { readonly kind: 'delete'; readonly of: Kind; readonly pick: number }
  | { readonly kind: 'act'; readonly action: string; readonly pick: number }
  | { readonly kind: 'attach'; readonly pick: number; readonly volume: number }
  | { readonly kind: 'behind'; readonly what: 'delete' | 'stop' | 'break' | 'port'; readonly pick: number }
  | { readonly kind: 'wait'; readonly ms: number };

export type Kind =
  | 'server'
  | 'volume'
  | 'port'
  | 'network'
  | 'group'
  | 'router'
  | 'floating'
  | 'balancer'
  | 'serverGroup';

const small = fc.nat(7);

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('server' as const),
      network: small,
      large: fc.boolean(),
      fromVolume: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('volume' as const), size: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('port', 'network', 'group', 'router', 'floating', 'balancer', 'serverGroup'),
      pick: small,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      of: fc.constantFrom(
        'server',
        'volume',
        'port',
        'network',
        'group',
        'router',
        'floating',
        'balancer',
        'serverGroup',
      ),
      pick: small,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('act' as const),
      action: fc.constantFrom('os-stop', 'os-start', 'pause', 'unpause', 'shelve', 'unshelve'),
      pick: small,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('attach' as const), pick: small, volume: small }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('behind' as const),
      what: fc.constantFrom('delete', 'stop', 'break', 'port'),
      pick: small,
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 8000 }) }) },
);

const collections: Readonly<Record<Kind, { readonly path: string; readonly key: string }>> = {
  server: { path: '/compute/v2.1/servers', key: 'servers' },
  serverGroup: { path: '/compute/v2.1/os-server-groups', key: 'server_groups' },
  balancer: { path: '/load-balancer/v2/lbaas/loadbalancers', key: 'loadbalancers' },
  volume: { path: '/volume/v3/PROJECT/volumes', key: 'volumes' },
  floating: { path: '/network/v2.0/floatingips', key: 'floatingips' },
  router: { path: '/network/v2.0/routers', key: 'routers' },
  port: { path: '/network/v2.0/ports', key: 'ports' },
  network: { path: '/network/v2.0/networks', key: 'networks' },
  group: { path: '/network/v2.0/security-groups', key: 'security_groups' },
};

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly tenant_id?: string;
  readonly device_owner?: string;
  readonly device_id?: string;
}

/** A tenant that performs random steps. It records all answers, to compare two runs. */
export class RandomLife {
  readonly tenant: TestTenant;
  readonly transcript: string[] = [];
  #made = 0;

  constructor(tenant: TestTenant) {
    this.tenant = tenant;
  }

  /** resources of a kind that belong to the tenant */
  async list(kind: Kind): Promise<Listed[]> {
    const { path, key } = collections[kind];
    const answer = await this.#send('GET', path);
    const { projectId } = this.tenant.user;
    return read<Listed[]>(answer, key).filter(
      ({ tenant_id, name }) => (tenant_id ?? projectId) === projectId && !(kind === 'group' && name === 'default'),
    );
  }

  async happen(what: Step): Promise<void> {
    switch (what.kind) {
      case 'wait':
        await this.tenant.clock.advance(what.ms);
        return;
      case 'server':
        return this.#makeServer(what);
      case 'volume':
        return void (await this.#send('POST', collections.volume.path, { volume: { size: what.size } }));
      case 'delete':
        return this.#delete(what.of, what.pick);
      case 'act': {
        const server = await this.#pick('server', what.pick);
        if (server) await this.#send('POST', `/compute/v2.1/servers/${server.id}/action`, { [what.action]: null });
        return;
      }
      case 'attach': {
        const [server, volume] = [await this.#pick('server', what.pick), await this.#pick('volume', what.volume)];
        if (!server || !volume) return;
        const path = `/compute/v2.1/servers/${server.id}/os-volume_attachments`;
        await this.#send('POST', path, { volumeAttachment: { volumeId: volume.id } });
        return;
      }
      case 'behind':
        return this.#changeUnrequested(what.what, what.pick);
      default:
        return this.#make(what.kind, what.pick);
    }
  }

  /** Deletes everything repeatedly until nothing more can be deleted. Returns what is left. */
  async deleteAll(): Promise<string[]> {
    const order = Object.keys(collections) as Kind[];
    for (let round = 0; round < 12; round++) {
      for (const kind of order) {
        for (let at = 0; ; at++) {
          const before = await this.list(kind);
          if (at >= before.length) break;
          await this.#remove(kind, before[at]!);
        }
      }
      await this.tenant.clock.advance(30_000);
    }
    const left: string[] = [];
    for (const kind of order) for (const { id } of await this.list(kind)) left.push(`${kind} ${id}`);
    return left;
  }

  async #makeServer({ network, large, fromVolume }: Extract<Step, { kind: 'server' }>): Promise<void> {
    const { tenant } = this;
    const chosen = await this.#pick('network', network);
    const device = {
      source_type: 'image',
      destination_type: 'volume',
      uuid: tenant.imageId,
      boot_index: 0,
      volume_size: 2,
    };
    await this.#send('POST', collections.server.path, {
      server: {
        name: `s${this.#made++}`,
        flavorRef: large ? tenant.largeFlavorId : tenant.flavorId,
        ...(fromVolume
          ? { imageRef: '', block_device_mapping_v2: [{ ...device, delete_on_termination: large }] }
          : { imageRef: tenant.imageId }),
        networks: chosen ? [{ uuid: chosen.id }] : 'none',
      },
    });
  }

  async #make(kind: Kind, pick: number): Promise<void> {
    const name = `${kind}${this.#made++}`;
    switch (kind) {
      case 'network': {
        const network_id = read(
          await this.#send('POST', '/network/v2.0/networks', { network: { name } }),
          'network.id',
        );
        if (network_id === undefined) return;
        const cidr = `10.${this.#made % 250}.0.0/28`;
        await this.#send('POST', '/network/v2.0/subnets', { subnet: { network_id, ip_version: 4, cidr } });
        return;
      }
      case 'port': {
        const network = await this.#pick('network', pick);
        if (network) await this.#send('POST', '/network/v2.0/ports', { port: { network_id: network.id, name } });
        return;
      }
      case 'group':
        await this.#send('POST', '/network/v2.0/security-groups', { security_group: { name } });
        return;
      case 'router':
        return this.#makeRouter(name, pick);
      case 'floating': {
        const port = await this.#pick('port', pick);
        const floating_network_id = await this.#externalId();
        const desired = { floating_network_id, ...(port && pick % 2 === 0 && { port_id: port.id }) };
        await this.#send('POST', '/network/v2.0/floatingips', { floatingip: desired });
        return;
      }
      case 'balancer': {
        const subnets = read<Listed[]>(await this.#send('GET', '/network/v2.0/subnets'), 'subnets');
        const own = subnets.filter(({ tenant_id }) => tenant_id === this.tenant.user.projectId);
        const subnet = own[pick % Math.max(1, own.length)];
        if (!subnet) return;
        await this.#send('POST', collections.balancer.path, { loadbalancer: { name, vip_subnet_id: subnet.id } });
        return;
      }
      case 'serverGroup':
        await this.#send(
          'POST',
          collections.serverGroup.path,
          { server_group: { name, policy: 'soft-anti-affinity' } },
          '2.64',
        );
        return;
      default:
        return;
    }
  }

  async #makeRouter(name: string, pick: number): Promise<void> {
    const external_gateway_info = { network_id: await this.#externalId() };
    const made = await this.#send('POST', '/network/v2.0/routers', { router: { name, external_gateway_info } });
    const network = await this.#pick('network', pick);
    const subnets =
      network && read<Listed[]>(await this.#send('GET', `/network/v2.0/subnets?network_id=${network.id}`), 'subnets');
    if (!subnets?.[0] || made.status !== 201) return;
    const path = `/network/v2.0/routers/${read(made, 'router.id')}/add_router_interface`;
    await this.#send('PUT', path, { subnet_id: subnets[0].id });
  }

  async #externalId(): Promise<string> {
    return read(await this.#send('GET', '/network/v2.0/networks?router:external=true'), 'networks.0.id');
  }

  async #delete(kind: Kind, pick: number): Promise<void> {
    const chosen = await this.#pick(kind, pick);
    if (chosen) await this.#remove(kind, chosen);
  }

  async #remove(kind: Kind, { id, device_owner, device_id }: Listed): Promise<void> {
    if (kind === 'port' && device_owner === 'network:router_interface') {
      await this.#send('PUT', `/network/v2.0/routers/${device_id}/remove_router_interface`, { port_id: id });
      return;
    }
    const cascade = kind === 'balancer' ? '?cascade=true' : '';
    await this.#send('DELETE', `${collections[kind].path}/${id}${cascade}`);
  }

  async #changeUnrequested(what: 'delete' | 'stop' | 'break' | 'port', pick: number): Promise<void> {
    const { operator } = this.tenant.cloud;
    const server = await this.#pick('server', pick);
    try {
      if (what === 'port') {
        const port = await this.#pick('port', pick);
        // Operators cannot delete router ports either.
        if (port && !port.device_owner?.startsWith('network:')) operator.deletePort(port.id);
      } else if (server && what === 'delete') operator.deleteServer(server.id);
      else if (server && what === 'stop') operator.stopServer(server.id);
      else if (server) operator.breakServer(server.id, 'broken');
    } catch (error) {
      this.transcript.push(String(error));
    }
  }

  async #pick(kind: Kind, pick: number): Promise<Listed | undefined> {
    const all = await this.list(kind);
    return all[pick % Math.max(1, all.length)];
  }

  async #send(method: string, path: string, body?: unknown, version = '2.60') {
    const { user } = this.tenant;
    const answer = await user.request(method, path.replace('PROJECT', user.projectId), body, {
      'openstack-api-version': `compute ${version}`,
    });
    if (answer.status >= 500) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    this.transcript.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }
}
