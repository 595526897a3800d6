import { baseUrl, type Layout, type Listener, region } from '../layout.ts';
import { expectOk, logIn, type Rest } from '../rest.ts';

/** User and project of the tests, and the administrator. */
export const member = { user: 'capstan', project: 'capstan' } as const;
export const administrator = { user: 'admin', project: 'admin' } as const;

const roles = [
  'admin',
  'member',
  'reader',
  'service',
  'creator',
  'load-balancer_member',
  'load-balancer_observer',
  'load-balancer_global_observer',
  'load-balancer_quota_admin',
  'load-balancer_admin',
];
const serviceUsers = ['placement', 'glance', 'neutron', 'nova', 'cinder', 'octavia'];
const catalog: readonly { type: string; name: string; listener: Listener; path: string }[] = [
  { type: 'placement', name: 'placement', listener: 'placement', path: '' },
  { type: 'image', name: 'glance', listener: 'image', path: '' },
  { type: 'network', name: 'neutron', listener: 'network', path: '' },
  { type: 'compute', name: 'nova', listener: 'compute', path: '/v2.1' },
  { type: 'volumev3', name: 'cinderv3', listener: 'volume', path: '/v3/%(project_id)s' },
  { type: 'load-balancer', name: 'octavia', listener: 'loadBalancer', path: '' },
];

interface Named {
  id: string;
  name: string;
}

/** Creates projects, users, roles and the catalogue. Idempotent. */
export async function seedIdentity(layout: Layout): Promise<void> {
  const rest = await logIn(layout, administrator);
  const identity = new IdentityContent(rest, `${baseUrl(layout, 'identity')}/v3`, layout.password);
  const roleIds = new Map<string, string>();
  for (const name of roles) roleIds.set(name, await identity.ensure('role', { name }));
  const grant = async (project: string, user: string, ...names: string[]): Promise<void> => {
    for (const name of names) await identity.grant(project, user, roleIds.get(name)!);
  };
  const serviceProject = await identity.ensureProject('service');
  for (const name of serviceUsers) {
    await grant(serviceProject, await identity.ensureUser(name, serviceProject), 'admin', 'service');
  }
  const project = await identity.ensureProject(member.project);
  const user = await identity.ensureUser(member.user, project);
  await grant(project, user, 'member', 'reader', 'load-balancer_member');
  const adminUser = await identity.find('user', administrator.user);
  const adminProject = await identity.find('project', administrator.project);
  await grant(adminProject!, adminUser!, 'admin', 'member', 'load-balancer_admin');
  await grant(project, adminUser!, 'admin', 'member', 'load-balancer_admin');
  for (const { type, name, listener, path } of catalog) {
    await identity.ensureService(type, name, `${baseUrl(layout, listener)}${path}`);
  }
}

class IdentityContent {
  readonly #rest: Rest;
  readonly #url: string;
  readonly #password: string;

  constructor(rest: Rest, url: string, password: string) {
    this.#rest = rest;
    this.#url = url;
    this.#password = password;
  }

  async find(kind: string, name: string): Promise<string | undefined> {
    const list = await expectOk<Record<string, Named[]>>(
      this.#rest('GET', `${this.#url}/${kind}s?name=${encodeURIComponent(name)}`),
      `looking for ${kind} ${name}`,
    );
    return list[`${kind}s`]![0]?.id;
  }

  async ensure(kind: string, wanted: { name: string; [key: string]: unknown }): Promise<string> {
    const found = await this.find(kind, wanted.name);
    if (found !== undefined) return found;
    const made = await expectOk<Record<string, Named>>(
      this.#rest('POST', `${this.#url}/${kind}s`, { [kind]: wanted }),
      `making ${kind} ${wanted.name}`,
    );
    return made[kind]!.id;
  }

  ensureProject(name: string): Promise<string> {
    return this.ensure('project', { name, domain_id: 'default' });
  }

  ensureUser(name: string, project: string): Promise<string> {
    return this.ensure('user', { name, domain_id: 'default', password: this.#password, default_project_id: project });
  }

  async grant(project: string, user: string, role: string): Promise<void> {
    await expectOk(
      this.#rest('PUT', `${this.#url}/projects/${project}/users/${user}/roles/${role}`),
      'granting a role',
    );
  }

  async ensureService(type: string, name: string, url: string): Promise<void> {
    const service = await this.ensure('service', { name, type });
    const { endpoints } = await expectOk<{ endpoints: { interface: string }[] }>(
      this.#rest('GET', `${this.#url}/endpoints?service_id=${service}`),
      'listing endpoints',
    );
    const present = new Set(endpoints.map((endpoint) => endpoint.interface));
    for (const side of ['public', 'internal', 'admin'].filter((each) => !present.has(each))) {
      const endpoint = { service_id: service, interface: side, region_id: region, url };
      await expectOk(this.#rest('POST', `${this.#url}/endpoints`, { endpoint }), `making the endpoint of ${type}`);
    }
  }
}
