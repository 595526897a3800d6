import { expect } from 'vitest';
import { createCsr } from '../../../src/pki/index.ts';
import type { Expectation } from './expectation.ts';
import { configMap, deployment, pod } from './objects.ts';
import { lines, table } from './output.ts';

/** Changes of objects: patch, label, annotate, scale, edit, replace, set, rollout. */
export function changingExpectations(expectation: Expectation): void {
  expectation('patch --type=json tests, adds, replaces, moves and removes', async (s) => {
    await s.ok`create configmap one --from-literal=a=1 --from-literal=b=2`;
    const patch = JSON.stringify([
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '10' },
      { op: 'add', path: '/data/c~1d', value: '3' },
      { op: 'move', from: '/data/b', path: '/data/e' },
    ]);
    // A key of a ConfigMap must not contain a slash, so the whole patch is refused.
    expect(await s.fails`patch configmap one --type=json -p ${patch}`).toContain('a valid config key must consist of');
    await s.ok`patch configmap one --type=json -p ${patch.replace('c~1d', 'c')}`;
    expect((await s.json`configmap one`)['data']).toEqual({ a: '10', c: '3', e: '2' });
    expect(
      await s.fails`patch configmap one --type=json -p ${'[{"op":"test","path":"/data/a","value":"1"}]'}`,
    ).toContain('The request is invalid');
    expect(await s.fails`patch configmap one --type=json -p ${'[{"op":"remove","path":"/data/none"}]'}`).toContain(
      'The request is invalid',
    );
  });

  expectation('patch --type=merge replaces lists and removes nulls', async (s) => {
    await s.with(
      configMap('one', { a: '1', b: '2' }, { labels: { x: '1' }, finalizers: ['example.com/a', 'example.com/b'] }),
    ).ok`create -f -`;
    s.cleanUp(() => s.run`patch configmap one --type=merge -p ${'{"metadata":{"finalizers":null}}'}`);
    await s.ok`patch configmap one --type=merge -p ${'{"data":{"a":null,"c":"3"},"metadata":{"finalizers":["example.com/c"],"labels":null}}'}`;
    const object = await s.json`configmap one`;
    expect(object['data']).toEqual({ b: '2', c: '3' });
    expect(object.metadata.finalizers).toEqual(['example.com/c']);
    expect(object.metadata.labels).toBeUndefined();
  });

  expectation('patch --type=strategic merges lists by key and obeys directives', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    const patch = (containers: object[]): string => JSON.stringify({ spec: { template: { spec: { containers } } } });
    await s.ok`patch deployment web -p ${patch([{ name: 'side', image: 'registry.example/side:1' }])}`;
    const containers = async (): Promise<string[]> =>
      ((await s.json`deployment web`)['spec'].template.spec.containers as { name: string }[]).map(({ name }) => name);
    expect(await containers()).toEqual(['side', 'main']);
    await s.ok`patch deployment web -p ${patch([{ name: 'main', image: 'registry.example/app:2' }])}`;
    expect(await s.json`deployment web`).toMatchObject({
      metadata: { generation: 3 },
      spec: {
        template: { spec: { containers: [{ name: 'side' }, { name: 'main', image: 'registry.example/app:2' }] } },
      },
    });
    await s.ok`patch deployment web -p ${JSON.stringify({ spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } })}`;
    expect(await containers()).toEqual(['main']);
  });

  expectation('patch --subresource=status writes status alone', async (s) => {
    await s.with(deployment('web', 0)).ok`create -f -`;
    await s.ok`patch deployment web --subresource=status --type=merge -p ${'{"status":{"collisionCount":7},"spec":{"replicas":5}}'}`;
    const object = await s.json`deployment web`;
    expect(object).toMatchObject({ status: { collisionCount: 7 }, spec: { replicas: 0 }, metadata: { generation: 1 } });
    expect(await s.ok`get deployment web --subresource=status -o ${'jsonpath={.status.collisionCount}'}`).toBe('7');
  });

  expectation('a patch that changes nothing keeps the resource version', async (s) => {
    await s.ok`create configmap one --from-literal=a=1`;
    const before = await s.json`configmap one`;
    expect(await s.ok`patch configmap one -p ${'{"data":{"a":"1"}}'}`).toBe('configmap/one patched (no change)\n');
    expect((await s.json`configmap one`).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(await s.ok`patch configmap one -p ${'{"data":{"a":"2"}}'}`).toBe('configmap/one patched\n');
    expect(Number((await s.json`configmap one`).metadata.resourceVersion)).toBeGreaterThan(
      Number(before.metadata.resourceVersion),
    );
  });

  expectation('label sets, refuses to overwrite, overwrites, lists and removes', async (s) => {
    await s.ok`create configmap one`;
    expect(await s.ok`label configmap one tier=web owner=me`).toBe('configmap/one labeled\n');
    expect(await s.fails`label configmap one tier=db`).toContain('already has a value (web), and --overwrite is false');
    expect(await s.ok`label configmap one tier=db --overwrite`).toBe('configmap/one labeled\n');
    expect(lines(await s.ok`label configmap one --list`)).toEqual(expect.arrayContaining(['tier=db', 'owner=me']));
    expect(await s.ok`label configmap one owner-`).toBe('configmap/one unlabeled\n');
    expect((await s.json`configmap one`).metadata.labels).toEqual({ tier: 'db' });
    expect(await s.ok`label configmap -l tier=db seen=yes`).toBe('configmap/one labeled\n');
    expect(await s.fails`label configmap one --resource-version=1 late=1`).toContain('the object has been modified');
  });

  expectation('annotate sets and removes', async (s) => {
    await s.ok`create configmap one`;
    expect(await s.ok`annotate configmap one note=${'two words'} other=1`).toBe('configmap/one annotated\n');
    expect(await s.ok`annotate configmap one other-`).toBe('configmap/one annotated\n');
    expect((await s.json`configmap one`).metadata.annotations).toEqual({ note: 'two words' });
  });

  expectation('scale goes through the subresource and checks its precondition', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(await s.ok`scale deployment web --replicas=0`).toBe('deployment.apps/web scaled\n');
    expect(await s.fails`scale deployment web --current-replicas=4 --replicas=2`).toContain(
      'error: Expected replicas to be 4, was 0',
    );
    await s.ok`patch deployment web -p ${'{"spec":{"paused":true}}'}`;
    await s.ok`scale deployment web --current-replicas=0 --replicas=2`;
    expect(await s.json`deployment web`).toMatchObject({ spec: { replicas: 2 } });
    expect(
      JSON.parse(await s.ok`get --raw /apis/apps/v1/namespaces/${s.namespace}/deployments/web/scale`),
    ).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 2 },
      status: { selector: 'app=web' },
    });
    expect(await s.fails`scale deployment nothing --replicas=1`).toContain('deployments.apps "nothing" not found');
    await s.ok`create configmap one`;
    expect(await s.fails`scale configmap one --replicas=1`).toContain(
      'the server could not find the requested resource',
    );
  });

  expectation('edit sends what the editor saved', async (s) => {
    await s.ok`create configmap one --from-literal=color=red`;
    const editor = await s.file('editor.sh', '#!/bin/sh\nsed -i s/red/green/ "$1"\n', 0o700);
    expect(await s.under({ KUBE_EDITOR: editor }).ok`edit configmap one`).toBe('configmap/one edited\n');
    expect((await s.json`configmap one`)['data']).toEqual({ color: 'green' });
    const idle = await s.file('idle.sh', '#!/bin/sh\n', 0o700);
    const { code, stderr } = await s.under({ KUBE_EDITOR: idle }).run`edit configmap one`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Edit cancelled, no changes made.\n' });
  });

  expectation('an edit the server refuses keeps the file and the object', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    const editor = await s.file('editor.sh', '#!/bin/sh\nsed -i "s/replicas: 0/replicas: -1/" "$1"\n', 0o700);
    const { code, stderr } = await s.under({ KUBE_EDITOR: editor }).run`edit deployment web`;
    expect(code).toBe(1);
    expect(stderr).toContain('deployments.apps "web" is invalid');
    expect(await s.json`deployment web`).toMatchObject({ spec: { replicas: 0 } });
  });

  expectation('replace stores the whole object and refuses an old resource version', async (s) => {
    await s.ok`create configmap one --from-literal=a=1`;
    const before = await s.json`configmap one`;
    expect(await s.with(configMap('one', { b: '2' })).ok`replace -f -`).toBe('configmap/one replaced\n');
    expect((await s.json`configmap one`)['data']).toEqual({ b: '2' });
    expect(await s.with(before).fails`replace -f -`).toBe(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your changes to the latest version and try again\n',
    );
    expect(await s.with(configMap('none')).fails`replace -f -`).toContain('configmaps "none" not found');
  });

  expectation('replace with another uid is a conflict', async (s) => {
    await s.ok`create configmap one`;
    const uid = '11111111-2222-3333-4444-555555555555';
    expect(await s.with(configMap('one', {}, { uid })).fails`replace -f -`).toMatch(
      /Conflict.*Operation cannot be fulfilled on configmaps "one": .*Precondition failed: UID in precondition: 11111111-2222-3333-4444-555555555555, UID in object meta: /,
    );
  });

  expectation('replace --force deletes and creates anew', async (s) => {
    await s.ok`create configmap one`;
    const before = await s.json`configmap one`;
    const output = await s.with(configMap('one', { new: 'yes' })).ok`replace --force -f -`;
    expect(lines(output)).toEqual(['configmap "one" deleted', 'configmap/one replaced']);
    const after = await s.json`configmap one`;
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after['data']).toEqual({ new: 'yes' });
  });

  expectation('set image, env and resources change the pod template', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(await s.ok`set image deployment/web main=registry.example/app:9`).toBe(
      'deployment.apps/web image updated\n',
    );
    expect(await s.ok`set env deployment/web COLOR=blue`).toBe('deployment.apps/web env updated\n');
    expect(await s.ok`set resources deployment/web --requests=cpu=100m,memory=0.5Gi`).toBe(
      'deployment.apps/web resource requirements updated\n',
    );
    expect(await s.json`deployment web`).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                image: 'registry.example/app:9',
                env: [{ name: 'COLOR', value: 'blue' }],
                resources: { requests: { cpu: '100m', memory: '512Mi' } },
              },
            ],
          },
        },
      },
    });
  });

  expectation('rollout restart, pause and resume patch the template; an unknown kind is refused', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(await s.ok`rollout restart deployment/web`).toBe('deployment.apps/web restarted\n');
    const { template } = (await s.json`deployment web`)['spec'] as { template: { metadata: { annotations: object } } };
    expect(Object.keys(template.metadata.annotations)).toEqual(['kubectl.kubernetes.io/restartedAt']);
    expect(await s.ok`rollout pause deployment/web`).toBe('deployment.apps/web paused\n');
    expect(await s.json`deployment web`).toMatchObject({ spec: { paused: true } });
    expect(await s.fails`rollout pause deployment/web`).toContain('is already paused');
    expect(await s.ok`rollout resume deployment/web`).toBe('deployment.apps/web resumed\n');
    await s.ok`create configmap one`;
    expect(await s.fails`rollout restart configmap/one`).toContain('restarting is not supported');
  });

  expectation('an immutable ConfigMap and Secret stay as they are', async (s) => {
    await s.with({ ...configMap('fixed', { a: '1' }), immutable: true }).ok`create -f -`;
    expect(await s.fails`patch configmap fixed -p ${'{"data":{"a":"2"}}'}`).toContain(
      'The ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    );
    expect(await s.fails`patch configmap fixed -p ${'{"immutable":false}'}`).toContain(
      'immutable: Forbidden: field is immutable when `immutable` is set',
    );
    await s.ok`create secret generic typed --type=example.com/a`;
    expect(await s.fails`patch secret typed -p ${'{"type":"example.com/b"}'}`).toContain(
      'The Secret "typed" is invalid: type: Invalid value: "example.com/b": field is immutable',
    );
  });

  expectation('the selector of a deployment cannot change', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(
      await s.fails`patch deployment web --type=merge -p ${'{"spec":{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}}'}`,
    ).toContain('spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable');
  });

  expectation('the cluster IP of a service cannot change', async (s) => {
    await s.ok`create service clusterip web --tcp=80`;
    expect(await s.fails`patch service web -p ${'{"spec":{"clusterIP":"10.0.0.250"}}'}`).toContain(
      'The Service "web" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.250"]: may not change once set',
    );
  });

  expectation('cordon, taint, drain and uncordon change a node', async (s) => {
    const name = `node-${s.id}`;
    s.cleanUp(() => s.run`delete node ${name} --ignore-not-found`);
    await s.with({ apiVersion: 'v1', kind: 'Node', metadata: { name } }).ok`create -f -`;
    expect(await s.ok`cordon ${name}`).toBe(`node/${name} cordoned\n`);
    expect(await s.ok`taint node ${name} dedicated=db:NoSchedule`).toBe(`node/${name} tainted\n`);
    expect(await s.json`node ${name}`).toMatchObject({ spec: { unschedulable: true } });
    expect((await s.json`node ${name}`)['spec'].taints).toContainEqual({
      key: 'dedicated',
      value: 'db',
      effect: 'NoSchedule',
    });
    expect(await s.ok`drain ${name} --timeout=20s`).toContain(`node/${name} drained\n`);
    expect(await s.ok`uncordon ${name}`).toBe(`node/${name} uncordoned\n`);
    expect((await s.json`node ${name}`)['spec'].unschedulable).toBeUndefined();
    expect(await s.fails`cordon no-such-${s.id}`).toContain(`nodes "no-such-${s.id}" not found`);
  });

  expectation('drain evicts the pods of a node', async (s) => {
    const name = `node-${s.id}`;
    s.cleanUp(() => s.run`delete node ${name} --ignore-not-found`);
    await s.ok`create serviceaccount runner`;
    await s.with({ apiVersion: 'v1', kind: 'Node', metadata: { name } }).ok`create -f -`;
    const spec = { serviceAccountName: 'runner', nodeName: name, terminationGracePeriodSeconds: 0 };
    await s.with(pod('lonely', undefined, spec)).ok`create -f -`;
    expect(await s.fails`drain ${name} --timeout=20s`).toContain(
      'cannot delete cannot delete Pods that declare no controller (use --force to override)',
    );
    expect(await s.ok`drain ${name} --force --timeout=20s`).toContain('pod/lonely evicted\n');
    expect(await s.ok`get pod lonely --ignore-not-found`).toBe('');
  });

  expectation('certificate approve and deny decide once', async (s) => {
    const { csr: pem } = await createCsr({ commonName: 'jane', organizations: ['devs'] });
    const request = Buffer.from(pem).toString('base64');
    const csr = (name: string): object => ({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `${name}-${s.id}` },
      spec: { request, signerName: 'example.com/nobody', usages: ['client auth'] },
    });
    s.cleanUp(() => s.run`delete csr ${`good-${s.id}`} ${`bad-${s.id}`} --ignore-not-found`);
    await s.with([csr('good'), csr('bad')]).ok`create -f -`;
    const resource = 'certificatesigningrequest.certificates.k8s.io';
    expect(await s.ok`certificate approve good-${s.id}`).toBe(`${resource}/good-${s.id} approved\n`);
    expect(await s.ok`certificate deny bad-${s.id}`).toBe(`${resource}/bad-${s.id} denied\n`);
    expect(table(await s.ok`get csr ${`good-${s.id}`} ${`bad-${s.id}`} --no-headers`).map((row) => row.at(-1))).toEqual(
      ['Approved', 'Denied'],
    );
    expect(await s.fails`certificate deny good-${s.id}`).toContain('is already Approved');
  });
}
