import { expect } from 'vitest';
import type { Expectation } from './expectation.ts';
import { configMap } from './objects.ts';
import { age, lines, table } from './output.ts';

/** `create` with its generators (which send protobuf), from files, and as a dry run. */
export function creatingExpectations(expectation: Expectation): void {
  expectation('create configmap takes literals, files and env files', async (s) => {
    const file = await s.file('app.conf', 'port = 80\n');
    const env = await s.file('vars.env', 'A=1\n# comment\nB=two words\n');
    expect(await s.ok`create configmap lit --from-literal=a=1 --from-literal=b=${'x y'}`).toBe(
      'configmap/lit created\n',
    );
    await s.ok`create configmap files --from-file=${file} --from-file=other=${file}`;
    await s.ok`create configmap env --from-env-file=${env}`;
    expect(await s.json`configmap lit`).toMatchObject({ data: { a: '1', b: 'x y' } });
    expect(await s.json`configmap files`).toMatchObject({ data: { 'app.conf': 'port = 80\n', other: 'port = 80\n' } });
    expect(await s.json`configmap env`).toMatchObject({ data: { A: '1', B: 'two words' } });
  });

  expectation('create configmap keeps bytes that are not text', async (s) => {
    const file = await s.file('bytes', Buffer.from([0xff, 0xfe, 0x00]));
    await s.ok`create configmap binary --from-file=${file}`;
    expect(await s.json`configmap binary`).toMatchObject({ binaryData: { bytes: '//4A' } });
  });

  expectation('create secret makes generic, registry and TLS secrets', async (s) => {
    expect(await s.ok`create secret generic plain --from-literal=password=s3cret --type=example.com/kind`).toBe(
      'secret/plain created\n',
    );
    await s.ok`create secret docker-registry pull --docker-server=r.example --docker-username=u --docker-password=p`;
    expect(await s.json`secret plain`).toMatchObject({ type: 'example.com/kind', data: { password: 'czNjcmV0' } });
    const pull = await s.json`secret pull`;
    expect(pull['type']).toBe('kubernetes.io/dockerconfigjson');
    expect(JSON.parse(Buffer.from(pull['data']['.dockerconfigjson'] as string, 'base64').toString())).toMatchObject({
      auths: { 'r.example': { username: 'u', password: 'p' } },
    });
    expect(table(await s.ok`get secrets plain pull`)).toEqual([
      ['NAME', 'TYPE', 'DATA', 'AGE'],
      ['plain', 'example.com/kind', '1', age],
      ['pull', 'kubernetes.io/dockerconfigjson', '1', age],
    ]);
  });

  expectation('create serviceaccount, role, rolebinding, clusterrole, clusterrolebinding', async (s) => {
    s.cleanUp(() => s.run`delete clusterrole/${s.id} clusterrolebinding/${s.id} --ignore-not-found`);
    expect(await s.ok`create serviceaccount robot`).toBe('serviceaccount/robot created\n');
    expect(await s.ok`create role reader --verb=get,list --resource=pods,deployments.apps --resource-name=web`).toBe(
      'role.rbac.authorization.k8s.io/reader created\n',
    );
    expect(
      await s.ok`create rolebinding reads --role=reader --serviceaccount=${s.namespace}:robot --user=jane --group=devs`,
    ).toBe('rolebinding.rbac.authorization.k8s.io/reads created\n');
    expect(await s.ok`create clusterrole ${s.id} --verb=get --non-resource-url=/metrics`).toBe(
      `clusterrole.rbac.authorization.k8s.io/${s.id} created\n`,
    );
    expect(await s.ok`create clusterrolebinding ${s.id} --clusterrole=${s.id} --user=jane`).toBe(
      `clusterrolebinding.rbac.authorization.k8s.io/${s.id} created\n`,
    );
    expect(await s.json`role reader`).toMatchObject({
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'], resourceNames: ['web'] },
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'], resourceNames: ['web'] },
      ],
    });
    expect(await s.json`rolebinding reads`).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' },
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' },
        { kind: 'ServiceAccount', name: 'robot', namespace: s.namespace },
      ],
    });
    expect(await s.json`clusterrole ${s.id}`).toMatchObject({
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    });
    expect(table(await s.ok`get rolebinding reads -o wide`)).toEqual([
      ['NAME', 'ROLE', 'AGE', 'USERS', 'GROUPS', 'SERVICEACCOUNTS'],
      ['reads', 'Role/reader', age, 'jane', 'devs', `${s.namespace}/robot`],
    ]);
  });

  expectation('create deployment fills in the defaults', async (s) => {
    expect(await s.ok`create deployment web --image=registry.example/app:1 --replicas=0 --port=8080`).toBe(
      'deployment.apps/web created\n',
    );
    expect(await s.json`deployment web`).toMatchObject({
      metadata: { generation: 1, labels: { app: 'web' } },
      spec: {
        replicas: 0,
        progressDeadlineSeconds: 600,
        revisionHistoryLimit: 10,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: {
          spec: {
            containers: [
              {
                name: 'app',
                image: 'registry.example/app:1',
                imagePullPolicy: 'IfNotPresent',
                ports: [{ containerPort: 8080, protocol: 'TCP' }],
                terminationMessagePolicy: 'File',
              },
            ],
            dnsPolicy: 'ClusterFirst',
            restartPolicy: 'Always',
            schedulerName: 'default-scheduler',
            securityContext: {},
            terminationGracePeriodSeconds: 30,
          },
        },
      },
    });
  });

  expectation('create service makes every type, with addresses from the range', async (s) => {
    await s.ok`create service clusterip web --tcp=80:8080`;
    await s.ok`create service clusterip headless --clusterip=None --tcp=80`;
    await s.ok`create service nodeport open --tcp=443:8443`;
    await s.ok`create service externalname out --external-name=example.com`;
    await s.ok`create service loadbalancer balanced --tcp=80`;
    expect(await s.json`service web`).toMatchObject({
      spec: {
        type: 'ClusterIP',
        clusterIP: expect.stringMatching(/^10\./) as string,
        clusterIPs: [expect.stringMatching(/^10\./) as string],
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ name: '80-8080', port: 80, protocol: 'TCP', targetPort: 8080 }],
        sessionAffinity: 'None',
      },
      status: { loadBalancer: {} },
    });
    expect(await s.json`service headless`).toMatchObject({ spec: { clusterIP: 'None', clusterIPs: ['None'] } });
    const { nodePort } = (await s.json`service open`)['spec'].ports[0] as { nodePort: number };
    expect(nodePort).toBeGreaterThanOrEqual(30000);
    expect(nodePort).toBeLessThanOrEqual(32767);
    expect(table(await s.ok`get service out balanced`)).toEqual([
      ['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)', 'AGE'],
      ['out', 'ExternalName', '<none>', 'example.com', '<none>', age],
      [
        'balanced',
        'LoadBalancer',
        expect.stringMatching(/^10\./),
        '<pending>',
        expect.stringMatching(/^80:3\d{4}\/TCP$/),
        age,
      ],
    ]);
  });

  expectation('expose makes a service from a deployment', async (s) => {
    await s.ok`create deployment web --image=registry.example/app:1 --replicas=0 --port=8080`;
    expect(await s.ok`expose deployment web --port=80 --target-port=8080`).toBe('service/web exposed\n');
    expect(await s.json`service web`).toMatchObject({
      spec: { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'web' } },
    });
  });

  expectation('create job and cronjob', async (s) => {
    expect(await s.ok`create cronjob nightly --image=registry.example/app:1 --schedule=${'0 3 * * *'} -- run all`).toBe(
      'cronjob.batch/nightly created\n',
    );
    expect(await s.json`cronjob nightly`).toMatchObject({
      spec: {
        schedule: '0 3 * * *',
        concurrencyPolicy: 'Allow',
        failedJobsHistoryLimit: 1,
        successfulJobsHistoryLimit: 3,
        suspend: false,
        jobTemplate: {
          spec: { template: { spec: { containers: [{ command: ['run', 'all'] }], restartPolicy: 'OnFailure' } } },
        },
      },
    });
    const [header, row] = table(await s.ok`get cronjob nightly`);
    expect(header).toEqual(['NAME', 'SCHEDULE', 'TIMEZONE', 'SUSPEND', 'ACTIVE', 'LAST SCHEDULE', 'AGE']);
    expect(row).toEqual(['nightly', '0 3 * * *', '<none>', 'False', '0', '<none>', age]);
    expect(await s.ok`create job once --image=registry.example/app:1`).toBe('job.batch/once created\n');
    expect(await s.ok`create job manual --from=cronjob/nightly`).toBe('job.batch/manual created\n');
    const job = await s.json`job manual`;
    expect(job).toMatchObject({
      metadata: {
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
        ownerReferences: [{ kind: 'CronJob', name: 'nightly', controller: true }],
      },
      spec: { backoffLimit: 6, completions: 1, parallelism: 1, completionMode: 'NonIndexed', suspend: false },
    });
    expect(job['spec'].selector.matchLabels['batch.kubernetes.io/controller-uid']).toBe(job.metadata.uid);
  });

  expectation('create ingress, poddisruptionbudget, priorityclass and quota', async (s) => {
    s.cleanUp(() => s.run`delete priorityclass/p-${s.id} --ignore-not-found`);
    await s.ok`create ingress site --class=nginx --rule=${'example.com/app*=web:80,tls=cert'}`;
    expect(await s.json`ingress site`).toMatchObject({
      spec: {
        ingressClassName: 'nginx',
        rules: [
          {
            host: 'example.com',
            http: {
              paths: [
                { path: '/app', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
              ],
            },
          },
        ],
        tls: [{ hosts: ['example.com'], secretName: 'cert' }],
      },
    });
    expect(table(await s.ok`get ingress site`)).toEqual([
      ['NAME', 'CLASS', 'HOSTS', 'ADDRESS', 'PORTS', 'AGE'],
      // Without an address two columns run together.
      ['site', 'nginx', 'example.com', '80, 443', age],
    ]);
    await s.ok`create poddisruptionbudget keep --selector=app=web --min-available=1`;
    expect(await s.json`pdb keep`).toMatchObject({
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    expect(await s.ok`create priorityclass p-${s.id} --value=1000 --description=test`).toBe(
      `priorityclass.scheduling.k8s.io/p-${s.id} created\n`,
    );
    expect(table(await s.ok`get priorityclass p-${s.id}`)[1]).toEqual([
      `p-${s.id}`,
      '1000',
      'false',
      age,
      'PreemptLowerPriority',
    ]);
    await s.ok`create quota limits --hard=pods=10,requests.cpu=2`;
    expect(await s.json`quota limits`).toMatchObject({ spec: { hard: { pods: '10', 'requests.cpu': '2' } } });
  });

  expectation('create namespace sets phase, label and finalizer', async (s) => {
    const name = `made-${s.id}`;
    s.cleanUp(() => s.run`delete namespace ${name} --wait=false --ignore-not-found`);
    expect(await s.ok`create namespace ${name}`).toBe(`namespace/${name} created\n`);
    expect(await s.json`namespace ${name}`).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    expect(table(await s.ok`get namespace ${name}`)).toEqual([
      ['NAME', 'STATUS', 'AGE'],
      [name, 'Active', age],
    ]);
  });

  expectation('every namespace gets a default service account and the root CA', async (s) => {
    await s.ok`wait --for=create serviceaccount/default configmap/kube-root-ca.crt --timeout=30s`;
    expect(await s.ok`get configmap kube-root-ca.crt -o ${'jsonpath={.data.ca\\.crt}'}`).toContain('BEGIN CERTIFICATE');
  });

  expectation('create token returns a token of the service account with the asked audience and life', async (s) => {
    await s.ok`create serviceaccount robot`;
    const token = (await s.ok`create token robot --audience=example --duration=20m`).trim();
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    expect(claims).toMatchObject({
      aud: ['example'],
      sub: `system:serviceaccount:${s.namespace}:robot`,
      'kubernetes.io': { namespace: s.namespace, serviceaccount: { name: 'robot' } },
    });
    expect((claims['exp'] as number) - (claims['iat'] as number)).toBe(1200);
    expect(await s.fails`create token nobody`).toContain(
      'error: failed to create token: serviceaccounts "nobody" not found',
    );
  });

  expectation('create of what exists is AlreadyExists', async (s) => {
    await s.ok`create configmap one`;
    expect(await s.fails`create configmap one`).toContain('configmaps "one" already exists');
    expect(await s.with(configMap('one')).fails`create -f -`).toBe(
      'Error from server (AlreadyExists): error when creating "STDIN": configmaps "one" already exists\n',
    );
  });

  expectation('generateName makes distinct names', async (s) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } };
    const names = lines(await s.with([body, body, body]).ok`create -f - -o name`);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^configmap\/made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  expectation('--dry-run=server answers with the result and stores nothing', async (s) => {
    const created = JSON.parse(
      await s.with({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'dry' }, spec: { ports: [{ port: 80 }] } })
        .ok`create -f - --dry-run=server -o json`,
    ) as Record<string, unknown>;
    expect(created).toMatchObject({
      metadata: { uid: expect.any(String) as string },
      spec: { type: 'ClusterIP', sessionAffinity: 'None' },
    });
    expect(await s.ok`create configmap dry --dry-run=server`).toBe('configmap/dry created (server dry run)\n');
    expect(await s.ok`get service,configmap dry --ignore-not-found`).toBe('');
  });

  expectation('a List and a multi-document file create everything in them', async (s) => {
    const file = await s.file(
      'many.yaml',
      `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: in-list-1}}
- {apiVersion: v1, kind: Secret, metadata: {name: in-list-2}, stringData: {a: b}}
---
# a comment alone is no document
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: after-list
data:
  yes: "no"
  octal: "017"
`,
    );
    expect(lines(await s.ok`create -f ${file}`)).toEqual([
      'configmap/in-list-1 created',
      'secret/in-list-2 created',
      'configmap/after-list created',
    ]);
    expect(await s.json`secret in-list-2`).toMatchObject({ data: { a: 'Yg==' } });
    expect((await s.json`secret in-list-2`)['stringData']).toBeUndefined();
    expect(await s.json`configmap after-list`).toMatchObject({ data: { true: 'no', octal: '017' } });
  });
}
