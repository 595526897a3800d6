import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  Deployments,
  Leases,
  Namespaces,
  Pods,
  RoleBindings,
  Roles,
} from '../api/index.ts';
import type { Resource, UnstructuredObject } from '../machinery/index.ts';
import type { PolicyRule, UserInfo } from './auth/index.ts';
import type { LocalClient } from './local-client.ts';
import { configMap, deployment, startTestServer, type TestServer } from './testing/index.ts';

type Any = Resource<UnstructuredObject>;
const maps = ConfigMaps as Any;
const deployments = Deployments as Any;
const leases = Leases as Any;
const by = { fieldManager: 'controller' };
const user: UserInfo = { name: 'controller', groups: ['system:authenticated'] };
const rbac = { apiGroup: 'rbac.authorization.k8s.io' };
const subjects = [{ ...rbac, kind: 'User', name: user.name }];
const apiVersion = 'rbac.authorization.k8s.io/v1';
const inDefault = { namespace: 'default', name: 'm' };
const map = (name = 'm'): UnstructuredObject => configMap(name, { metadata: { namespace: 'default' } });

let server: TestServer;
let client: LocalClient;
beforeAll(async () => {
  server = await startTestServer();
  client = server.server.localClient(user);
  const roleRef = { ...rbac, kind: 'ClusterRole', name: 'controller' };
  await server.local.create(
    ClusterRoleBindings,
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: 'controller' }, roleRef, subjects },
    by,
  );
});
afterAll(() => server.stop());

async function allow(...rules: PolicyRule[]): Promise<void> {
  await server.local.apply(
    ClusterRoles,
    { apiVersion, kind: 'ClusterRole', metadata: { name: 'controller' }, rules } as never,
    { ...by, force: true },
  );
}

async function remove(resource: Any, name: string): Promise<void> {
  await server.local.deleteCollection(resource, { namespace: 'default', fieldSelector: `metadata.name=${name}` });
}

