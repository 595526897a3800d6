import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../machinery/index.ts';
import { at, configMap, startTestServer, type TestServer } from '../testing/index.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ access: { mode: 'RBAC', anonymous: true } });
});
afterAll(() => server.stop());

const rbac = 'rbac.authorization.k8s.io';

async function create(path: string, object: object): Promise<void> {
  await server.local.create(resources[path]!, object as KubeObject, { fieldManager: 'test' });
}

const resources: Record<string, Parameters<TestServer['local']['create']>[0]> = Object.fromEntries(
  (
    [
      ['', 'Secret', 'secrets'],
      ['', 'ConfigMap', 'configmaps'],
      [rbac, 'Role', 'roles'],
      [rbac, 'RoleBinding', 'rolebindings'],
    ] as const
  ).map(([group, kind, plural]) => [plural, { group, version: 'v1', kind, plural, namespaced: true }]),
);

async function createToken(id: string, more: Record<string, string> = {}): Promise<string> {
  await create('secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      ...more,
    },
  });
  return `${id}.0123456789abcdef`;
}

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const whoAmI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

describe('a joining machine', () => {
  it('is authenticated by its bootstrap token', async () => {
    const groups = 'system:bootstrappers:kubeadm:default-node-token';
    const token = await createToken('abcdef', { 'auth-extra-groups': groups });
    const answer = await server.anonymous({ token }).post(whoAmI, review);
    expect(answer.status, answer.text).toBe(201);
    expect(at(answer.body, 'status.userInfo')).toMatchObject({
      username: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', groups, 'system:authenticated'],
    });
  });

  it.each<[string, string, Record<string, string>]>([
    ['of another purpose', 'aaaaaa', { 'usage-bootstrap-authentication': 'false' }],
    ['that has ended', 'bbbbbb', { expiration: '2020-01-01T00:00:00Z' }],
  ])('is refused with a token %s', async (_what, id, more) => {
    const token = await createToken(id, more);
    expect((await server.anonymous({ token }).post(whoAmI, review)).status).toBe(401);
  });

  it('reads cluster-info without credentials when a role allows anonymous users', async () => {
    const path = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
    const metadata = { name: 'cluster-info', namespace: 'kube-public' };
    await create('configmaps', configMap('cluster-info', { data: { kubeconfig: 'x' }, metadata }));
    const stranger = server.anonymous();
    expect((await stranger.get(path)).body['message']).toContain('User "system:anonymous" cannot get resource');
    await create('roles', {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }],
    });
    await create('rolebindings', {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'cluster-info' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'system:anonymous' }],
    });
    expect(at((await stranger.get(path)).body, 'data.kubeconfig')).toBe('x');
    expect((await stranger.get('/api/v1/namespaces/kube-public/configmaps')).status).toBe(403);
  });
});

describe('an API server with bootstrap tokens disabled', () => {
  it('refuses bootstrap tokens', async () => {
    const closed = await startTestServer({ access: { mode: 'RBAC', bootstrapTokens: false } });
    try {
      const token = 'abcdef.0123456789abcdef';
      expect((await closed.anonymous({ token }).post(whoAmI, review)).status).toBe(401);
    } finally {
      await closed.stop();
    }
  });
});
