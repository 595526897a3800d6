import { describe, expect, it } from 'vitest';
import { send, type TestAnswer, type TestCloud, testCloud } from '../testing/test-cloud.ts';

const day = 24 * 60 * 60 * 1000;
const domain = { id: 'default' };
const password = (name: string, secret = 'secret'): object => ({
  methods: ['password'],
  password: { user: { name, domain, password: secret } },
});

function authenticate({ cloud }: Pick<TestCloud, 'cloud'>, identity: object, scope?: unknown): Promise<TestAnswer> {
  return send(cloud, 'POST', '/identity/v3/auth/tokens', {
    body: { auth: { identity, ...(scope !== undefined && { scope }) } },
  });
}

const tokenOf = (answer: TestAnswer): string => answer.headers['x-subject-token']!;
const body = <T>(answer: TestAnswer): T => answer.body as T;

interface TokenBody {
  token: {
    methods: string[];
    audit_ids: string[];
    project?: { id: string };
    roles?: { name: string }[];
    catalog?: { type: string; endpoints: { url: string; interface: string }[] }[];
    expires_at: string;
    system?: object;
    domain?: object;
  };
}

describe('tokens', () => {
  it('issued by password carry project, roles and catalogue', async () => {
    const test = await testCloud();
    const user = await test.member('p');
    const answer = await authenticate(test, password('p-user'), { project: { name: 'p', domain } });
    expect(answer.status).toBe(201);
    const { token } = body<TokenBody>(answer);
    expect(token.methods).toEqual(['password']);
    expect(token.project?.id).toBe(user.projectId);
    expect(token.roles?.map(({ name }) => name).sort()).toEqual(['load-balancer_member', 'member', 'reader']);
    expect(token.expires_at).toBe('2026-01-02T00:00:00.000000Z');
    const volume = token.catalog?.find(({ type }) => type === 'volumev3');
    expect(volume?.endpoints.map((each) => each.interface)).toEqual(['public', 'internal', 'admin']);
    expect(volume?.endpoints[0]?.url).toBe(`http://cloud.test/volume/v3/${user.projectId}`);
  });

  it.each([
    ['a wrong password', password('p-user', 'wrong'), { project: { name: 'p', domain } }],
    ['an unknown user', password('nobody'), { project: { name: 'p', domain } }],
    ['an unknown project', password('p-user'), { project: { name: 'q', domain } }],
    ['a project without a role', password('p-user'), { project: { name: 'admin', domain } }],
    ['a domain without a role', password('p-user'), { domain }],
    ['the system without a role', password('p-user'), { system: { all: true } }],
  ])('are refused for %s in the same words', async (_name, identity, scope) => {
    const test = await testCloud();
    await test.member('p');
    const answer = await authenticate(test, identity, scope);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Keystone uri="http://cloud.test/identity/v3"');
    expect(answer.body).toEqual({
      error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
    });
  });

  it('without scope show neither project nor catalogue and can be scoped later', async () => {
    const test = await testCloud();
    await test.member('p');
    const unscoped = await authenticate(test, password('p-user'), 'unscoped');
    const plain = body<TokenBody>(unscoped).token;
    expect([plain.project, plain.roles, plain.catalog]).toEqual([undefined, undefined, undefined]);
    const projects = await send(test.cloud, 'GET', '/identity/v3/auth/projects', { token: tokenOf(unscoped) });
    expect(body<{ projects: { name: string }[] }>(projects).projects.map(({ name }) => name)).toEqual(['p']);
    expect((await send(test.cloud, 'GET', '/identity/v3/auth/catalog', { token: tokenOf(unscoped) })).status).toBe(403);
    expect((await send(test.cloud, 'GET', '/compute/v2.1/servers', { token: tokenOf(unscoped) })).status).toBe(403);
    const scoped = await authenticate(
      test,
      { methods: ['token'], token: { id: tokenOf(unscoped) } },
      { project: { name: 'p', domain } },
    );
    expect(body<TokenBody>(scoped).token.methods).toEqual(['password', 'token']);
    expect(body<TokenBody>(scoped).token.audit_ids).toHaveLength(2);
    expect(body<TokenBody>(scoped).token.audit_ids[1]).toBe(plain.audit_ids[0]);
  });

  it('of the system scope are for administrators', async () => {
    const test = await testCloud();
    const answer = await authenticate(test, password('admin', 'admin-secret'), { system: { all: true } });
    expect(body<TokenBody>(answer).token.system).toEqual({ all: true });
    const users = await send(test.cloud, 'GET', '/identity/v3/users', { token: tokenOf(answer) });
    expect(users.status).toBe(200);
  });

  it('expire after a day', async () => {
    const test = await testCloud();
    const user = await test.member();
    await test.clock.advance(day - 1000);
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(200);
    await test.clock.advance(1000);
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('can be shown, checked and revoked by their owner', async () => {
    const test = await testCloud();
    const user = await test.member();
    const self = { 'x-subject-token': user.token };
    const path = '/identity/v3/auth/tokens';
    expect((await user.request('GET', path, undefined, self)).status).toBe(200);
    const head = await user.request('HEAD', path, undefined, self);
    expect([head.status, head.body]).toEqual([200, undefined]);
    expect((await user.request('GET', path, undefined, { 'x-subject-token': 'nope' })).body).toMatchObject({
      error: { code: 404, message: 'Could not recognize Fernet token' },
    });
    const admin = { 'x-subject-token': test.admin.token };
    expect((await user.request('GET', path, undefined, admin)).status).toBe(403);
    expect((await user.request('DELETE', path, undefined, self)).status).toBe(204);
    expect((await user.request('GET', '/compute/v2.1/servers')).status).toBe(401);
    expect((await test.admin.request('GET', path, undefined, self)).body).toMatchObject({
      error: { message: 'Failed to validate token' },
    });
  });

  it('end when the user is disabled, loses a role or gets another password', async () => {
    for (const end of ['disable', 'role', 'password'] as const) {
      const test = await testCloud();
      const user = await test.member();
      const { roles } = body<{ roles: { id: string; name: string }[] }>(
        await test.admin.request('GET', '/identity/v3/roles'),
      );
      const member = roles.find(({ name }) => name === 'member')!.id;
      const grant = `/identity/v3/projects/${user.projectId}/users/${user.userId}/roles/${member}`;
      if (end === 'role') await test.admin.request('DELETE', grant);
      const change = end === 'disable' ? { enabled: false } : { password: 'new' };
      if (end !== 'role') await test.admin.request('PATCH', `/identity/v3/users/${user.userId}`, { user: change });
      expect((await user.request('GET', '/compute/v2.1/servers')).status, end).toBe(401);
    }
  });
});

describe('bad token requests', () => {
  it.each<[unknown, string]>([
    ['{bad', 'Expecting to find valid JSON in request body.'],
    [{}, 'Expecting to find auth in request body.'],
    [{ auth: {} }, "'identity' is a required property"],
    [{ auth: { identity: {} } }, "'methods' is a required property"],
    [{ auth: { identity: { methods: ['password'] } } }, 'Expecting to find password in identity.'],
    [{ auth: { identity: { methods: ['password'], password: {} } } }, "'user' is a required property"],
    [
      { auth: { identity: { methods: ['password'], password: { user: { name: 'x', password: 'y' } } } } },
      'Expecting to find domain in user.',
    ],
  ])('are refused with 400: %j', async (request, message) => {
    const { cloud } = await testCloud();
    const answer = await send(cloud, 'POST', '/identity/v3/auth/tokens', { body: request });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(message);
  });
});

describe('application credentials', () => {
  const path = (userId: string): string => `/identity/v3/users/${userId}/application_credentials`;

  async function withCredential(desired: object = {}) {
    const test = await testCloud();
    const user = await test.member('p');
    const made = await user.request('POST', path(user.userId), { application_credential: { name: 'ci', ...desired } });
    const credential = body<{ application_credential: { id: string; secret: string } }>(made).application_credential;
    const login = (more: object = {}, scope?: object): Promise<TestAnswer> =>
      authenticate(
        test,
        {
          methods: ['application_credential'],
          application_credential: { id: credential.id, secret: credential.secret, ...more },
        },
        scope,
      );
    return { test, user, made, credential, login };
  }

  it('authenticate their holder in their project with the roles they were made with', async () => {
    const { made, login, user } = await withCredential({ roles: [{ name: 'reader' }] });
    expect(made.status).toBe(201);
    const answer = await login();
    const { token } = body<TokenBody>(answer);
    expect(token.methods).toEqual(['application_credential']);
    expect(token.project?.id).toBe(user.projectId);
    expect(token.roles?.map(({ name }) => name)).toEqual(['reader']);
  });

  it('work by name and user as well', async () => {
    const { test, credential, user } = await withCredential();
    const answer = await authenticate(test, {
      methods: ['application_credential'],
      application_credential: { name: 'ci', secret: credential.secret, user: { id: user.userId } },
    });
    expect(answer.status).toBe(201);
  });

  it('never show their secret again', async () => {
    const { user, credential } = await withCredential();
    const shown = await user.request('GET', `${path(user.userId)}/${credential.id}`);
    expect(shown.status).toBe(200);
    expect(JSON.stringify(shown.body)).not.toContain(credential.secret);
    expect(JSON.stringify((await user.request('GET', path(user.userId))).body)).not.toContain(credential.secret);
  });

  it('are refused with another secret, with a scope, when expired or deleted', async () => {
    const { login, user, credential, test } = await withCredential({ expires_at: '2026-01-01T01:00:00' });
    expect((await login({ secret: 'wrong' })).status).toBe(401);
    expect((await login({}, { project: { id: user.projectId } })).status).toBe(401);
    await test.clock.advance(60 * 60 * 1000);
    expect((await login()).status).toBe(401);
    expect((await user.request('DELETE', `${path(user.userId)}/${credential.id}`)).status).toBe(204);
    const gone = await login();
    expect(gone.status).toBe(404);
    expect(gone.body).toMatchObject({ error: { message: `Could not find Application Credential: ${credential.id}.` } });
  });

  it('end their tokens when they are deleted', async () => {
    const { login, user, credential, test } = await withCredential();
    const token = tokenOf(await login());
    await user.request('DELETE', `${path(user.userId)}/${credential.id}`);
    expect((await send(test.cloud, 'GET', '/compute/v2.1/servers', { token })).status).toBe(401);
  });

  it.each<[object, number, string]>([
    [{ name: 'ci' }, 409, 'Duplicate entry found with name ci.'],
    [{}, 400, "'name' is a required property"],
    [{ name: 'x', roles: [{ name: 'admin' }] }, 400, 'unassigned role'],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00' }, 400, "'expires_at' must not be before now"],
    [{ name: 'x', expires_at: 'soon' }, 400, 'Timestamp not in expected format'],
  ])('%j is refused with %i', async (desired, status, message) => {
    const { user } = await withCredential();
    const answer = await user.request('POST', path(user.userId), { application_credential: desired });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(message);
  });

  it('do not let their holder create or delete others unless unrestricted', async () => {
    for (const unrestricted of [false, true]) {
      const { login, user, test } = await withCredential({ unrestricted });
      const answer = await send(test.cloud, 'POST', path(user.userId), {
        token: tokenOf(await login()),
        body: { application_credential: { name: 'another' } },
      });
      expect(answer.status).toBe(unrestricted ? 201 : 403);
    }
  });
});

describe('trusts', () => {
  it('let another user act for the owner as long as they have uses left', async () => {
    const test = await testCloud();
    const owner = await test.member('p');
    const friend = await test.member('q');
    const trust = {
      trustor_user_id: owner.userId,
      trustee_user_id: friend.userId,
      project_id: owner.projectId,
      impersonation: true,
      remaining_uses: 1,
      roles: [{ name: 'member' }],
    };
    const made = await owner.request('POST', '/identity/v3/OS-TRUST/trusts', { trust });
    expect(made.status).toBe(201);
    const { id } = body<{ trust: { id: string } }>(made).trust;
    const login = (): Promise<TestAnswer> => authenticate(test, password('q-user'), { 'OS-TRUST:trust': { id } });
    const answer = await login();
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ token: { project: { id: owner.projectId }, user: { id: owner.userId } } });
    expect((await login()).status).toBe(401);
    expect((await friend.request('POST', '/identity/v3/OS-TRUST/trusts', { trust })).status).toBe(403);
  });
});

