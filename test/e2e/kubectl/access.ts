import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Kubectl, Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { table } from './output.ts';

/** Identity and rights: authentication, RBAC, impersonation, `auth`. */
export function accessExpectations(expectation: Expectation): void {
  /** Returns kubectl as a service account with only the rights of the role. */
  const robot = async (s: Sandbox, ...role: string[]): Promise<Kubectl> => {
    await s.ok`create serviceaccount robot`;
    if (role.length > 0) {
      await s.ok`create role robot ${role[0]!} ${role[1]!}`;
      await s.ok`create rolebinding robot --role=robot --serviceaccount=${s.namespace}:robot`;
    }
    return s.withToken((await s.ok`create token robot`).trim());
  };

  expectation('auth whoami names the admin by certificate and a service account by token', async (s) => {
    const admin = JSON.parse(await s.ok`auth whoami -o json`) as {
      status: { userInfo: { username: string; groups: string[] } };
    };
    expect(admin.status.userInfo.groups).toEqual(['system:masters', 'system:authenticated']);
    const account = await robot(s);
    const rows = table(await account.ok`auth whoami`);
    expect(rows[0]).toEqual(['ATTRIBUTE', 'VALUE']);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['Username', `system:serviceaccount:${s.namespace}:robot`],
        ['Groups', `[system:serviceaccounts system:serviceaccounts:${s.namespace} system:authenticated]`],
      ]),
    );
  });

  expectation('auth can-i answers yes and no, with exit codes', async (s) => {
    expect(await s.ok`auth can-i delete nodes`).toContain('yes\n');
    expect(await s.ok`auth can-i ${'*'} ${'*'} -A`).toContain('yes\n');
    const account = await robot(s, '--verb=get,list', '--resource=configmaps');
    expect(await account.run`auth can-i get configmaps`).toMatchObject({ code: 0, stdout: 'yes\n' });
    expect(await account.run`auth can-i list configmaps/one`).toMatchObject({ code: 0, stdout: 'yes\n' });
    expect(await account.run`auth can-i delete configmaps`).toMatchObject({ code: 1, stdout: 'no\n' });
    expect(await account.run`auth can-i get configmaps -n default`).toMatchObject({ code: 1, stdout: 'no\n' });
    expect(await account.run`auth can-i get /healthz`).toMatchObject({ code: 0, stdout: 'yes\n' });
    expect(await account.run`auth can-i get /metrics`).toMatchObject({ code: 1, stdout: 'no\n' });
  });

  expectation('auth can-i --list shows the rules', async (s) => {
    const account = await robot(s, '--verb=get', '--resource=secrets');
    const rows = table(await account.ok`auth can-i --list`);
    expect(rows[0]).toEqual(['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['secrets', '[]', '[]', '[get]'],
        ['selfsubjectaccessreviews.authorization.k8s.io', '[]', '[]', '[create]'],
      ]),
    );
    expect(table(await s.ok`auth can-i --list`)).toEqual(expect.arrayContaining([['*.*', '[]', '[]', '[*]']]));
  });

  expectation('--as and --as-group impersonate, and the impersonated may not impersonate further', async (s) => {
    await s.ok`create role reader --verb=get --resource=configmaps`;
    await s.ok`create rolebinding reads --role=reader --group=devs-${s.id}`;
    await s.ok`create configmap one`;
    expect(await s.ok`get configmap one -o name --as=jane --as-group=devs-${s.id}`).toBe('configmap/one\n');
    expect(await s.fails`get configmap one --as=jane`).toBe(
      `Error from server (Forbidden): configmaps "one" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "${s.namespace}"\n`,
    );
    expect(table(await s.ok`auth whoami --as=jane --as-group=a --as-group=b --as-uid=7`)).toEqual([
      ['ATTRIBUTE', 'VALUE'],
      ['Username', 'jane'],
      ['UID', '7'],
      ['Groups', '[a b system:authenticated]'],
    ]);
    expect(
      await s.ok`auth can-i get configmaps --as=system:serviceaccount:${s.namespace}:x --as-group=devs-${s.id}`,
    ).toBe('yes\n');
    const account = await robot(s);
    expect(await account.fails`get configmap one --as=jane`).toContain(
      `users "jane" is forbidden: User "system:serviceaccount:${s.namespace}:robot" cannot impersonate resource "users" in API group "" at the cluster scope`,
    );
  });

  expectation('every verb without a rule is forbidden and says who, what and where', async (s) => {
    await s.ok`create configmap one`;
    const account = await robot(s, '--verb=get', '--resource=configmaps');
    const user = `User "system:serviceaccount:${s.namespace}:robot"`;
    const where = `in API group "" in the namespace "${s.namespace}"`;
    expect(await account.ok`get configmap one -o name`).toBe('configmap/one\n');
    expect(await account.fails`get configmaps`).toBe(
      `Error from server (Forbidden): configmaps is forbidden: ${user} cannot list resource "configmaps" ${where}\n`,
    );
    expect(await account.fails`create configmap two`).toBe(
      `error: failed to create configmap: configmaps is forbidden: ${user} cannot create resource "configmaps" ${where}\n`,
    );
    expect(await account.fails`delete configmap one`).toBe(
      `Error from server (Forbidden): configmaps "one" is forbidden: ${user} cannot delete resource "configmaps" ${where}\n`,
    );
    expect(await account.fails`patch configmap one -p ${'{}'}`).toContain(
      `cannot patch resource "configmaps" ${where}`,
    );
    expect(await account.fails`get nodes`).toContain(
      `nodes is forbidden: ${user} cannot list resource "nodes" in API group "" at the cluster scope`,
    );
    expect(await account.fails`get deployments`).toContain(
      `deployments.apps is forbidden: ${user} cannot list resource "deployments" in API group "apps" in the namespace`,
    );
    expect(await account.fails`get --raw /metrics`).toContain(`forbidden: ${user} cannot get path "/metrics"`);
    expect(await account.fails`create token robot`).toContain(
      `cannot create resource "serviceaccounts/token" in API group ""`,
    );
  });

  expectation('resource names narrow a rule', async (s) => {
    await s.ok`create configmap mine`;
    await s.ok`create configmap yours`;
    await s.ok`create serviceaccount robot`;
    await s.ok`create role named --verb=get,patch --resource=configmaps --resource-name=mine`;
    await s.ok`create rolebinding named --role=named --serviceaccount=${s.namespace}:robot`;
    const as = `system:serviceaccount:${s.namespace}:robot`;
    await s.ok`label configmap mine a=b --as=${as}`;
    expect(await s.fails`get configmap yours --as=${as}`).toContain('(Forbidden)');
  });

  expectation('nobody grants more than they have', async (s) => {
    const account = await robot(
      s,
      '--verb=get,create,update',
      '--resource=roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io',
    );
    expect(await account.fails`create role strong --verb=get --resource=secrets`).toContain(
      `roles.rbac.authorization.k8s.io "strong" is forbidden: user "system:serviceaccount:${s.namespace}:robot" (groups=["system:serviceaccounts" "system:serviceaccounts:${s.namespace}" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
    );
    expect(await account.fails`create rolebinding strong --clusterrole=cluster-admin --user=jane`).toContain(
      'is attempting to grant RBAC permissions not currently held',
    );
    await account.ok`create role equal --verb=get --resource=roles.rbac.authorization.k8s.io`;
  });

  expectation('auth reconcile creates roles and bindings', async (s) => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'reader', namespace: s.namespace },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    };
    expect(await s.with(role).ok`auth reconcile -f -`).toContain('role.rbac.authorization.k8s.io/reader reconciled');
    role.rules[0]!.verbs.push('list');
    await s.with(role).ok`auth reconcile -f -`;
    expect(await s.json`role reader`).toMatchObject({ rules: [{ verbs: ['get'] }, { verbs: ['list'] }] });
  });

  expectation('the role of a binding cannot change', async (s) => {
    await s.ok`create rolebinding one --clusterrole=view --user=jane`;
    expect(await s.fails`patch rolebinding one --type=merge -p ${'{"roleRef":{"name":"edit"}}'}`).toMatch(
      /^The RoleBinding "one" is invalid: roleRef: Invalid value: \{.*"edit"\}: cannot change roleRef\n$/,
    );
  });

  expectation('aggregated roles collect the rules of the roles they select', async (s) => {
    s.cleanUp(() => s.run`delete clusterrole ${`part-${s.id}`} ${`whole-${s.id}`} --ignore-not-found`);
    const role = (name: string, more: object): object => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [],
      ...more,
    });
    await s.with([
      role(`whole-${s.id}`, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: s.id } }] } }),
      role('', {
        metadata: { name: `part-${s.id}`, labels: { part: s.id } },
        rules: [{ apiGroups: ['example.com'], resources: ['gears'], verbs: ['get'] }],
      }),
    ]).ok`create -f -`;
    await s.ok`wait clusterrole/whole-${s.id} --for=${'jsonpath={.rules[0].resources[0]}=gears'} --timeout=30s`;
  });

  expectation('a wrong token is Unauthorized', async (s) => {
    const stranger = await s.withToken('nonsense');
    expect(await stranger.fails`get configmaps`).toContain(
      'error: You must be logged in to the server (the server has asked for the client to provide credentials)',
    );
  });

  expectation('a token dies with its service account', async (s) => {
    const account = await robot(s, '--verb=list', '--resource=configmaps');
    await account.ok`get configmaps`;
    await s.ok`delete serviceaccount robot`;
    // Authenticators may cache a result for seconds, but must finally check the object.
    await eventually(async () => {
      expect(await account.fails`get configmaps`).toContain('(Unauthorized)');
    });
  });
}
