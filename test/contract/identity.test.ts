import { expect, it } from 'vitest';
import { type CloudConfig, connect, type OpenStackError } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';
import { until } from './support/wait.ts';

contract('identity', (cloud) => {
  const credentials = () => cloud.member.identity.applicationCredentials(cloud.tenant.userId);
  const as = (config: Partial<CloudConfig>) => connect({ ...cloud.tenant.config, ...config });
  const keystone = async (): Promise<string> => cloud.member.identity.service.endpoint();
  const login = async (auth: unknown) =>
    cloud.wire({ method: 'POST', url: `${await keystone()}/auth/tokens`, json: auth });
  const passwordIdentity = () => {
    const { credential } = cloud.tenant.config;
    if (credential.method !== 'password') throw new Error('not a password');
    return { methods: ['password'], password: { user: { id: cloud.tenant.userId, password: credential.password } } };
  };

  it('shows the owner, the scope and the roles of a token', async () => {
    const me = await cloud.member.identity.whoami();
    expect(me.user.id).toBe(cloud.tenant.userId);
    expect(me.project).toMatchObject({
      id: cloud.tenant.projectId,
      name: cloud.tenant.projectName,
      domain: { id: 'default' },
    });
    expect(me.roles.map(({ name }) => name).toSorted()).toEqual(['load-balancer_member', 'member', 'reader']);
    expect(me.methods).toEqual(['password']);
    expect(Date.parse(me.expiresAt!) - Date.parse(me.issuedAt!)).toBeGreaterThan(600_000);
  });

  it('lists every service with three interfaces', async () => {
    const { catalogue } = await cloud.member.identity.whoami();
    const types = catalogue.map(({ type }) => type);
    for (const type of ['identity', 'compute', 'network', 'image', 'volumev3', 'load-balancer', 'placement']) {
      expect(types).toContain(type);
    }
    for (const { endpoints } of catalogue) {
      expect(endpoints.map((endpoint) => endpoint.interface).toSorted()).toEqual(['admin', 'internal', 'public']);
    }
    const volume = catalogue.find(({ type }) => type === 'volumev3')!;
    expect(volume.endpoints[0]!.url).toMatch(new RegExp(`/v3/${cloud.tenant.projectId}$`));
  });

  it('shows its version without a token', async () => {
    const answer = await cloud.wire({ method: 'GET', url: await keystone() });
    expect(answer.status).toBe(200);
    expect(answer.json.version).toMatchObject({ status: 'stable', id: expect.stringMatching(/^v3\.\d+$/) });
  });

  it.each([
    ['an empty body', {}, 400, /Expecting to find auth in request body/],
    ['no identity', { auth: {} }, 400, /'identity' is a required property/],
  ])('refuses to log in with %s', async (_what, body, status, message) => {
    const answer = await login(body);
    expect(answer.status).toBe(status);
    expect(answer.json.error).toMatchObject({
      code: status,
      title: 'Bad Request',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['a wrong password', (config: CloudConfig) => ({ credential: { ...config.credential, password: 'wrong' } })],
    [
      'an unknown user',
      () => ({
        credential: { method: 'password', user: { name: 'nobody-at-all', domain: { id: 'default' } }, password: 'x' },
      }),
    ],
    ['an unknown project', () => ({ scope: { kind: 'project', project: { id: '0'.repeat(32) } } })],
  ])('answers %s the same way: 401', async (_what, change) => {
    const error = await refused(as(change(cloud.tenant.config) as Partial<CloudConfig>).projectId(), {
      status: 401,
      kind: 'unauthorized',
      says: 'The request you have made requires authentication',
    });
    expect(error.message).toContain('check username, password, domain and project');
  });

  it('gives a token without a project when asked to', async () => {
    const answer = await login({ auth: { identity: passwordIdentity(), scope: 'unscoped' } });
    expect(answer.status).toBe(201);
    expect(answer.headers['x-subject-token']).toBeTruthy();
    const { token } = answer.json;
    expect([token.project, token.catalog, token.roles]).toEqual([undefined, undefined, undefined]);
  });

  it('changes the scope of a token', async () => {
    const answer = await login({ auth: { identity: passwordIdentity(), scope: 'unscoped' } });
    const token = answer.headers['x-subject-token']!;
    const me = await as({ credential: { method: 'token', token } }).identity.whoami();
    expect(me.project?.id).toBe(cloud.tenant.projectId);
    expect(me.methods).toEqual(['password', 'token']);
  });

  it('shows and revokes tokens', async () => {
    const { headers } = await login({
      auth: { identity: passwordIdentity(), scope: { project: { id: cloud.tenant.projectId } } },
    });
    const token = headers['x-subject-token']!;
    const url = `${await keystone()}/auth/tokens`;
    const subject = { 'x-subject-token': token };
    const shown = await cloud.wire({ method: 'GET', url, token, headers: subject });
    expect([shown.status, shown.json.token.project.id]).toEqual([200, cloud.tenant.projectId]);
    expect((await cloud.wire({ method: 'DELETE', url, token, headers: subject })).status).toBe(204);
    const after = await cloud.wire({ method: 'GET', url, token, headers: subject });
    expect(after.status).toBe(401);
    expect(after.headers['www-authenticate']).toMatch(/^Keystone uri="/i);
  });

  it('lists the projects of a user', async () => {
    const projects = await cloud.member.identity.projects();
    expect(projects).toMatchObject([{ id: cloud.tenant.projectId, enabled: true }]);
    expect(await cloud.member.identity.project(cloud.tenant.projectId)).toMatchObject({
      name: cloud.tenant.projectName,
    });
  });

  it.each([
    ['users', '/users', 'identity:list_users'],
    ['projects', '/projects', 'identity:list_projects'],
  ])('does not let members list %s', async (_what, path, rule) => {
    await refused(cloud.member.identity.service.request({ method: 'GET', path }), {
      status: 403,
      kind: 'forbidden',
      says: `You are not authorized to perform the requested action: ${rule}.`,
    });
  });

  it('creates application credentials whose secret is shown once', async () => {
    const name = uniqueName('app');
    const made = await credentials().create({ name });
    expect(made.secret.length).toBeGreaterThan(20);
    expect(made).toMatchObject({ name, projectId: cloud.tenant.projectId, expiresAt: undefined });
    expect(made.roles.toSorted()).toEqual(['load-balancer_member', 'member', 'reader']);
    const shown = await credentials().get(made.id);
    expect(shown).not.toHaveProperty('secret');
    expect((await credentials().list({ name })).map(({ id }) => id)).toEqual([made.id]);
    await refused(credentials().create({ name }), {
      status: 409,
      kind: 'conflict',
      says: 'Duplicate entry found with name',
    });
    expect(await credentials().delete(made.id)).toBe(true);
    expect(await credentials().delete(made.id)).toBe(false);
  });

  it('accepts application credentials by id and by name, only for their own project', async () => {
    const name = uniqueName('app');
    const { id, secret } = await credentials().create({ name });
    const byId = as({ credential: { method: 'applicationCredential', id, secret }, scope: { kind: 'none' } });
    const me = await byId.identity.whoami();
    expect([me.methods, me.project?.id]).toEqual([['application_credential'], cloud.tenant.projectId]);
    const byName = as({
      credential: { method: 'applicationCredential', name, user: { id: cloud.tenant.userId }, secret },
      scope: { kind: 'none' },
    });
    expect(await byName.projectId()).toBe(cloud.tenant.projectId);
    const scoped = await login({
      auth: {
        identity: { methods: ['application_credential'], application_credential: { id, secret } },
        scope: { project: { id: cloud.tenant.projectId } },
      },
    });
    expect(scoped.status).toBe(401);
    expect(scoped.json.error.message).toContain('Application credentials cannot request a scope.');
    await refused(byId.identity.applicationCredentials(cloud.tenant.userId).create({ name: uniqueName('app') }), {
      status: 403,
    });
    await credentials().delete(id);
  });

  it('explains application credentials that are wrong or deleted', async () => {
    const { id, secret } = await credentials().create({ name: uniqueName('app') });
    const by = (given: { id: string; secret: string }) =>
      as({ credential: { method: 'applicationCredential', ...given }, scope: { kind: 'none' } }).projectId();
    await refused(by({ id, secret: 'wrong' }), { status: 401, kind: 'unauthorized' });
    await credentials().delete(id);
    const gone = await refused(by({ id, secret }), {
      status: 404,
      kind: 'unauthorized',
      says: 'Could not find Application Credential',
    });
    expect(gone.message).toContain('check whether it has expired or was deleted');
  });

  it('accepts application credentials until they expire', async () => {
    const expiresAt = new Date(Date.now() + 3000).toISOString().replace(/\.\d+Z$/, '');
    const { id, secret } = await credentials().create({ name: uniqueName('app'), expiresAt });
    const login = () =>
      as({ credential: { method: 'applicationCredential', id, secret }, scope: { kind: 'none' } })
        .projectId()
        .then(
          () => undefined,
          (error: OpenStackError) => error,
        );
    const error = await until(login, (seen) => seen !== undefined);
    expect(error).toMatchObject({ kind: 'unauthorized', status: 401 });
    expect(error?.message).toContain('check whether it has expired or was deleted');
    await credentials().delete(id);
  });

  it('refuses application credentials that would expire before their creation', async () => {
    await refused(credentials().create({ name: uniqueName('app'), expiresAt: '2001-01-01T00:00:00' }), { status: 400 });
    await refused(credentials().create({ name: uniqueName('app'), roles: ['admin'] }), { status: 400 });
  });

  it('lets one user act for another by a trust', async () => {
    const trustee = await cloud.stranger();
    const answer = await cloud.member.identity.service.request({
      method: 'POST',
      path: '/OS-TRUST/trusts',
      json: {
        trust: {
          trustor_user_id: cloud.tenant.userId,
          trustee_user_id: trustee.userId,
          project_id: cloud.tenant.projectId,
          impersonation: false,
          roles: [{ name: 'member' }],
        },
      },
    });
    const trustId = String(answer.member('trust')['id']);
    const me = await connect({ ...trustee.config, scope: { kind: 'trust', trustId } }).identity.whoami();
    expect([me.project?.id, me.user.id]).toEqual([cloud.tenant.projectId, trustee.userId]);
  });

  it('lets administrators work on the whole system', async () => {
    const admin = connect({ ...cloud.admin.config, scope: { kind: 'system' } });
    const me = await admin.identity.whoami();
    expect([me.system, me.project]).toEqual([true, undefined]);
  });
});
