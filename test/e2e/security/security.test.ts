import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate } from '../../../src/pki/index.ts';
import { eventually } from '../../support/eventually.ts';
import { bundleProgram, type Program, type RunningServer } from '../../support/rough/program.ts';
import { openTcp } from '../../support/rough/raw.ts';
import {
  type Endpoint,
  http1Client,
  http2Client,
  type JsonAnswer,
  sendJson,
  type WireClient,
} from '../../support/rough/wire.ts';

const plaintext = 'correct-horse-battery-staple';
const namespace = 'guarded';
const inNamespace = `/api/v1/namespaces/${namespace}`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';

let program: Program;
let directory: string;
let server: RunningServer;
let admin: WireClient;
let authority: CertificateAndKey;
const clients: WireClient[] = [];

beforeAll(async () => {
  program = await bundleProgram();
  directory = await mkdtemp(join(tmpdir(), 'capstan-security-'));
  server = await program.up(directory, '--audit-log', join(directory, 'audit.log'));
  admin = connected(server.admin);
  const pki = join(server.dataDirectory, 'pki');
  authority = {
    certificate: await readFile(join(pki, 'ca.crt'), 'utf8'),
    privateKey: await readFile(join(pki, 'ca.key'), 'utf8'),
  };
  await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});

afterAll(async () => {
  for (const client of clients) client.close();
  await server?.process.stop();
  await program.remove();
  await rm(directory, { recursive: true, force: true });
});

function connected(endpoint: Endpoint): WireClient {
  const client = clients.length % 2 === 0 ? http1Client(endpoint) : http2Client(endpoint);
  clients.push(client);
  return client;
}

/** A client without credentials. */
function nobody(): Endpoint {
  const { host, port, ca } = server.admin;
  return { host, port, ca };
}

async function create(path: string, object: object): Promise<JsonAnswer> {
  const { status, value } = await sendJson(admin, 'POST', path, object);
  expect(status, JSON.stringify(value)).toBe(201);
  return value;
}

async function certificateFor(
  commonName: string,
  options: {
    organizations?: string[];
    authority?: CertificateAndKey;
    clock?: typeof systemClock;
    validityMs?: number;
  } = {},
): Promise<Endpoint> {
  const { certificate, privateKey } = await issueCertificate({
    authority,
    commonName,
    usages: ['client'],
    clock: systemClock,
    ...options,
  });
  return { ...nobody(), cert: certificate, key: privateKey };
}

