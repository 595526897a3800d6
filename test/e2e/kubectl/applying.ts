import { expect } from 'vitest';
import type { Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { configMap, customResourceDefinition, deployment } from './objects.ts';
import { lines } from './output.ts';

/** Client-side and server-side `apply`, and `diff`. */
export function applyingExpectations(expectation: Expectation): void {
  expectation('apply creates, changes, leaves alone and prunes what the manifest dropped', async (s) => {
    const apply = (data: Record<string, string>): Promise<string> => s.with(configMap('one', data)).ok`apply -f -`;
    expect(await apply({ a: '1', b: '2' })).toBe('configmap/one created\n');
    expect(await apply({ a: '1', b: '2' })).toBe('configmap/one unchanged\n');
    await s.ok`patch configmap one -p ${'{"data":{"theirs":"x"}}'}`;
    expect(await apply({ a: '10' })).toBe('configmap/one configured\n');
    const object = await s.json`configmap one`;
    expect(object['data']).toEqual({ a: '10', theirs: 'x' });
    expect(object.metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration']).toBe(
      `{"apiVersion":"v1","data":{"a":"10"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"one","namespace":"${s.namespace}"}}\n`,
    );
  });

  expectation('apply of a built-in kind merges lists by key', async (s) => {
    const manifest = (image: string, env: object[]): object => {
      const object = deployment('web', 0, image);
      Object.assign(object.spec.template.spec.containers[0]!, { env });
      return object;
    };
    await s.with(
      manifest('registry.example/app:1', [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ]),
    ).ok`apply -f -`;
    await s.ok`set env deployment/web THEIRS=kept`;
    expect(await s.with(manifest('registry.example/app:2', [{ name: 'B', value: '20' }])).ok`apply -f -`).toBe(
      'deployment.apps/web configured\n',
    );
    const [container] = (await s.json`deployment web`)['spec'].template.spec.containers as {
      env: object[];
      image: string;
    }[];
    expect(container?.image).toBe('registry.example/app:2');
    expect(container?.env).toHaveLength(2);
    expect(container?.env).toEqual(
      expect.arrayContaining([
        { name: 'B', value: '20' },
        { name: 'THEIRS', value: 'kept' },
      ]),
    );
  });

  expectation('apply over an object made otherwise warns and adopts it', async (s) => {
    await s.ok`create configmap one --from-literal=a=1`;
    const { code, stdout, stderr } = await s.with(configMap('one', { b: '2' })).run`apply -f -`;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'configmap/one configured\n' });
    expect(stderr).toContain(
      'Warning: resource configmaps/one is missing the kubectl.kubernetes.io/last-applied-configuration annotation',
    );
    expect((await s.json`configmap one`)['data']).toEqual({ a: '1', b: '2' });
  });

  expectation('apply view-last-applied and set-last-applied', async (s) => {
    await s.with(configMap('one', { a: '1' })).ok`apply -f -`;
    expect(await s.ok`apply view-last-applied configmap/one`).toContain('data:\n  a: "1"\n');
    await s.with(configMap('one', { a: '2' })).ok`apply set-last-applied -f -`;
    expect(await s.ok`apply view-last-applied configmap/one`).toContain('data:\n  a: "2"\n');
  });

  expectation('apply --prune removes what left the set', async (s) => {
    const labels = { labels: { set: s.id } };
    await s.with([configMap('kept', undefined, labels), configMap('dropped', {}, labels)]).ok`apply -f -`;
    const output = await s.with(configMap('kept', undefined, labels))
      .ok`apply -f - --prune -l set=${s.id} --prune-allowlist=core/v1/ConfigMap`;
    expect(lines(output)).toEqual(['configmap/kept unchanged', 'configmap/dropped pruned']);
    expect(lines(await s.ok`get configmap -l set=${s.id} -o name`)).toEqual(['configmap/kept']);
  });

  expectation('apply --dry-run=server and =client change nothing', async (s) => {
    await s.with(configMap('one', { a: '1' })).ok`apply -f -`;
    expect(await s.with(configMap('one', { a: '2' })).ok`apply -f - --dry-run=server`).toBe(
      'configmap/one configured (server dry run)\n',
    );
    expect(await s.with(configMap('new')).ok`apply -f - --dry-run=server`).toBe(
      'configmap/new created (server dry run)\n',
    );
    expect(await s.with(configMap('one', { a: '2' })).ok`apply -f - --dry-run=client`).toBe(
      'configmap/one configured (dry run)\n',
    );
    expect((await s.json`configmap one`)['data']).toEqual({ a: '1' });
    expect(await s.ok`get configmap new --ignore-not-found`).toBe('');
  });

  expectation('diff exits 0 when nothing would change, 1 with the difference, 2 on errors', async (s) => {
    await s.with(configMap('one', { a: '1' })).ok`apply -f -`;
    expect((await s.with(configMap('one', { a: '1' })).run`diff -f -`).code).toBe(0);
    const changed = await s.with(configMap('one', { a: '2' })).run`diff -f -`;
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/^- {2}a: "1"$/m);
    expect(changed.stdout).toMatch(/^\+ {2}a: "2"$/m);
    const added = await s.with(configMap('new', { b: '2' })).run`diff -f -`;
    expect(added.code).toBe(1);
    expect(added.stdout).toMatch(/^\+kind: ConfigMap$/m);
    const server = await s.with(configMap('one', { a: '3' })).run`diff -f - --server-side --force-conflicts`;
    expect(server.code).toBe(1);
    expect(server.stdout).toMatch(/^\+ {2}a: "3"$/m);
    expect(
      (await s.with({ apiVersion: 'example.com/v1', kind: 'Unknown', metadata: { name: 'a' } }).run`diff -f -`).code,
    ).toBe(2);
  });

  const managers = async (s: Sandbox, ...reference: [string, string]): Promise<Record<string, object>> => {
    const object = JSON.parse(await s.ok`get ${reference[0]} ${reference[1]} -o json --show-managed-fields`) as {
      metadata: { managedFields: { manager: string; operation: string; fieldsV1: object }[] };
    };
    return Object.fromEntries(
      object.metadata.managedFields.map(({ manager, operation, fieldsV1 }) => [`${manager} ${operation}`, fieldsV1]),
    );
  };

  expectation('apply --server-side creates, owns its fields and removes the ones it drops', async (s) => {
    const apply = (data: Record<string, string>): Promise<string> =>
      s.with(configMap('one', data)).ok`apply --server-side --field-manager=one -f -`;
    expect(await apply({ a: '1', b: '2' })).toBe('configmap/one serverside-applied\n');
    await apply({ a: '1' });
    expect((await s.json`configmap one`)['data']).toEqual({ a: '1' });
    expect(await managers(s, 'configmap', 'one')).toEqual({ 'one Apply': { 'f:data': { 'f:a': {} } } });
    const before = await s.json`configmap one`;
    await apply({ a: '1' });
    expect((await s.json`configmap one`).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  expectation('two appliers share equal fields; one that drops a field leaves it to the other', async (s) => {
    await s.with(configMap('one', { shared: '1', mine: '1' })).ok`apply --server-side --field-manager=first -f -`;
    await s.with(configMap('one', { shared: '1', yours: '2' })).ok`apply --server-side --field-manager=second -f -`;
    await s.with(configMap('one', { mine: '1' })).ok`apply --server-side --field-manager=first -f -`;
    expect((await s.json`configmap one`)['data']).toEqual({ mine: '1', shared: '1', yours: '2' });
    await s.with(configMap('one', {})).ok`apply --server-side --field-manager=second -f -`;
    expect((await s.json`configmap one`)['data']).toEqual({ mine: '1' });
  });

  expectation('a conflict names the manager and the field; --force-conflicts takes it over', async (s) => {
    await s.with(configMap('one', { a: '1' })).ok`apply --server-side --field-manager=first -f -`;
    const second = s.with(configMap('one', { a: '2' }));
    expect(await second.fails`apply --server-side --field-manager=second -f -`).toContain(
      'error: Apply failed with 1 conflict: conflict with "first": .data.a\n',
    );
    await second.ok`apply --server-side --field-manager=second --force-conflicts -f -`;
    expect((await s.json`configmap one`)['data']).toEqual({ a: '2' });
    expect(await managers(s, 'configmap', 'one')).toEqual({ 'second Apply': { 'f:data': { 'f:a': {} } } });
  });

  expectation('several conflicts are all listed', async (s) => {
    await s.with(deployment('web')).ok`apply --server-side --field-manager=first -f -`;
    await s.ok`label deployment web app=theirs --overwrite`;
    const changed = deployment('web', 3, 'registry.example/app:2');
    changed.metadata.labels = { app: 'mine' };
    const message = await s.with(changed).fails`apply --server-side --field-manager=second -f -`;
    expect(message).toContain('error: Apply failed with 3 conflicts: conflict');
    expect(message).toContain(
      'conflicts with "first":\n- .spec.replicas\n- .spec.template.spec.containers[name="main"].image\n',
    );
    expect(message).toContain('conflicts with "kubectl-label" using apps/v1:\n- .metadata.labels.app\n');
  });

  expectation('a plain update against an applied field becomes its owner', async (s) => {
    await s.with(configMap('one', { a: '1' })).ok`apply --server-side --field-manager=first -f -`;
    await s.ok`patch configmap one -p ${'{"data":{"a":"2"}}'}`;
    expect(await managers(s, 'configmap', 'one')).toEqual({
      'kubectl-patch Update': { 'f:data': { 'f:a': {} } },
    });
    expect(await s.with(configMap('one', { a: '1' })).fails`apply --server-side --field-manager=first -f -`).toContain(
      'conflict with "kubectl-patch" using v1: .data.a',
    );
  });

  expectation('apply --server-side merges list items by key and keeps the other owner', async (s) => {
    const service = (...names: [string, number][]): object => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { ports: names.map(([name, port]) => ({ name, port, protocol: 'TCP' })) },
    });
    await s.with(service(['http', 80], ['admin', 8080])).ok`apply --server-side --field-manager=first -f -`;
    await s.with(service(['https', 443])).ok`apply --server-side --field-manager=second -f -`;
    await s.with(service(['http', 80])).ok`apply --server-side --field-manager=first -f -`;
    const ports = (await s.json`service web`)['spec'].ports as { name: string; targetPort: number }[];
    expect(ports.map(({ name, targetPort }) => [name, targetPort])).toEqual([
      ['http', 80],
      ['https', 443],
    ]);
  });

  expectation('moving from client-side to server-side apply takes the fields along', async (s) => {
    await s.with(configMap('one', { a: '1', b: '2' })).ok`apply -f -`;
    expect(await s.with(configMap('one', { a: '1' })).ok`apply --server-side -f -`).toBe(
      'configmap/one serverside-applied\n',
    );
    expect((await s.json`configmap one`)['data']).toEqual({ a: '1' });
    expect(await managers(s, 'configmap', 'one')).toMatchObject({ 'kubectl Apply': { 'f:data': { 'f:a': {} } } });
    const { code, stdout } = await s.with(configMap('one', { a: '3' })).run`apply -f -`;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'configmap/one configured\n' });
  });

  expectation('apply of many documents in any order ends complete when repeated', async (s) => {
    const group = `${s.id}.example.com`;
    const other = `other-${s.id}`;
    s.cleanUp(
      () => s.run`delete namespace/${other} crd/gears.${group} clusterrole/c-${s.id} --ignore-not-found --wait=false`,
    );
    const inOther = { namespace: other };
    const here = { namespace: s.namespace };
    const inNamespace = (object: { metadata: object }): object => ({
      ...object,
      metadata: { ...object.metadata, ...here },
    });
    const numbered = (count: number, make: (index: number) => object): object[] =>
      Array.from({ length: count }, (_, i) => make(i));
    const documents: object[] = [
      // The kind and the namespace of the first documents come later in the file.
      { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'first', ...inOther }, spec: { teeth: 12 } },
      configMap('early', undefined, inOther),
      ...numbered(10, (i) => configMap(`settings-${i}`, { index: String(i) }, here)),
      ...numbered(4, (i) => inNamespace(deployment(`app-${i}`))),
      ...numbered(4, (i) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `secret-${i}`, ...here },
        data: { i: 'MQ==' },
      })),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', ...here } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'reader', ...here },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'reads', ...here },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: s.namespace }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        // Manifests often have a namespace here too; it is dropped.
        metadata: { name: `c-${s.id}`, ...here },
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web', ...here },
        spec: { selector: { app: 'app-0' }, ports: [{ port: 80 }] },
      },
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'nightly', ...here },
        spec: {
          schedule: '@daily',
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'registry.example/app:1' }] },
              },
            },
          },
        },
      },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'deny', ...here },
        spec: { podSelector: {}, policyTypes: ['Ingress'] },
      },
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'limits', ...here },
        spec: { hard: { pods: '10' } },
      },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } },
      customResourceDefinition({
        group,
        kind: 'Gear',
        plural: 'gears',
        properties: { spec: { type: 'object', properties: { teeth: { type: 'integer' } } } },
      }),
    ];
    const file = await s.file(
      'all.yaml',
      ['# in any order', ...documents.map((document) => JSON.stringify(document))].join('\n---\n'),
    );
    const first = await s.anywhere.run`apply -f ${file}`;
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('no matches for kind "Gear"');
    expect(first.stderr).toContain('ensure CRDs are installed first');
    expect(first.stderr).toContain(`namespaces "${other}" not found`);
    expect(lines(first.stdout)).toHaveLength(documents.length - 2);
    await s.ok`wait --for=condition=Established crd/gears.${group} --timeout=30s`;
    const second = await s.anywhere.run`apply -f ${file}`;
    expect(second.stderr).toBe('');
    expect(lines(second.stdout).filter((line) => line.endsWith(' created'))).toEqual([
      `gear.${group}/first created`,
      'configmap/early created',
    ]);
    expect(lines(await s.anywhere.ok`apply -f ${file}`).filter((line) => !line.endsWith(' unchanged'))).toEqual([]);
  });
}
