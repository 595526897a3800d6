import { beforeEach, describe, expect, it } from 'vitest';
import { send, type TestCloud, testCloud } from '../testing/test-cloud.ts';
import { read } from '../testing/test-tenant.ts';

type Json = Record<string, unknown>;

let test: TestCloud;
const keystone = (method: string, path: string, body?: unknown) =>
  test.admin.request(method, `/identity/v3${path}`, body);
const roleId = async (name: string): Promise<string> =>
  read(await keystone('GET', `/roles?name=${name}`), 'roles.0.id');

beforeEach(async () => {
  test = await testCloud();
});

describe('roles', () => {
  it('revoked in one project leave tokens for others valid', async () => {
    const user = await test.member();
    const member = await roleId('member');
    const other = read(await keystone('POST', '/projects', { project: { name: 'other' } }), 'project.id');
    const grant = `/projects/${other}/users/${user.userId}/roles/${member}`;
    expect((await keystone('PUT', grant)).status).toBe(204);
    expect((await keystone('DELETE', grant)).status).toBe(204);
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(200);
    await keystone('DELETE', `/projects/${user.projectId}/users/${user.userId}/roles/${member}`);
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('include the roles they imply', async () => {
    const names = async (token: string) => {
      const shown = await test.admin.request('GET', '/identity/v3/auth/tokens', undefined, {
        'x-subject-token': token,
      });
      return read<{ name: string }[]>(shown, 'token.roles').map(({ name }) => name);
    };
    expect(await names(test.admin.token)).toEqual(['admin', 'member', 'reader']);
    const [member, made] = [
      await roleId('member'),
      read(await keystone('POST', '/roles', { role: { name: 'special' } }), 'role.id'),
    ];
    const path = `/roles/${member}/implies/${made}`;
    expect((await keystone('GET', path)).status).toBe(404);
    expect((await keystone('PUT', path)).status).toBe(201);
    expect(await keystone('GET', `/roles/${member}/implies`)).toMatchObject({
      body: { role_inference: { prior_role: { name: 'member' }, implies: [{ name: 'reader' }, { name: 'special' }] } },
    });
    const user = await test.member('p', ['member']);
    expect((await names(user.token)).sort()).toEqual(['member', 'reader', 'special']);
    const granted = await keystone('GET', `/projects/${user.projectId}/users/${user.userId}/roles`);
    expect(read<Json[]>(granted, 'roles')).toHaveLength(1);
    expect((await keystone('DELETE', path)).status).toBe(204);
    expect(read<Json[]>(await keystone('GET', '/role_inferences'), 'role_inferences')).toHaveLength(2);
    expect((await keystone('PUT', `/roles/${made}/implies/${await roleId('admin')}`)).status).toBe(403);
  });

  it('are renamed and deleted, except the basic ones', async () => {
    const id = read(await keystone('POST', '/roles', { role: { name: 'a' } }), 'role.id');
    expect((await keystone('PATCH', `/roles/${id}`, { role: { name: 'b' } })).body).toMatchObject({
      role: { name: 'b' },
    });
    expect((await keystone('PATCH', `/roles/${id}`, { role: { name: 'reader' } })).status).toBe(409);
    expect((await keystone('DELETE', `/roles/${id}`)).status).toBe(204);
    expect((await keystone('DELETE', `/roles/${await roleId('member')}`)).status).toBe(403);
  });
});

it('changes domains and deletes them with their content once they are disabled', async () => {
  const id = read(await keystone('POST', '/domains', { domain: { name: 'd' } }), 'domain.id');
  const user = read(await keystone('POST', '/users', { user: { name: 'u', domain_id: id } }), 'user.id');
  expect((await keystone('PATCH', `/domains/${id}`, { domain: { description: 'x' } })).body).toMatchObject({
    domain: { description: 'x' },
  });
  expect((await keystone('DELETE', `/domains/${id}`)).status).toBe(403);
  await keystone('PATCH', `/domains/${id}`, { domain: { enabled: false } });
  expect((await keystone('DELETE', `/domains/${id}`)).status).toBe(204);
  expect((await keystone('GET', `/users/${user}`)).status).toBe(404);
});

it('lets a project be a domain', async () => {
  const made = await keystone('POST', '/projects', { project: { name: 'd', is_domain: true } });
  expect(made).toMatchObject({ status: 201, body: { project: { is_domain: true, domain_id: null, parent_id: null } } });
  const id = read(made, 'project.id');
  expect((await keystone('GET', `/domains/${id}`)).body).toMatchObject({ domain: { name: 'd' } });
  const inside = await keystone('POST', '/projects', { project: { name: 'p', domain_id: id } });
  expect(inside.body).toMatchObject({ project: { domain_id: id, is_domain: false } });
  expect((await keystone('POST', '/projects', { project: { name: 'd', is_domain: true } })).status).toBe(409);
  const nested = { name: 'e', is_domain: true, parent_id: id };
  expect((await keystone('POST', '/projects', { project: nested })).status).toBe(400);
  const names = async (query: string): Promise<string[]> =>
    read<{ name: string }[]>(await keystone('GET', `/projects?${query}`), 'projects').map(({ name }) => name);
  expect(await names('is_domain=true')).toContain('d');
  expect(await names('name=d')).toEqual([]);
  expect((await keystone('DELETE', `/projects/${id}`)).status).toBe(403);
  expect((await keystone('PATCH', `/projects/${id}`, { project: { enabled: false } })).body).toMatchObject({
    project: { id, enabled: false, is_domain: true },
  });
  expect((await keystone('DELETE', `/projects/${id}`)).status).toBe(204);
  expect((await keystone('GET', `/domains/${id}`)).status).toBe(404);
  expect((await keystone('GET', `/projects/${read(inside, 'project.id')}`)).status).toBe(404);
});

it('finds users and projects by more than their names', async () => {
  const make = (name: string, more: Json = {}) => keystone('POST', '/projects', { project: { name, ...more } });
  const parent = read(await make('tree'), 'project.id');
  await make('leaf-one', { parent_id: parent, tags: ['a', 'b'] });
  await make('leaf-two', { enabled: false, tags: ['b'] });
  const projects = async (query: string) =>
    read<{ name: string }[]>(await keystone('GET', `/projects?${query}`), 'projects').map(({ name }) => name);
  expect(await projects('name__contains=leaf')).toEqual(['leaf-one', 'leaf-two']);
  expect(await projects('name__istartswith=LEAF-O')).toEqual(['leaf-one']);
  expect(await projects('name__endswith=two')).toEqual(['leaf-two']);
  expect(await projects('enabled=false')).toEqual(['leaf-two']);
  expect(await projects(`parent_id=${parent}`)).toEqual(['leaf-one']);
  expect(await projects('tags=a,b')).toEqual(['leaf-one']);
  expect(await projects('tags-any=a,b')).toEqual(['leaf-one', 'leaf-two']);
  await keystone('POST', '/users', { user: { name: 'off', enabled: false } });
  const users = await keystone('GET', '/users?enabled=false');
  expect(read<Json[]>(users, 'users')).toMatchObject([{ name: 'off' }]);
  const tag = `/projects/${parent}/tags/x`;
  expect((await keystone('PUT', tag)).status).toBe(201);
  expect((await keystone('GET', tag)).status).toBe(204);
  expect((await keystone('GET', `/projects/${parent}/tags`)).body).toMatchObject({ tags: ['x'] });
  expect((await keystone('DELETE', tag)).status).toBe(204);
  expect((await keystone('GET', tag)).status).toBe(404);
});

it('allows an application credential with access rules only those requests', async () => {
  const user = await test.member();
  const access_rules = [
    { service: 'compute', method: 'GET', path: '/v2.1/servers' },
    { service: 'network', method: 'GET', path: '/v2.0/networks/{network_id}' },
    { service: 'image', method: 'GET', path: '/v2/**' },
  ];
  const base = `/identity/v3/users/${user.userId}`;
  const made = await user.request('POST', `${base}/application_credentials`, {
    application_credential: { name: 'narrow', access_rules },
  });
  expect(made).toMatchObject({ status: 201, body: { application_credential: { access_rules } } });
  const { id, secret } = read<{ id: string; secret: string }>(made, 'application_credential');
  const methods = ['application_credential'];
  const login = await send(test.cloud, 'POST', '/identity/v3/auth/tokens', {
    body: { auth: { identity: { methods, application_credential: { id, secret } } } },
  });
  const token = login.headers['x-subject-token']!;
  const status = async (method: string, path: string) => (await send(test.cloud, method, path, { token })).status;
  expect(await status('GET', '/compute/v2.1/servers')).toBe(200);
  expect(await status('GET', '/compute/v2.1/servers/detail')).toBe(401);
  expect(await status('POST', '/compute/v2.1/servers')).toBe(401);
  expect(await status('GET', '/network/v2.0/networks')).toBe(401);
  expect(await status('GET', '/network/v2.0/networks/x')).toBe(404);
  expect(await status('GET', '/image/v2/images')).toBe(200);
  expect(await status('GET', '/volume/v3/')).toBe(401);
  const rules = read<Json[]>(await user.request('GET', `${base}/access_rules`), 'access_rules');
  expect(rules).toMatchObject(access_rules);
  expect((await user.request('GET', `${base}/access_rules/${rules[0]!['id']}`)).status).toBe(200);
  expect((await user.request('DELETE', `${base}/access_rules/${rules[0]!['id']}`)).status).toBe(403);
  expect((await user.request('DELETE', `${base}/application_credentials/${id}`)).status).toBe(204);
  expect((await user.request('DELETE', `${base}/access_rules/${rules[0]!['id']}`)).status).toBe(204);
  expect(read<Json[]>(await user.request('GET', `${base}/access_rules`), 'access_rules')).toHaveLength(2);
  const wrong = { application_credential: { name: 'x', access_rules: [{ service: 'a', method: 'LOOK', path: '/' }] } };
  expect((await user.request('POST', `${base}/application_credentials`, wrong)).status).toBe(400);
});

it('gives group members the roles of the group while they are in it', async () => {
  const user = await test.member('p', ['reader']);
  const group = read(await keystone('POST', '/groups', { group: { name: 'g' } }), 'group.id');
  expect((await keystone('POST', '/groups', { group: { name: 'G' } })).status).toBe(409);
  const inside = `/groups/${group}/users/${user.userId}`;
  expect((await keystone('HEAD', inside)).status).toBe(404);
  expect((await keystone('PUT', inside)).status).toBe(204);
  expect((await keystone('HEAD', inside)).status).toBe(204);
  const member = await roleId('member');
  const grant = `/projects/${user.projectId}/groups/${group}/roles/${member}`;
  expect((await keystone('PUT', grant)).status).toBe(204);
  expect((await keystone('HEAD', grant)).status).toBe(204);
  const login = async (): Promise<string[]> => {
    const password = { user: { id: user.userId, password: 'secret' } };
    const scope = { project: { id: user.projectId } };
    const answer = await send(test.cloud, 'POST', '/identity/v3/auth/tokens', {
      body: { auth: { identity: { methods: ['password'], password }, scope } },
    });
    return read<{ name: string }[]>(answer, 'token.roles').map(({ name }) => name);
  };
  expect(await login()).toContain('member');
  expect(read<Json[]>(await user.request('GET', `/identity/v3/users/${user.userId}/groups`), 'groups')).toHaveLength(1);
  const assignments = await keystone('GET', `/role_assignments?group.id=${group}&include_names=true`);
  expect(read<Json[]>(assignments, 'role_assignments')).toMatchObject([
    { group: { name: 'g' }, role: { name: 'member' }, scope: { project: { id: user.projectId } } },
  ]);
  expect((await keystone('DELETE', inside)).status).toBe(204);
  expect(await login()).not.toContain('member');
  expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(401);
  expect((await keystone('PATCH', `/groups/${group}`, { group: { name: 'h', mail: 'm' } })).body).toMatchObject({
    group: { name: 'h', mail: 'm' },
  });
  expect((await keystone('DELETE', `/groups/${group}`)).status).toBe(204);
  expect(read<Json[]>(await keystone('GET', `/role_assignments?role.id=${member}`), 'role_assignments')).toEqual([]);
});

it('finds assignments below a domain with its subtree', async () => {
  const user = await test.member();
  const count = async (more: string) =>
    read<Json[]>(
      await keystone('GET', `/role_assignments?user.id=${user.userId}&scope.project.id=default${more}`),
      'role_assignments',
    ).length;
  expect(await count('')).toBe(0);
  expect(await count('&include_subtree=true')).toBeGreaterThan(0);
});

it('keeps unknown attributes of users and roles', async () => {
  const id = read(await keystone('POST', '/users', { user: { name: 'u', phone: '1' } }), 'user.id');
  expect((await keystone('PATCH', `/users/${id}`, { user: { reason: 'x' } })).body).toMatchObject({
    user: { phone: '1', reason: 'x' },
  });
  const role = read(await keystone('POST', '/roles', { role: { name: 'r', color: 'red' } }), 'role.id');
  expect((await keystone('GET', `/roles/${role}`)).body).toMatchObject({ role: { color: 'red' } });
});