describe('the local client under authorization', () => {
  beforeEach(() => remove(maps, 'm'));

  it.each<[string, PolicyRule, () => Promise<unknown>, string]>([
    ['get', { verbs: ['get'] }, () => client.get(maps, inDefault), 'get resource "configmaps"'],
    ['list', { verbs: ['list'] }, () => client.list(maps, { namespace: 'default' }), 'list resource "configmaps"'],
    [
      'watch',
      { verbs: ['watch'] },
      async () => {
        const watch = client.watch(maps, {
          namespace: 'default',
          sendInitialEvents: true,
          resourceVersionMatch: 'NotOlderThan',
        });
        await watch.next();
        await watch.return(undefined);
      },
      'watch resource "configmaps"',
    ],
    ['create', { verbs: ['create'] }, () => client.create(maps, map('other'), by), 'create resource "configmaps"'],
    ['update', { verbs: ['update'] }, () => client.update(maps, map(), by), 'update resource "configmaps"'],
    [
      'patch',
      { verbs: ['patch'] },
      () => client.patch(maps, inDefault, 'merge', { data: { a: 'b' } }, by),
      'patch resource "configmaps"',
    ],
    ['patch', { verbs: ['patch'] }, () => client.apply(maps, map(), by), 'patch resource "configmaps"'],
    ['delete', { verbs: ['delete'] }, () => client.delete(maps, inDefault), 'delete resource "configmaps"'],
    [
      'deletecollection',
      { verbs: ['deletecollection'] },
      () => client.deleteCollection(maps, { namespace: 'default' }),
      'deletecollection resource "configmaps"',
    ],
  ])('needs the right to %s', async (_verb, rule, attempt, refusal) => {
    await server.local.create(maps, map(), by);
    await remove(maps, 'other');
    await allow();
    await expect(attempt()).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining(
        `User "controller" cannot ${refusal} in API group "" in the namespace "default"`,
      ),
    });
    await allow({ ...rule, apiGroups: [''], resources: ['configmaps'] });
    await attempt();
  });

  it('needs the right to a subresource in addition to its object', async () => {
    await remove(deployments, 'd');
    await server.local.create(deployments, deployment('d', { metadata: { namespace: 'default' } }), by);
    const key = { namespace: 'default', name: 'd' };
    const patch = (subresource: string): Promise<unknown> =>
      client.patch(deployments, key, 'merge', { status: {}, spec: {} }, { ...by, subresource });
    await allow({ verbs: ['patch'], apiGroups: ['apps'], resources: ['deployments', 'deployments/status'] });
    await patch('status');
    await expect(patch('scale')).rejects.toThrow('cannot patch resource "deployments/scale" in API group "apps"');
    await expect(
      client.createSubresource(Pods, inDefault, 'eviction', { apiVersion: 'policy/v1', kind: 'Eviction' } as never, by),
    ).rejects.toThrow('cannot create resource "pods/eviction"');
  });

  it('gets only the access that a Role of one namespace or a rule for one name grants', async () => {
    await server.local.create(maps, map(), by);
    await allow({ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['m'] });
    await client.get(maps, inDefault);
    await client.list(maps, { fieldSelector: 'metadata.name=m' });
    await expect(client.get(maps, { namespace: 'default', name: 'n' })).rejects.toMatchObject({ code: 403 });
    await expect(client.list(maps, { namespace: 'default' })).rejects.toMatchObject({ code: 403 });
    await allow();
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps', 'namespaces'] }];
    const metadata = { name: 'local', namespace: 'default' };
    const roleRef = { ...rbac, kind: 'Role', name: 'local' };
    await server.local.create(Roles, { apiVersion, kind: 'Role', metadata, rules }, by);
    await server.local.create(RoleBindings, { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects }, by);
    await client.get(maps, inDefault);
    await client.get(Namespaces, { name: 'default' });
    await expect(client.get(maps, { namespace: 'kube-system', name: 'm' })).rejects.toMatchObject({ code: 403 });
    await server.local.delete(RoleBindings, metadata);
  });

  it.each<[string, Any, () => Promise<unknown>]>([
    ['applying', maps, () => client.apply(maps, map(), by)],
    [
      'replacing',
      leases,
      () =>
        client.update(
          leases,
          {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: inDefault,
            spec: {},
          } as UnstructuredObject,
          by,
        ),
    ],
  ])('needs the right to create when %s an object that does not exist', async (_what, resource, attempt) => {
    await remove(resource, 'm');
    const rule = { apiGroups: [resource.group], resources: [resource.plural] };
    await allow({ ...rule, verbs: ['patch', 'update'] });
    await expect(attempt()).rejects.toThrow(`User "controller" cannot create resource "${resource.plural}"`);
    await allow({ ...rule, verbs: ['create', 'patch', 'update'] });
    await attempt();
  });

  it('caches authorization decisions until the rules change', async () => {
    await server.local.create(maps, map(), by);
    await allow({ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] });
    await client.get(maps, inDefault);
    const evaluation = vi.spyOn(server.server.access.rbacIndex, 'visitGrants');
    const search = async (namespace: string): Promise<void> => {
      await client.get(maps, { namespace, name: 'absent' }).catch(() => undefined);
    };
    for (const namespace of ['default', 'kube-system', 'kube-public']) await search(namespace);
    expect(evaluation).not.toHaveBeenCalled();
    await allow();
    await expect(client.get(maps, inDefault)).rejects.toMatchObject({ code: 403 });
    expect(evaluation).toHaveBeenCalled();
    evaluation.mockRestore();
  });
});

describe('server-side apply over HTTP', () => {
  it('needs the right to create when the object does not exist', async () => {
    await remove(maps, 'm');
    await allow({ verbs: ['patch', 'get'], apiGroups: [''], resources: ['configmaps'] });
    const api = await server.as(user.name);
    const { status, text } = await api.apply(
      '/api/v1/namespaces/default/configmaps/m?fieldManager=t',
      JSON.stringify(map()),
    );
    expect([status, (JSON.parse(text) as { message?: string }).message]).toEqual([
      403,
      'configmaps "m" is forbidden: User "controller" cannot create resource "configmaps" in API group "" in the namespace "default"',
    ]);
  });
});