describe('access of members', () => {
  it.each(['users', 'projects', 'domains', 'roles', 'services', 'endpoints', 'role_assignments'])(
    'is refused to /%s',
    async (list) => {
      const test = await testCloud();
      const user = await test.member();
      const answer = await user.request('GET', `/identity/v3/${list}`);
      expect(answer.body).toMatchObject({
        error: {
          code: 403,
          title: 'Forbidden',
          message: `You are not authorized to perform the requested action: identity:list_${list}.`,
        },
      });
      expect((await test.admin.request('GET', `/identity/v3/${list}`)).status).toBe(200);
    },
  );

  it('is refused to other projects but not to their own', async () => {
    const test = await testCloud();
    const user = await test.member('p');
    const other = await test.member('q');
    expect((await user.request('GET', `/identity/v3/projects/${user.projectId}`)).status).toBe(200);
    expect((await user.request('GET', `/identity/v3/projects/${other.projectId}`)).status).toBe(403);
  });
});

describe('version documents', () => {
  it.each([
    ['/identity/', 300],
    ['/identity/v3', 200],
    ['/identity/v3/', 200],
    ['/compute/', 200],
    ['/compute/v2.1/', 200],
    ['/image/', 300],
    ['/image/versions', 200],
    ['/volume/', 300],
    ['/volume/v3/', 401],
    ['/network/', 200],
    ['/load-balancer/', 200],
    ['/placement/', 200],
  ])('%s answers %i without a token', async (path, status) => {
    const { cloud } = await testCloud();
    expect((await send(cloud, 'GET', path)).status).toBe(status);
  });
});