async function roleBinding(name: string, clusterRole: string, subject: object): Promise<void> {
  await create(`${rbac}/namespaces/${namespace}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
    subjects: [subject],
  });
}

function user(name: string): object {
  return { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name };
}

async function whoAmI(client: WireClient, headers: [string, string][] = []): Promise<JsonAnswer> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  return (await sendJson(client, 'POST', path, review, headers)).value;
}

describe('clients without valid credentials', () => {
  const paths = [
    '/',
    '/api/v1/namespaces',
    '/metrics',
    '/openapi/v2',
    '/capstan/backup',
    `${inNamespace}/secrets`,
    '/no/such/path',
  ];

  async function expectRefused(endpoint: Endpoint, headers: [string, string][] = []): Promise<void> {
    const client = connected(endpoint);
    for (const path of paths) {
      const { status, value } = await sendJson(client, 'GET', path, undefined, headers);
      expect(status, path).toBe(401);
      expect(value).toMatchObject({
        kind: 'Status',
        status: 'Failure',
        reason: 'Unauthorized',
        code: 401,
        message: 'Unauthorized',
      });
    }
  }

  it('are refused when they have none', () => expectRefused(nobody()));

  it.each([
    ['is made up', 'Bearer not-a-token'],
    ['has the form of one', 'Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'],
    ['claims to need no signature', `Bearer ${unsigned({ sub: 'system:serviceaccount:kube-system:default' })}`],
    ['is empty', 'Bearer '],
    ['is a password', `Basic ${Buffer.from('admin:admin').toString('base64')}`],
  ])('are refused when their token %s', (_what, authorization) =>
    expectRefused(nobody(), [['authorization', authorization]]),
  );

  it('are refused with a certificate of another authority, whatever it claims', async () => {
    const foreign = await createAuthority({ commonName: 'kubernetes', clock: systemClock });
    const organizations = ['system:masters'];
    await expectRefused(await certificateFor('kubernetes-admin', { authority: foreign, organizations }));
  });

  it('are refused with an expired certificate', async () => {
    const longAgo = { ...systemClock, now: () => Date.now() - 48 * 3600_000 };
    await expectRefused(
      await certificateFor('kubernetes-admin', {
        clock: longAgo,
        validityMs: 3600_000,
        organizations: ['system:masters'],
      }),
    );
  });

  it('are refused with the headers of a proxy', () =>
    expectRefused(nobody(), [
      ['x-remote-user', 'kubernetes-admin'],
      ['x-remote-group', 'system:masters'],
      ['impersonate-user', 'kubernetes-admin'],
      ['impersonate-group', 'system:masters'],
    ]));

  it('get 200 or 401 for a bad token beside a valid certificate', async () => {
    const { status } = await sendJson(admin, 'GET', '/api/v1/namespaces', undefined, [
      ['authorization', 'Bearer nonsense'],
    ]);
    expect([200, 401]).toContain(status);
  });
});

function unsigned(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const body = {
    iss: 'https://kubernetes.default.svc',
    aud: ['https://kubernetes.default.svc'],
    iat: now,
    exp: now + 600,
  };
  return `${part({ alg: 'none', typ: 'JWT' })}.${part({ ...body, ...claims })}.`;
}

describe('roles', () => {
  const expectations: [role: string, verb: string, path: string, allowed: boolean][] = [
    ['view', 'GET', `${inNamespace}/configmaps`, true],
    ['view', 'GET', `${inNamespace}/pods`, true],
    ['view', 'GET', `${inNamespace}/secrets`, false],
    ['view', 'POST', `${inNamespace}/configmaps`, false],
    ['view', 'GET', '/api/v1/namespaces/default/configmaps', false],
    ['view', 'GET', '/api/v1/configmaps', false],
    ['view', 'GET', '/api/v1/nodes', false],
    ['view', 'GET', '/capstan/backup', false],
    ['view', 'GET', '/metrics', false],
    ['view', 'GET', '/version', true],
    ['edit', 'POST', `${inNamespace}/configmaps`, true],
    ['edit', 'GET', `${inNamespace}/secrets`, true],
    ['edit', 'DELETE', `${inNamespace}/configmaps`, true],
    ['edit', 'POST', `${rbac}/namespaces/${namespace}/rolebindings`, false],
    ['edit', 'POST', '/api/v1/namespaces/default/configmaps', false],
    ['admin', 'POST', `${inNamespace}/configmaps`, true],
    ['admin', 'GET', `${rbac}/namespaces/${namespace}/rolebindings`, true],
    ['admin', 'POST', `${rbac}/clusterroles`, false],
    ['admin', 'DELETE', `/api/v1/namespaces/${namespace}`, false],
    ['nothing', 'GET', `${inNamespace}/configmaps`, false],
    ['nothing', 'GET', '/api', true],
  ];
  const people = new Map<string, WireClient>();

  beforeAll(async () => {
    for (const role of ['view', 'edit', 'admin', 'nothing']) {
      people.set(role, connected(await certificateFor(`${role}-er`)));
      if (role !== 'nothing') await roleBinding(`${role}-er`, role, user(`${role}-er`));
    }
  });

  it.each(expectations)('of %s: %s %s is allowed: %s', async (role, method, path, allowed) => {
    const name = `made-by-${createHash('md5')
      .update(role + method + path)
      .digest('hex')
      .slice(0, 8)}`;
    const kind = path.endsWith('rolebindings')
      ? 'RoleBinding'
      : path.endsWith('clusterroles')
        ? 'ClusterRole'
        : 'ConfigMap';
    const apiVersion = kind === 'ConfigMap' ? 'v1' : 'rbac.authorization.k8s.io/v1';
    const body = method === 'POST' ? { apiVersion, kind, metadata: { name } } : undefined;
    const { status, value } = await sendJson(people.get(role)!, method, path, body);
    if (allowed) return expect(status).toBeLessThan(300);
    expect(status).toBe(403);
    expect(value).toMatchObject({ kind: 'Status', reason: 'Forbidden', code: 403 });
    expect(value.message).toContain(`User "${role}-er" cannot`);
  });

  it('leave no trace of forbidden requests', async () => {
    const { value } = await sendJson(admin, 'GET', '/api/v1/configmaps?fieldSelector=metadata.namespace=default');
    expect(value.items.filter(({ metadata }: JsonAnswer) => metadata.name.startsWith('made-by-'))).toEqual([]);
    expect((await sendJson(admin, 'GET', `/api/v1/namespaces/${namespace}`)).value.status.phase).toBe('Active');
  });

  it('let nobody grant more than they have', async () => {
    const manager = connected(await certificateFor('role-manager'));
    // All verbs except escalate and bind, which bypass the rule under test.
    const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
    await create(`${rbac}/clusterroles`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'role-manager' },
      rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs }],
    });
    await roleBinding('role-manager', 'role-manager', user('role-manager'));
    const roles = `${rbac}/namespaces/${namespace}/roles`;
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'greedy' } };
    const greedy = { ...role, rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] };
    const bindings = `${rbac}/namespaces/${namespace}/rolebindings`;
    const self = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'crown' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [user('role-manager')],
    };
    expect((await sendJson(manager, 'POST', roles, greedy)).status).toBe(403);
    expect((await sendJson(manager, 'POST', bindings, self)).status).toBe(403);
    expect((await sendJson(manager, 'POST', roles, { ...role, rules: [] })).status).toBe(201);
    const patch = { rules: greedy.rules };
    for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
      const answer = await sendJson(manager, 'PATCH', `${roles}/greedy`, patch, [['content-type', type]]);
      expect(answer.status, type).toBe(403);
    }
    const applied = await sendJson(manager, 'PATCH', `${roles}/greedy?fieldManager=m&force=true`, greedy, [
      ['content-type', 'application/apply-patch+yaml'],
    ]);
    expect(applied.status).toBe(403);
    expect((await sendJson(admin, 'GET', `${roles}/greedy`)).value.rules ?? []).toEqual([]);
    // A user may grant rights the user has.
    const modest = { rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['get'] }] };
    const shared = await sendJson(manager, 'PATCH', `${roles}/greedy`, modest, [
      ['content-type', 'application/merge-patch+json'],
    ]);
    expect(shared.status).toBe(200);
  });
});

describe('impersonation', () => {
  it('shows an administrator what another user sees', async () => {
    const as: [string, string][] = [
      ['impersonate-user', 'jane'],
      ['impersonate-group', 'devs'],
      ['impersonate-extra-reason', 'audit'],
    ];
    const { status } = await whoAmI(admin, as);
    expect(status.userInfo).toMatchObject({
      username: 'jane',
      groups: expect.arrayContaining(['devs', 'system:authenticated']),
      extra: { reason: ['audit'] },
    });
    expect((await sendJson(admin, 'GET', `${inNamespace}/secrets`, undefined, as)).status).toBe(403);
  });

  it('is refused to users without the right', async () => {
    const jane = connected(await certificateFor('jane'));
    for (const headers of [
      [['impersonate-user', 'kubernetes-admin']],
      [
        ['impersonate-user', 'jane'],
        ['impersonate-group', 'system:masters'],
      ],
      [['impersonate-user', 'system:serviceaccount:kube-system:default']],
    ] as [string, string][][]) {
      const { status, value } = await sendJson(jane, 'GET', '/api', undefined, headers);
      expect(status).toBe(403);
      expect(value.message).toContain('cannot impersonate resource');
    }
  });
});

describe('service accounts', () => {
  it('are authenticated by their tokens, and only while they exist', async () => {
    await create(`${inNamespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot' },
    });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const { status } = await create(`${inNamespace}/serviceaccounts/robot/token`, request);
    const robot = connected({ ...nobody(), token: status.token });
    expect((await whoAmI(robot)).status.userInfo).toMatchObject({
      username: `system:serviceaccount:${namespace}:robot`,
      groups: expect.arrayContaining(['system:serviceaccounts', `system:serviceaccounts:${namespace}`]),
    });
    expect((await sendJson(robot, 'GET', `${inNamespace}/configmaps`)).status).toBe(403);
    await roleBinding('robot', 'view', { kind: 'ServiceAccount', name: 'robot', namespace });
    expect((await sendJson(robot, 'GET', `${inNamespace}/configmaps`)).status).toBe(200);

    const [head, body, signature] = String(status.token).split('.');
    const claims = JSON.parse(Buffer.from(body!, 'base64url').toString()) as { sub: string };
    const forged = Buffer.from(
      JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:default' }),
    ).toString('base64url');
    for (const token of [
      `${head}.${forged}.${signature}`,
      `${head}.${body}.${signature!.slice(0, -4)}AAAA`,
      `${head}.${body}.`,
    ]) {
      const impostor = connected({ ...nobody(), token });
      expect((await sendJson(impostor, 'GET', '/api')).status).toBe(401);
    }
    await sendJson(admin, 'DELETE', `${inNamespace}/serviceaccounts/robot`);
    await eventually(async () => expect((await sendJson(robot, 'GET', '/api')).status).toBe(401));
  });

  it('get no token for another audience accepted here', async () => {
    await create(`${inNamespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'guest' },
    });
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['elsewhere'] },
    };
    const { status } = await create(`${inNamespace}/serviceaccounts/guest/token`, request);
    const guest = connected({ ...nobody(), token: status.token });
    expect((await sendJson(guest, 'GET', '/api')).status).toBe(401);
  });
});

describe('secrets on disk and in logs', () => {
  let token: string;

  beforeAll(async () => {
    const secrets = `${inNamespace}/secrets`;
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vault' }, stringData: { phrase: plaintext } };
    await create(secrets, secret);
    const json: [string, string][] = [['content-type', 'application/merge-patch+json']];
    await sendJson(admin, 'PATCH', `${secrets}/vault`, { stringData: { second: `${plaintext}-2` } }, json);
    await sendJson(
      admin,
      'PATCH',
      `${secrets}/vault?fieldManager=m&force=true`,
      { ...secret, stringData: { phrase: `${plaintext}-3` } },
      [['content-type', 'application/apply-patch+yaml']],
    );
    // Answers may quote refused objects, but nothing may store them.
    await sendJson(admin, 'POST', secrets, { ...secret, metadata: { name: 'BAD NAME' } });
    await sendJson(admin, 'POST', secrets, { ...secret, data: { x: `not base64 ${plaintext}` } });
    await create(`${inNamespace}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'scribe' },
    });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    token = (await create(`${inNamespace}/serviceaccounts/scribe/token`, request)).status.token;
    const scribe = connected({ ...nobody(), token });
    await sendJson(scribe, 'GET', '/api');
    await sendJson(scribe, 'GET', `/api?token=${token.slice(0, 10)}`);
  });

  async function files(path: string): Promise<string[]> {
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }

  /** Returns all encodings in which a text may occur in a file. */
  function forms(text: string): string[] {
    const base64 = Buffer.from(text).toString('base64');
    // In the base64 of a longer text, the same letters occur except at the ends.
    return [
      text,
      base64.slice(0, -4),
      Buffer.from(` ${text}`).toString('base64').slice(4, -4),
      Buffer.from(text).toString('hex'),
    ];
  }

  it('are unreadable in the data directory, before and after a restart', async () => {
    const search = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const file of await files(server.dataDirectory)) {
        const content = await readFile(file);
        for (const form of forms(plaintext)) if (content.includes(form)) found.push(`${file}: ${form}`);
      }
      return found;
    };
    expect(await search()).toEqual([]);
    const { value } = await sendJson(admin, 'GET', `${inNamespace}/secrets/vault`);
    expect(Buffer.from(value.data.phrase, 'base64').toString()).toBe(`${plaintext}-3`);
    // Control check: the search finds text that is not in a Secret.
    await create(`${inNamespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'open' },
      data: { phrase: 'to-be-found-in-the-clear' },
    });
    const store = await readFile(join(server.dataDirectory, 'store', 'data.mdb'));
    expect(store.includes('to-be-found-in-the-clear')).toBe(true);
  });

  it('are unreadable in a backup', async () => {
    const file = join(directory, 'backup');
    const outcome = await program.run('backup', '--kubeconfig', server.kubeconfig, file);
    expect(outcome.code, outcome.stderr).toBe(0);
    const content = await readFile(file);
    expect(content.includes('to-be-found-in-the-clear')).toBe(true);
    for (const form of forms(plaintext)) expect(content.includes(form)).toBe(false);
  });

  it('are absent from the audit log, which tells who did what without bodies or tokens', async () => {
    const log = await readFile(join(directory, 'audit.log'), 'utf8');
    const events = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonAnswer);
    expect(events).toContainEqual(
      expect.objectContaining({
        verb: 'create',
        user: expect.objectContaining({ username: 'kubernetes-admin' }),
        objectRef: expect.objectContaining({ resource: 'secrets', namespace }),
        responseStatus: expect.objectContaining({ code: 201 }),
      }),
    );
    expect(events).toContainEqual(expect.objectContaining({ responseStatus: expect.objectContaining({ code: 403 }) }));
    for (const form of [...forms(plaintext), token]) expect(log.includes(form), form).toBe(false);
  });

  it('are absent from the output of the program, as are tokens and keys', () => {
    const printed = server.process.stdout() + server.process.stderr();
    for (const form of [...forms(plaintext), token, 'PRIVATE KEY']) expect(printed.includes(form), form).toBe(false);
  });

  it('are readable by their owner only, as are keys, credentials and data', async () => {
    const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
    expect(await mode(server.dataDirectory)).toBe('700');
    expect(await mode(join(server.dataDirectory, 'store'))).toBe('700');
    expect(await mode(server.kubeconfig)).toBe('600');
    expect(await mode(join(directory, 'key'))).toBe('600');
    expect(await mode(join(directory, 'audit.log'))).toBe('600');
    for (const file of await files(server.dataDirectory)) {
      if (!/\.(crt|pub)$/.test(file)) expect(await mode(file), file).toBe('600');
    }
  });
});

describe('the listening network', () => {
  it('is the loopback alone unless configured otherwise', async () => {
    const { stdout } = await program.run('up', '--help');
    expect(stdout).toContain('"127.0.0.1:6443"');
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal);
    if (outside) await expect(openTcp({ ...server.admin, host: outside.address })).rejects.toThrow('ECONNREFUSED');
  });
});
