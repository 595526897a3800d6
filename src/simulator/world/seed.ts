import { must } from '../../machinery/index.ts';
import type { Core } from '../core/core.ts';
import type { Dispatcher } from '../core/http/dispatch.ts';
import type { World, WorldCredentials, WorldProject, WorldUser } from './world.ts';

interface Session {
  readonly token: string;
  readonly userId: string;
  readonly projectId: string;
}

type Ask = (session: Session | undefined, method: string, path: string, body?: unknown) => Reply;

/** An answer with access to its values by path. */
interface Reply {
  readonly headers: Readonly<Record<string, string>>;
  text(...path: readonly string[]): string;
  list(key: string): readonly Readonly<Record<string, string>>[];
}

/**
 * Fills a new cloud through its own API as administrator, so a world can contain only what the API can create. Fault
 * rules do not apply.
 */
export function seedWorld(core: Core, dispatcher: Dispatcher, adminPassword: string, world: World): WorldCredentials {
  const ask: Ask = (session, method, path, body) => {
    const arrived = dispatcher.arrive({
      method,
      url: path,
      headers: {
        'content-type': path.endsWith('/file') ? 'application/octet-stream' : 'application/json',
        'openstack-api-version': 'compute 2.60',
        ...(session && { 'x-auth-token': session.token }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = arrived?.answer();
    const text = answer ? Buffer.from(answer.body).toString() : 'no such service';
    if (!answer || answer.status >= 300) throw new Error(`the world could not be made: ${method} ${path}: ${text}`);
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    const at = (path: readonly string[]): unknown =>
      path.reduce((value: unknown, key) => (value as Readonly<Record<string, unknown>>)[key], parsed);
    return {
      headers: answer.headers,
      text: (...path) => String(at(path)),
      list: (key) => at([key]) as readonly Readonly<Record<string, string>>[],
    };
  };
  const login = (name: string, password: string, project: string): Session => {
    const domain = { id: 'default' };
    const answer = ask(undefined, 'POST', '/identity/v3/auth/tokens', {
      auth: {
        identity: { methods: ['password'], password: { user: { name, domain, password } } },
        scope: { project: { name: project, domain } },
      },
    });
    return {
      token: must(answer.headers['x-subject-token'], 'token'),
      userId: answer.text('token', 'user', 'id'),
      projectId: answer.text('token', 'project', 'id'),
    };
  };
  const has = (type: string): boolean => core.catalog.some((entry) => entry.type === type);

  const admin = login('admin', adminPassword, 'admin');
  seedCompute(core, ask, admin, world);
  if (has('image')) for (const image of world.images ?? []) seedImage(ask, admin, image);
  if (has('volumev3')) {
    for (const name of world.volumeTypes ?? []) {
      ask(admin, 'POST', `/volume/v3/${admin.projectId}/types`, { volume_type: { name } });
    }
  }
  const externalIds = new Map<string, string>();
  if (has('network')) seedExternalNetworks(core, ask, admin, world, externalIds);
  if (has('load-balancer')) seedLoadBalancerFlavors(ask, admin, world);

  const credentials = {
    users: [] as Mutable<'users'>,
    applicationCredentials: [] as Mutable<'applicationCredentials'>,
  };
  const roles = new Map<string, string>();
  for (const { id, name } of ask(admin, 'GET', '/identity/v3/roles').list('roles'))
    roles.set(must(name, 'name'), must(id, 'id'));
  for (const project of world.projects ?? []) {
    const desired = { project: { name: project.name } };
    const projectId = ask(admin, 'POST', '/identity/v3/projects', desired).text('project', 'id');
    seedQuotas(core, projectId, project);
    for (const user of project.users) {
      const password = user.password ?? core.ids.secret(24);
      const desired = { user: { name: user.name, password, default_project_id: projectId } };
      const id = ask(admin, 'POST', '/identity/v3/users', desired).text('user', 'id');
      for (const role of user.roles) {
        ask(admin, 'PUT', `/identity/v3/projects/${projectId}/users/${id}/roles/${roles.get(role)}`);
      }
      const session = login(user.name, password, project.name);
      credentials.users.push({ name: user.name, id, password, project: project.name, projectId });
      credentials.applicationCredentials.push(...seedUser(ask, session, user, project.name));
    }
    const owner = credentials.users.find(({ projectId: own }) => own === projectId);
    if (owner && has('network'))
      seedNetworks(ask, login(owner.name, owner.password, project.name), project, externalIds);
  }
  return credentials;
}

type Mutable<K extends keyof WorldCredentials> = WorldCredentials[K][number][];

function seedCompute(core: Core, ask: Ask, admin: Session, world: World): void {
  core.state.transact(() => {
    for (const { name, zone, vcpus, ramMiB, diskGiB } of world.hosts ?? []) {
      core.services.compute.addHost({ id: name, zone, vcpus, ram: ramMiB, disk: diskGiB });
    }
  });
  for (const { name, vcpus, ramMiB, diskGiB } of world.flavors ?? []) {
    ask(admin, 'POST', '/compute/v2.1/flavors', { flavor: { name, vcpus, ram: ramMiB, disk: diskGiB } });
  }
}

function seedImage(ask: Ask, admin: Session, image: NonNullable<World['images']>[number]): void {
  const id = ask(admin, 'POST', '/image/v2/images', {
    name: image.name,
    visibility: 'public',
    disk_format: 'qcow2',
    container_format: 'bare',
    tags: image.tags ?? [],
    min_disk: image.minDiskGiB ?? 0,
    ...image.properties,
  }).text('id');
  ask(admin, 'PUT', `/image/v2/images/${id}/file`, `a simulated image of ${image.name}\n`);
}

function seedExternalNetworks(core: Core, ask: Ask, admin: Session, world: World, ids: Map<string, string>): void {
  for (const { name, id: wantedId, cidr, gateway, pool } of world.externalNetworks ?? []) {
    if (wantedId !== undefined) core.ids.next(wantedId);
    const id = ask(admin, 'POST', '/network/v2.0/networks', {
      network: { name, 'router:external': true },
    }).text('network', 'id');
    ask(admin, 'POST', '/network/v2.0/subnets', {
      subnet: {
        name: `${name}-subnet`,
        network_id: id,
        ip_version: cidr.includes(':') ? 6 : 4,
        cidr,
        gateway_ip: gateway,
        allocation_pools: [pool],
        enable_dhcp: false,
      },
    });
    ids.set(name, id);
  }
}

function seedLoadBalancerFlavors(ask: Ask, admin: Session, world: World): void {
  for (const name of world.loadBalancerFlavors ?? []) {
    const id = ask(admin, 'POST', '/load-balancer/v2.0/lbaas/flavorprofiles', {
      flavorprofile: { name, provider_name: 'amphora', flavor_data: '{"loadbalancer_topology": "SINGLE"}' },
    }).text('flavorprofile', 'id');
    ask(admin, 'POST', '/load-balancer/v2.0/lbaas/flavors', {
      flavor: { name, flavor_profile_id: id, description: '', enabled: true },
    });
  }
}

function seedQuotas(core: Core, projectId: string, { quotas }: WorldProject): void {
  core.state.transact(() => {
    for (const [service, limits] of Object.entries(quotas ?? {})) core.quotas.set(service, projectId, limits);
  });
}

function seedUser(ask: Ask, session: Session, user: WorldUser, project: string): Mutable<'applicationCredentials'> {
  for (const { name, publicKey } of user.keyPairs ?? []) {
    ask(session, 'POST', '/compute/v2.1/os-keypairs', { keypair: { name, public_key: publicKey } });
  }
  return (user.applicationCredentials ?? []).map((name) => {
    const path = `/identity/v3/users/${session.userId}/application_credentials`;
    const answer = ask(session, 'POST', path, { application_credential: { name } });
    const [id, secret] = ['id', 'secret'].map((key) => answer.text('application_credential', key));
    return { name, id: must(id, 'id'), secret: must(secret, 'secret'), user: user.name, project };
  });
}

function seedNetworks(
  ask: Ask,
  session: Session,
  project: WorldProject,
  externalIds: ReadonlyMap<string, string>,
): void {
  for (const { name, cidr, dnsServers, externalNetwork } of project.networks ?? []) {
    const id = ask(session, 'POST', '/network/v2.0/networks', { network: { name } }).text('network', 'id');
    const subnetId = ask(session, 'POST', '/network/v2.0/subnets', {
      subnet: { name, network_id: id, ip_version: 4, cidr, dns_nameservers: dnsServers ?? [] },
    }).text('subnet', 'id');
    const gateway = externalNetwork === undefined ? undefined : externalIds.get(externalNetwork);
    const routerId = ask(session, 'POST', '/network/v2.0/routers', {
      router: { name, ...(gateway !== undefined && { external_gateway_info: { network_id: gateway } }) },
    }).text('router', 'id');
    ask(session, 'PUT', `/network/v2.0/routers/${routerId}/add_router_interface`, { subnet_id: subnetId });
  }
}
