import { expect } from 'vitest';
import type { Expectation } from './expectation.ts';
import { configMap, deployment, pod } from './objects.ts';
import { age, lines, table } from './output.ts';

/** All forms of `get`, `describe`, `events`, `logs`. */
export function readingExpectations(expectation: Expectation): void {
  expectation('get prints a table, -o wide more columns', async (s) => {
    await s.with([configMap('one', { a: '1', b: '2' }), configMap('two')]).ok`create -f -`;
    expect(table(await s.ok`get configmap one two`)).toEqual([
      ['NAME', 'DATA', 'AGE'],
      ['one', '2', age],
      ['two', '0', age],
    ]);
    await s.ok`create service clusterip web --tcp=80:8080`;
    const [header, row] = table(await s.ok`get service web -o wide`);
    expect(header).toEqual(['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE', 'SELECTOR']);
    expect(row).toEqual(['web', 'ClusterIP', expect.stringMatching(/^10\./), '<none>', '80/TCP', age, 'app=web']);
  });

  expectation('get of several kinds prefixes names and separates the tables', async (s) => {
    await s.ok`create configmap one`;
    await s.ok`create secret generic two`;
    expect(table(await s.ok`get configmap/one secret/two`)).toEqual([
      ['NAME', 'DATA', 'AGE'],
      ['configmap/one', '0', age],
      [''],
      ['NAME', 'TYPE', 'DATA', 'AGE'],
      ['secret/two', 'Opaque', '0', age],
    ]);
  });

  expectation('get of several kinds prefixes names also when only one of them has objects', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(lines(await s.ok`get statefulsets,daemonsets,deployments --no-headers`)).toEqual([
      expect.stringMatching(/^deployment\.apps\/web /),
    ]);
  });

  expectation('get --subresource=scale prints what is wanted and what is there', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(table(await s.ok`get deployment web --subresource=scale`)).toEqual([
      ['NAME', 'DESIRED', 'AVAILABLE', 'AGE'],
      ['web', '0', '0', age],
    ]);
  });

  expectation('get -o name, json, yaml, jsonpath, custom-columns and go-template agree', async (s) => {
    await s.with(configMap('one', { key: 'value' }, { labels: { tier: 'a' } })).ok`create -f -`;
    expect(await s.ok`get cm one -o name`).toBe('configmap/one\n');
    const object = await s.json`configmap one`;
    expect(object).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { key: 'value' },
      metadata: { name: 'one', namespace: s.namespace, labels: { tier: 'a' } },
    });
    expect(object.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(object.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(object.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(object.metadata.managedFields).toBeUndefined();
    const yaml = await s.ok`get cm one -o yaml`;
    expect(yaml).toContain('apiVersion: v1\ndata:\n  key: value\nkind: ConfigMap\nmetadata:\n');
    expect(await s.ok`get cm one -o ${'jsonpath={.metadata.name}/{.data.key}'}`).toBe('one/value');
    expect(table(await s.ok`get cm one -o custom-columns=N:.metadata.name,K:.data.key,NONE:.data.none`)).toEqual([
      ['N', 'K', 'NONE'],
      ['one', 'value', '<none>'],
    ]);
    expect(await s.ok`get cm one -o ${'go-template={{.data.key}}'}`).toBe('value');
  });

  expectation('--show-managed-fields tells who wrote what', async (s) => {
    await s.ok`create configmap one --from-literal=a=1`;
    const object = JSON.parse(await s.ok`get cm one -o json --show-managed-fields`) as {
      metadata: { managedFields: object[] };
    };
    expect(object.metadata.managedFields).toEqual([
      {
        manager: 'kubectl-create',
        operation: 'Update',
        apiVersion: 'v1',
        time: expect.any(String) as string,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
      },
    ]);
  });

  expectation('get of a list as JSON is a v1 List', async (s) => {
    await s.with([configMap('one'), configMap('two')]).ok`create -f -`;
    const list = await s.json`configmap one two`;
    expect(list).toMatchObject({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ kind: 'ConfigMap' }, { kind: 'ConfigMap' }],
    });
    expect(JSON.parse(await s.ok`get --raw /api/v1/namespaces/${s.namespace}/configmaps`)).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/) as string },
    });
  });

  expectation('-l selects by label in every form of the selector language', async (s) => {
    await s.with([
      configMap('a', {}, { labels: { env: 'dev', tier: 'web' } }),
      configMap('b', {}, { labels: { env: 'prod', tier: 'db' } }),
      configMap('c', {}, { labels: { env: 'test' } }),
      configMap('d', {}, { labels: { other: '' } }),
    ]).ok`create -f -`;
    const select = async (selector: string): Promise<string[]> =>
      lines(await s.ok`get cm -o name --field-selector metadata.name!=kube-root-ca.crt -l ${selector}`).map((line) =>
        line.slice(-1),
      );
    expect(await select('env=dev')).toEqual(['a']);
    expect(await select('env==dev')).toEqual(['a']);
    expect(await select('env!=dev')).toEqual(['b', 'c', 'd']);
    expect(await select('env in (dev, test)')).toEqual(['a', 'c']);
    expect(await select('env notin (dev,test)')).toEqual(['b', 'd']);
    expect(await select('tier')).toEqual(['a', 'b']);
    expect(await select('!env')).toEqual(['d']);
    expect(await select('env,tier=db')).toEqual(['b']);
    expect(await select('other=')).toEqual(['d']);
    expect(await select('env=none')).toEqual([]);
  });

  expectation('--field-selector selects by name, secret type and namespace phase', async (s) => {
    await s.ok`create secret generic plain`;
    await s.ok`create secret docker-registry pull --docker-username=u --docker-password=p`;
    expect(await s.ok`get secrets -o name --field-selector metadata.name=plain`).toBe('secret/plain\n');
    expect(await s.ok`get secrets -o name --field-selector type=kubernetes.io/dockerconfigjson`).toBe('secret/pull\n');
    expect(await s.ok`get secrets -o name --field-selector type!=Opaque,metadata.namespace=${s.namespace}`).toBe(
      'secret/pull\n',
    );
    expect(await s.ok`get ns -o name --field-selector ${`status.phase=Active,metadata.name=${s.namespace}`}`).toBe(
      `namespace/${s.namespace}\n`,
    );
    expect(await s.fails`get secrets --field-selector spec.color=red`).toContain(
      'field label not supported: spec.color',
    );
  });

  expectation('--chunk-size pages through the whole list', async (s) => {
    const names = Array.from({ length: 23 }, (_, index) => `item-${String(index).padStart(2, '0')}`);
    await s.with(names.map((name) => configMap(name, {}, { labels: { paged: '' } }))).ok`create -f -`;
    const { stderr, stdout } = await s.run`get cm -l paged --chunk-size=5 -o name -v=6`;
    expect(lines(stdout)).toEqual(names.map((name) => `configmap/${name}`));
    expect(stderr.match(/limit=5/g)).toHaveLength(5);
    const page = JSON.parse(await s.ok`get --raw /api/v1/namespaces/${s.namespace}/configmaps?limit=4`) as {
      items: unknown[];
      metadata: { continue: string; remainingItemCount: number };
    };
    expect(page.items).toHaveLength(4);
    expect(page.metadata.continue).not.toBe('');
    expect(page.metadata.remainingItemCount).toBeGreaterThanOrEqual(19);
  });

  expectation('--sort-by, --show-labels, -L and --no-headers shape the table', async (s) => {
    await s.with([
      configMap('a', { x: '3' }, { labels: { rank: 'third' } }),
      configMap('b', { x: '1' }, { labels: { rank: 'first' } }),
    ]).ok`create -f -`;
    expect(lines(await s.ok`get cm a b --sort-by=.data.x -o name`)).toEqual(['configmap/b', 'configmap/a']);
    expect(table(await s.ok`get cm a --show-labels`)).toEqual([
      ['NAME', 'DATA', 'AGE', 'LABELS'],
      ['a', '1', age, 'rank=third'],
    ]);
    expect(table(await s.ok`get cm a -L rank --no-headers`)).toEqual([['a', '1', age, 'third']]);
    expect(lines(await s.ok`get cm -l rank --sort-by=.metadata.labels.rank --no-headers`)[0]).toMatch(/^b /);
  });

  expectation('-A adds the namespace column', async (s) => {
    await s.with(configMap('everywhere', {}, { labels: { id: s.id } })).ok`create -f -`;
    expect(table(await s.ok`get cm -A -l id=${s.id}`)).toEqual([
      ['NAMESPACE', 'NAME', 'DATA', 'AGE'],
      [s.namespace, 'everywhere', '0', age],
    ]);
  });

  expectation('get all collects the kinds of the category', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    await s.ok`create service clusterip web --tcp=80`;
    const names = lines(await s.ok`get all -o name`);
    expect(names).toEqual(expect.arrayContaining(['service/web', 'deployment.apps/web']));
    expect(names.filter((name) => name.startsWith('configmap'))).toEqual([]);
  });

  expectation('an empty list says so and exits 0', async (s) => {
    const { code, stdout, stderr } = await s.run`get jobs`;
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: `No resources found in ${s.namespace} namespace.\n`,
    });
  });

  expectation('a missing object is NotFound, unless that is ignored', async (s) => {
    expect(await s.fails`get configmap nothing`).toBe('Error from server (NotFound): configmaps "nothing" not found\n');
    expect(await s.fails`get deployment nothing`).toBe(
      'Error from server (NotFound): deployments.apps "nothing" not found\n',
    );
    expect(await s.ok`get configmap nothing --ignore-not-found`).toBe('');
  });

  expectation('a deployment prints its replica columns', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    expect(table(await s.ok`get deployment web -o wide`)).toEqual([
      ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE', 'CONTAINERS', 'IMAGES', 'SELECTOR'],
      ['web', '0/0', '0', '0', age, 'main', 'registry.example/app:1', 'app=web'],
    ]);
  });

  expectation('a pod that nobody schedules is Pending', async (s) => {
    await s.ok`create serviceaccount runner`;
    await s.with(pod('waiting', {}, { serviceAccountName: 'runner' })).ok`create -f -`;
    expect(table(await s.ok`get pod waiting -o wide`)).toEqual([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'],
      ['waiting', '0/1', 'Pending', '0', age, '<none>', '<none>', '<none>', '<none>'],
    ]);
    expect(await s.json`pod waiting`).toMatchObject({
      status: { phase: 'Pending', qosClass: 'BestEffort' },
      spec: {
        dnsPolicy: 'ClusterFirst',
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        enableServiceLinks: true,
        priority: 0,
        tolerations: [{ key: 'node.kubernetes.io/not-ready' }, { key: 'node.kubernetes.io/unreachable' }],
        containers: [{ imagePullPolicy: 'IfNotPresent', terminationMessagePath: '/dev/termination-log' }],
      },
    });
  });

  expectation('logs of a pod without a node are refused', async (s) => {
    await s.ok`create serviceaccount runner`;
    await s.with(pod('waiting', {}, { serviceAccountName: 'runner' })).ok`create -f -`;
    expect(await s.fails`logs nothing`).toContain('rror from server (NotFound): pods "nothing" not found');
    expect(await s.fails`logs waiting -c other`).toContain('container other is not valid for pod waiting');
    expect(await s.ok`logs waiting`).toBe('');
  });

  expectation('describe prints labels, data and events', async (s) => {
    await s.with(configMap('one', { key: 'line 1\nline 2\n' }, { labels: { a: 'b' }, annotations: { note: 'hi' } }))
      .ok`create -f -`;
    const text = await s.ok`describe configmap one`;
    expect(text).toMatch(
      /^Name: +one\nNamespace: +e2e-\w+\nLabels: +a=b\nAnnotations: +note: hi\n\nData\n====\nkey:\n----\nline 1\nline 2\n/,
    );
    expect(text).toMatch(/\nEvents: +<none>\n$/);
  });

  expectation('describe covers the kinds people look at', async (s) => {
    await s.ok`create serviceaccount runner`;
    await s.with([pod('p', {}, { serviceAccountName: 'runner' }), deployment('d')]).ok`create -f -`;
    await s.ok`create service clusterip web --tcp=80`;
    await s.ok`create secret generic hidden --from-literal=password=secret`;
    await s.ok`create role reader --verb=get --resource=pods`;
    expect(await s.ok`describe pod p`).toMatch(/^Status: +Pending$/m);
    expect(await s.ok`describe deployment d`).toMatch(
      /^Replicas: +0 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/m,
    );
    expect(await s.ok`describe service web`).toMatch(/^IP Families: +IPv4$/m);
    expect(await s.ok`describe secret hidden`).toMatch(/^password: +6 bytes$/m);
    expect(await s.ok`describe role reader`).toMatch(/^ +pods +\[\] +\[\] +\[get\]$/m);
    expect(await s.ok`describe namespace ${s.namespace}`).toMatch(/^Status: +Active$/m);
    expect(await s.ok`describe serviceaccount runner`).toMatch(/^Tokens: +<none>$/m);
  });

  expectation('describe of a prefix finds the objects that begin with it', async (s) => {
    await s.with([configMap('web-1'), configMap('web-2'), configMap('db')]).ok`create -f -`;
    expect((await s.ok`describe configmap web`).match(/^Name: .*$/gm)).toHaveLength(2);
  });

  expectation('events are listed newest last, for one object and by type', async (s) => {
    await s.ok`create configmap subject`;
    const subject = await s.json`configmap subject`;
    const event = (name: string, type: string, second: number): object => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name },
      involvedObject: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        name: 'subject',
        namespace: s.namespace,
        uid: subject.metadata.uid,
      },
      reason: `Reason${second}`,
      message: `message ${second}`,
      type,
      firstTimestamp: `2030-01-01T00:00:0${second}Z`,
      lastTimestamp: `2030-01-01T00:00:0${second}Z`,
      count: second,
      source: { component: 'test' },
    });
    await s.with([event('late', 'Warning', 2), event('early', 'Normal', 1)]).ok`create -f -`;
    const rows = table(await s.ok`events --for configmap/subject`);
    expect(rows[0]).toEqual(['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']);
    expect(rows.slice(1).map((row) => row.slice(1))).toEqual([
      ['Normal', 'Reason1', 'ConfigMap/subject', 'message 1'],
      ['Warning', 'Reason2', 'ConfigMap/subject', 'message 2'],
    ]);
    expect(table(await s.ok`events --types=Warning --no-headers`).map((row) => row[2])).toEqual(['Reason2']);
    expect(
      table(await s.ok`get events --field-selector reason=Reason1 --no-headers`).map((row) => row.slice(1)),
    ).toEqual([['Normal', 'Reason1', 'configmap/subject', 'message 1']]);
    expect(
      await s.ok`get events.events.k8s.io late -o ${'jsonpath={.note}/{.regarding.name}/{.deprecatedCount}'}`,
    ).toBe('message 2/subject/2');
    expect(await s.ok`describe configmap subject`).toMatch(/Warning +Reason2 +.* +test +message 2/);
  });
}
