import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findOrBuildGoProgram } from '../go-build.ts';
import { helmProgram } from '../helm/helm-program.ts';
import type { Client, Scenario, Stage } from './client.ts';
import { expectThat, refuse, succeed } from './run.ts';

/** A typical chart: a workload, a hook, a test, and values. */
const chart: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 0.1.0\nappVersion: "1.27"\n',
  'values.yaml': 'replicas: 1\ntag: "1.27"\n',
  'crds/offers.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: offers.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: offers, singular: offer, kind: Offer}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {price: {type: integer}}}}}}
`,
  'templates/shop.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
        - {name: web, image: "nginx:{{ .Values.tag }}", ports: [{containerPort: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80}]
---
apiVersion: shop.example.com/v1
kind: Offer
metadata: {name: {{ .Release.Name }}}
spec: {price: {{ .Values.replicas }}}
`,
  'templates/before.yaml': `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-before
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox, command: [sh, -c, "echo ready"]}]
`,
  'templates/tests/connection.yaml': `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-connection
  annotations: {helm.sh/hook: test}
spec:
  restartPolicy: Never
  containers: [{name: wget, image: busybox, command: [wget], args: ["{{ .Release.Name }}:80"]}]
`,
};

export const helm: Client = {
  name: 'helm',
  needs: 'pods',
  async prepare(say) {
    const program = await findOrBuildGoProgram(helmProgram, process.env, say);
    return (stage) => scenarios(program, stage);
  },
};

function scenarios(program: string, { capstan, directory, kubectl }: Stage): Scenario[] {
  const path = join(directory, 'shop');
  const env = {
    KUBECONFIG: capstan.kubeconfig,
    HOME: directory,
    HELM_CACHE_HOME: join(directory, 'cache'),
    HELM_CONFIG_HOME: join(directory, 'config'),
    HELM_DATA_HOME: join(directory, 'data'),
  };
  const run = (...args: string[]): Promise<string> => succeed(program, ['--namespace', 'shop', ...args], env);
  const deployment = (field: string): Promise<string> =>
    kubectl('-n', 'shop', 'get', 'deployment', 'first', '-o', `jsonpath={${field}}`);
  const image = '.spec.template.spec.containers[0].image';
  return [
    {
      name: 'install of a chart with definitions, a hook and a namespace of its own, and wait for it',
      async run() {
        for (const [name, content] of Object.entries(chart)) {
          const file = join(path, name);
          await mkdir(join(file, '..'), { recursive: true });
          await writeFile(file, content);
        }
        const told = await run('install', 'first', path, '--create-namespace', '--wait', '--timeout', '2m');
        expectThat(told.includes('STATUS: deployed'), 'STATUS: deployed', told);
        const ready = await deployment('.status.readyReplicas');
        expectThat(ready === '1', 'one ready replica', ready);
      },
    },
    {
      name: 'test of the release, with the log of its Pod',
      async run() {
        const told = await run('test', 'first', '--logs', '--timeout', '2m');
        expectThat(/Phase:\s+Succeeded/.test(told), 'a test that succeeded', told);
        expectThat(told.includes('POD LOGS: first-connection'), 'the log of the Pod', told);
      },
    },
    {
      name: 'upgrade with other values, and wait for it',
      async run() {
        await run('upgrade', 'first', path, '--set', 'replicas=2,tag=1.28', '--wait', '--timeout', '2m');
        const found = await deployment(image);
        expectThat(found === 'nginx:1.28', 'nginx:1.28', found);
        const ready = await deployment('.status.readyReplicas');
        expectThat(ready === '2', 'two ready replicas', ready);
      },
    },
    {
      name: 'upgrade that only asks what would be done, on the server',
      async run() {
        const told = await run('upgrade', 'first', path, '--set', 'tag=1.29', '--dry-run=server');
        expectThat(told.includes('nginx:1.29'), 'the manifest with nginx:1.29', told);
        const found = await deployment(image);
        expectThat(found === 'nginx:1.28', 'nginx:1.28 still', found);
      },
    },
    {
      name: 'upgrade that the API refuses, and the release continues',
      async run() {
        const told = await refuse(
          program,
          ['--namespace', 'shop', 'upgrade', 'first', path, '--set', 'replicas=-1'],
          env,
        );
        expectThat(told.includes('must be greater than or equal to 0'), 'the words of the API', told);
        const found = await deployment(image);
        expectThat(found === 'nginx:1.28', 'nginx:1.28 still', found);
      },
    },
    {
      name: 'rollback to the first revision, and the history of all',
      async run() {
        await run('rollback', 'first', '1', '--wait', '--timeout', '2m');
        const found = await deployment(image);
        expectThat(found === 'nginx:1.27', 'nginx:1.27', found);
        const history = JSON.parse(await run('history', 'first', '-o', 'json')) as { status: string }[];
        expectThat(history.at(-1)?.status === 'deployed', 'a deployed last revision', JSON.stringify(history));
        expectThat(history.length === 4, 'four revisions', JSON.stringify(history));
      },
    },
    {
      name: 'list, status and manifest of the release',
      async run() {
        const releases = JSON.parse(await run('list', '-o', 'json')) as { name: string; status: string }[];
        expectThat(releases.length === 1 && releases[0]?.status === 'deployed', 'one', JSON.stringify(releases));
        const status = await run('status', 'first', '--show-resources');
        expectThat(/deployment\.apps|\/Deployment/i.test(status), 'its Deployment', status);
        const manifest = await run('get', 'manifest', 'first');
        expectThat(manifest.includes('nginx:1.27'), 'nginx:1.27', manifest);
      },
    },
    {
      name: 'uninstall, and nothing stays but the definitions',
      async run() {
        await run('uninstall', 'first', '--wait', '--timeout', '2m');
        const left = await kubectl('-n', 'shop', 'get', 'deployments,services,offers,secrets', '-o', 'name');
        expectThat(left === '', 'nothing', left);
        await kubectl('get', 'crd', 'offers.shop.example.com');
      },
    },
  ];
}
