import { expect } from 'vitest';
import type { Expectation } from './expectation.ts';
import { configMap, deployment, pod } from './objects.ts';

/** Invalid input gets a clear error and has no effect. */
export function badInputExpectations(expectation: Expectation): void {
  expectation('malformed YAML and JSON', async (s) => {
    expect(await s.with('a: b: c\n').fails`create -f -`).toContain(
      'error parsing STDIN: error converting YAML to JSON: yaml: mapping values are not allowed in this context',
    );
    expect(await s.with('{"kind": ').fails`create -f -`).toContain('error');
    expect(await s.with('').fails`create -f -`).toBe('error: no objects passed to create\n');
    expect(await s.with({ kind: 'ConfigMap', metadata: { name: 'a' } }).fails`create -f -`).toContain(
      'apiVersion not set',
    );
    expect(await s.with({ apiVersion: 'v1', metadata: { name: 'a' } }).fails`create -f -`).toContain('kind not set');
    expect(await s.with({ apiVersion: 'v1', kind: 'Nonsense', metadata: { name: 'a' } }).fails`create -f -`).toContain(
      'no matches for kind "Nonsense" in version "v1"',
    );
  });

  expectation('a body that is no JSON is a BadRequest', async (s) => {
    const path = `/api/v1/namespaces/${s.namespace}/configmaps`;
    const cut = await s.file('cut.json', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"');
    expect(await s.fails`create --raw ${path} -f ${cut}`).toContain('Error from server (BadRequest)');
    const empty = await s.file('empty.json', '{}');
    expect(await s.fails`create --raw ${path} -f ${empty}`).toMatch(
      /ConfigMap "" is invalid|name or generateName is required/,
    );
    const other = await s.file(
      'secret.json',
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
    );
    expect(await s.fails`create --raw ${path} -f ${other}`).toContain('Error from server (BadRequest)');
  });

  expectation('unknown and duplicate fields: strict refuses, warn tells, ignore drops', async (s) => {
    const odd = { ...configMap('odd', { a: '1' }), colour: 'red' };
    expect(await s.with(odd).fails`create -f -`).toBe(
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "colour"\n',
    );
    expect(await s.with(odd).run`create -f - --validate=warn`).toMatchObject({
      code: 0,
      stderr: 'Warning: unknown field "colour"\n',
    });
    expect((await s.json`configmap odd`)['colour']).toBeUndefined();
    const deep = deployment('deep');
    Object.assign(deep.spec.template.spec.containers[0]!, { imagee: 'x' });
    Object.assign(deep.spec, { replica: 1 });
    expect(await s.with(deep).fails`create -f -`).toContain(
      'strict decoding error: unknown field "spec.replica", unknown field "spec.template.spec.containers[0].imagee"',
    );
    expect(await s.with(deep).run`create -f - --validate=ignore`).toMatchObject({ code: 0, stderr: '' });
    const path = `/api/v1/namespaces/${s.namespace}/configmaps?fieldValidation=Strict`;
    const twice = await s.file(
      'twice.json',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{"a":"1","a":"2"}}',
    );
    expect(await s.fails`create --raw ${path} -f ${twice}`).toContain(
      'strict decoding error: duplicate field "data.a"',
    );
  });

  expectation('values of the wrong type name the field', async (s) => {
    expect(await s.with({ ...configMap('a'), data: { n: 1 } }).fails`create -f -`).toContain(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
    const good = deployment('a');
    const wrong = { ...good, spec: { ...good.spec, replicas: 'three' } };
    expect(await s.with(wrong).fails`create -f -`).toContain(
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
  });

  expectation('bad names say what a good name is', async (s) => {
    expect(await s.fails`create configmap Bad_Name`).toContain(
      `error: failed to create configmap: ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    );
    expect(await s.fails`create configmap ${'x'.repeat(254)}`).toContain('must be no more than 253 characters');
    expect(await s.fails`create namespace a.b`).toContain('metadata.name: Invalid value: "a.b": must not contain dots');
    expect(await s.fails`create service clusterip 1web --tcp=80`).toContain(
      'a DNS-1035 label must consist of lower case alphanumeric characters',
    );
    expect(await s.fails`create configmap one --from-literal=${'bad key=1'}`).toContain(
      'a valid config key must consist of',
    );
  });

  expectation('bad labels, annotations and finalizers are refused', async (s) => {
    const create = (metadata: object): Promise<string> =>
      s.with(configMap('one', undefined, metadata)).fails`create -f -`;
    expect(await create({ labels: { 'bad key': 'x' } })).toContain(
      'metadata.labels: Invalid value: "bad key": name part must consist of alphanumeric characters',
    );
    expect(await create({ labels: { key: 'bad value' } })).toContain(
      `metadata.labels: Invalid value: "bad value": a valid label must be an empty string or consist of alphanumeric characters`,
    );
    expect(await create({ annotations: { 'a/b/c': '' } })).toContain(
      'metadata.annotations: Invalid value: "a/b/c": a qualified name must consist of',
    );
    expect(await create({ finalizers: ['unqualified'] })).toContain('metadata.finalizers');
    expect(await create({ ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }] })).toContain(
      'metadata.ownerReferences',
    );
  });

  expectation('several faults are listed together', async (s) => {
    const bad = pod('bad', undefined, { containers: [{ name: 'UPPER', image: '' }], restartPolicy: 'Sometimes' });
    const message = await s.with(bad).fails`create -f -`;
    expect(message).toContain('The Pod "bad" is invalid: \n');
    expect(message).toContain(
      `* spec.containers[0].name: Invalid value: "UPPER": a lowercase RFC 1123 label must consist of`,
    );
    expect(message).toContain('* spec.containers[0].image: Required value');
    expect(message).toContain(
      '* spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    );
  });

  expectation('each built-in kind checks what it must', async (s) => {
    const refuse = (object: object): Promise<string> => s.with(object).fails`create -f -`;
    const empty = deployment('web');
    empty.spec.replicas = -1;
    empty.spec.selector = { matchLabels: { other: 'x' } };
    const message = await refuse(empty);
    expect(message).toContain('spec.replicas: Invalid value: -1: must be greater than or equal to 0');
    expect(message).toContain(
      'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    );
    expect(
      await refuse({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 70000 }] } }),
    ).toContain('spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive');
    expect(await refuse({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: {} })).toContain(
      'spec.ports: Required value',
    );
    expect(
      await refuse({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'a' },
        spec: {
          schedule: 'often',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } },
          },
        },
      }),
    ).toContain('spec.schedule: Invalid value: "often": ');
    expect(
      await refuse({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'a' },
        rules: [{ apiGroups: [''], resources: ['pods'] }],
      }),
    ).toContain('rules[0].verbs: Required value: verbs must contain at least one value');
    expect(
      await refuse({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: { resources: { requests: { storage: 'lots' } } },
      }),
    ).toContain('quantities must match the regular expression');
    expect(
      await refuse({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a' }, spec: {} }),
    ).toContain('spec.accessModes: Required value: at least 1 access mode is required');
    expect(
      await refuse({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, type: 'kubernetes.io/tls' }),
    ).toContain('data[tls.crt]: Required value');
    expect(
      await refuse({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { a: 'not base64!' } }),
    ).toContain('illegal base64 data at input byte 3');
  });

  expectation('illegal selectors are refused', async (s) => {
    expect(await s.fails`get configmap -l ${'a in'}`).toContain("unable to parse requirement: found '' expected: '('");
    expect(await s.fails`get --raw /api/v1/namespaces/${s.namespace}/configmaps?labelSelector=a%20in`).toContain(
      '(BadRequest): unable to parse requirement',
    );
    expect(await s.fails`get --raw /api/v1/namespaces/${s.namespace}/configmaps?fieldSelector=nonsense`).toContain(
      '(BadRequest)',
    );
    expect(await s.fails`get configmap --field-selector data.a=1`).toContain(
      '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    expect(await s.fails`get --raw /api/v1/configmaps?limit=many`).toContain('(BadRequest)');
    expect(await s.fails`get --raw /api/v1/configmaps?limit=1&continue=nonsense`).toContain(
      'continue key is not valid',
    );
    expect(await s.fails`get --raw /api/v1/configmaps?resourceVersion=abc`).toContain('resourceVersion: Invalid value');
  });

  expectation('a namespace that does not exist', async (s) => {
    expect(await s.fails`create configmap one -n no-such-${s.id}`).toBe(
      `error: failed to create configmap: namespaces "no-such-${s.id}" not found\n`,
    );
    expect(await s.run`get configmap -n no-such-${s.id}`).toMatchObject({
      code: 0,
      stderr: `No resources found in no-such-${s.id} namespace.\n`,
    });
    expect(await s.with(configMap('one', undefined, { namespace: 'elsewhere' })).fails`create -f -`).toContain(
      'the namespace from the provided object "elsewhere" does not match the namespace',
    );
    const file = await s.file('one.json', JSON.stringify(configMap('one', undefined, { namespace: 'elsewhere' })));
    expect(await s.fails`create --raw /api/v1/namespaces/${s.namespace}/configmaps -f ${file}`).toContain(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  });

  expectation('a name in the body that differs from the path', async (s) => {
    await s.ok`create configmap one`;
    const file = await s.file('two.json', JSON.stringify(configMap('two')));
    expect(await s.fails`replace --raw /api/v1/namespaces/${s.namespace}/configmaps/one -f ${file}`).toContain(
      'the name of the object (two) does not match the name on the URL (one)',
    );
  });

  expectation('objects that are too big are refused', async (s) => {
    const text = 'x'.repeat(1024 * 1024 + 1);
    const big = await s.file('big.json', JSON.stringify(configMap('big', { text })));
    expect(await s.fails`create -f ${big}`).toContain(
      'The ConfigMap "big" is invalid: []: Too long: may not be more than 1048576 bytes',
    );
    const huge = await s.file('huge.json', JSON.stringify(configMap('huge', { text: text.repeat(4) })));
    expect(await s.fails`create -f ${huge}`).toContain('(RequestEntityTooLarge)');
    const annotations = { note: 'x'.repeat(256 * 1024 + 1) };
    expect(await s.with(configMap('noted', undefined, { annotations })).fails`create -f -`).toContain(
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    );
  });

  expectation('a patch that is no patch', async (s) => {
    await s.ok`create configmap one`;
    expect(await s.fails`patch configmap one --type=json -p ${'{"a":1}'}`).toContain('error');
    expect(await s.fails`patch configmap one --type=json -p ${'[{"op":"fly","path":"/data"}]'}`).toContain(
      'The request is invalid',
    );
    expect(await s.fails`patch configmap one --type=merge -p ${'{"metadata":{"name":"two"}}'}`).toMatch(
      /name|invalid/i,
    );
    expect(await s.fails`patch configmap none -p ${'{}'}`).toContain('configmaps "none" not found');
    expect(await s.fails`patch configmap one --type=merge -p ${'{"data":{"a":1}}'}`).toContain(
      'cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
  });

  expectation('fields the server owns cannot be forged', async (s) => {
    await s.with(
      configMap('one', undefined, {
        uid: '11111111-2222-3333-4444-555555555555',
        creationTimestamp: '2001-01-01T00:00:00Z',
        generation: 9,
      }),
    ).ok`create -f -`;
    const object = await s.json`configmap one`;
    expect(object.metadata.uid).not.toBe('11111111-2222-3333-4444-555555555555');
    expect(object.metadata.creationTimestamp).not.toMatch(/^2001/);
    const versioned = await s.file('two.json', JSON.stringify(configMap('two', undefined, { resourceVersion: '5' })));
    expect(await s.fails`create --raw /api/v1/namespaces/${s.namespace}/configmaps -f ${versioned}`).toContain(
      'resourceVersion should not be set on objects to be created',
    );
    await s.ok`patch configmap one --type=merge -p ${'{"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}}'}`;
    expect((await s.json`configmap one`).metadata.creationTimestamp).toBe(object.metadata.creationTimestamp);
  });

  expectation('verbs and options nobody knows', async (s) => {
    expect(
      await s.fails`replace --raw /api/v1/namespaces/${s.namespace}/configmaps -f ${await s.file('a.json', '{}')}`,
    ).toContain('the server does not allow this method on the requested resource');
    expect(
      await s.fails`create --raw /api/v1/namespaces/${s.namespace}/configmaps?dryRun=Some -f ${await s.file('b.json', JSON.stringify(configMap('b')))}`,
    ).toContain('dryRun: Unsupported value: ["Some"]: supported values: "All"');
    expect(
      await s.fails`create --raw /api/v1/namespaces/${s.namespace}/configmaps?fieldValidation=Some -f ${await s.file('b.json', JSON.stringify(configMap('b')))}`,
    ).toContain('fieldValidation: Unsupported value: "Some": supported values: "", "Ignore", "Strict", "Warn"');
  });
}
