import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ClusterRoles, ConfigMaps, DaemonSets, Namespaces, Secrets } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { createAuthority, createServiceAccountKeyPair } from '../../pki/index.ts';
import { readKubeconfig } from '../kubeconfigs.ts';
import { Charts, ClusterConfigs } from './k0s/definitions.ts';
import { decodeJoinToken } from './k0s/token.ts';
import { createProgramLab, type LabPod, type ProgramLab } from './testing/lab.ts';

const image = 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0';
const command = ['/bin/sh', '-c', '/entrypoint.sh'];
const script = `#!/bin/sh
set -eu
mkdir -p /etc/k0s
printf '%s\\n' "$K0SMOTRON_K0S_YAML" > /etc/k0s/k0s.yaml
exec k0s controller --enable-cloud-provider=true --debug=true --config=/etc/k0s/k0s.yaml --enable-dynamic-config
`;

const chart = (name: string, chartname: string, order: number) => ({
  name,
  chartname,
  namespace: 'kube-system',
  order,
  version: '2.31.1',
  values: 'nodeSelector: null\n',
});

function configuration(spec: object = {}): string {
  return stringify({
    apiVersion: 'k0s.k0sproject.io/v1beta1',
    kind: 'ClusterConfig',
    metadata: { name: 'k0s' },
    spec: {
      api: { port: 6443, sans: ['api.example.org'], externalAddress: 'api.example.org' },
      network: { provider: 'calico' },
      extensions: {
        helm: {
          repositories: [{ name: 'openstack', url: 'https://charts.example.org' }],
          charts: [
            chart('openstack-csi', 'openstack/openstack-cinder-csi', 2),
            chart('openstack-ccm', 'openstack/openstack-cloud-controller-manager', 1),
          ],
        },
      },
      ...spec,
    },
  });
}

/** A chart with a DaemonSet and a role. */
function smallChart(name: string): Map<string, Uint8Array> {
  const daemonSet = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {matchLabels: {app: {{ .Chart.Name }}}}
  template:
    metadata: {labels: {app: {{ .Chart.Name }}}}
    spec:
      nodeSelector: {{ toJson .Values.nodeSelector }}
      containers: [{name: main, image: "{{ .Chart.Name }}:{{ .Chart.AppVersion }}"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}}
rules: []
`;
  return new Map(
    Object.entries({
      'Chart.yaml': stringify({ apiVersion: 'v2', name, version: '2.31.1', appVersion: 'v1.31.1' }),
      'values.yaml': 'nodeSelector: {role: plane}\n',
      'templates/all.yaml': daemonSet,
    }).map(([path, text]) => [path, Buffer.from(text)]),
  );
}

let lab: ProgramLab;
beforeEach(() => {
  lab = createProgramLab({ charts: ({ name }) => (name.startsWith('openstack-') ? smallChart(name) : undefined) });
});
afterEach(() => lab.close());

async function controllerPod(name = 'kmc-0'): Promise<LabPod> {
  const authority = await createAuthority({ commonName: 'kubernetes', clock: lab.clock });
  const accounts = await createServiceAccountKeyPair();
  return lab.pod(name, {
    '/entrypoint.sh': script,
    '/certs-init/ca.crt': authority.certificate,
    '/certs-init/ca.key': authority.privateKey,
    '/certs-init/sa.pub': accounts.publicKey,
    '/certs-init/sa.key': accounts.privateKey,
    '/var/lib/k0s/manifests/extra/endpoint.yaml': stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'control-plane-endpoint', namespace: 'kube-system' },
      data: { apiServerHost: 'api.example.org' },
    }),
  });
}

async function start(pod: LabPod, config = configuration()): Promise<void> {
  const init = await pod.exec(
    image,
    '/bin/sh',
    '-c',
    'mkdir -p /var/lib/k0s/pki && cp /certs-init/*.* /var/lib/k0s/pki/',
  );
  expect(init).toEqual({ code: 0, lines: [] });
  pod.start(image, command, { K0SMOTRON_K0S_YAML: config });
}

/** Uses the kubeconfig that k0s creates. */
async function admin(pod: LabPod): Promise<Client> {
  const { code, lines } = await pod.exec(image, 'k0s', 'kubeconfig', 'create', 'admin', '--groups', 'system:masters');
  expect(code).toBe(0);
  const facts = readKubeconfig(lines.join('\n'), { read: () => undefined })!;
  expect(facts.server).toBe('https://api.example.org:6443');
  return lab.dial(pod.name, 6443).api!.connect({ ...facts, serverName: 'api.example.org' });
}

async function untilUp(pod: LabPod): Promise<void> {
  await lab.until(async () => (await pod.exec(image, 'k0s', 'status')).code === 0);
}

describe('k0s in a Pod', () => {
  it('comes up from its entry script and reports it', async () => {
    const pod = await controllerPod();
    expect(await pod.exec(image, 'k0s', 'status')).toMatchObject({ code: 1 });
    await start(pod);
    await untilUp(pod);
    const { lines } = await pod.exec(image, 'k0s', 'status');
    expect(lines).toContain('Version: v1.32.6+k0s.0');
    expect((await pod.exec(image, 'k0s', 'version')).lines).toEqual(['v1.32.6+k0s.0']);
    const { uid } = (await (await admin(pod)).get(Namespaces, { name: 'kube-system' })).metadata;
    expect(uid).toBeDefined();
  });

  it('applies its stacks, mounted manifests, and charts in their order', async () => {
    const pod = await controllerPod();
    await start(pod);
    await untilUp(pod);
    const client = await admin(pod);
    const chartNames = async (): Promise<string[]> => {
      const { items } = await client.list(Charts, { namespace: 'kube-system' });
      return items.filter((item) => item['status'] !== undefined).map(({ metadata }) => metadata.name!);
    };
    await lab.until(async () => (await chartNames()).length === 2);
    const versionOf = async (name: string): Promise<number> => {
      const { metadata } = await client.get(Charts, { namespace: 'kube-system', name });
      return Number(metadata.resourceVersion);
    };
    expect(await versionOf('k0s-addon-chart-openstack-ccm')).toBeLessThan(
      await versionOf('k0s-addon-chart-openstack-csi'),
    );
    const { items } = await client.list(DaemonSets, { namespace: 'kube-system' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'calico-node',
      'konnectivity-agent',
      'kube-proxy',
      'openstack-ccm',
      'openstack-csi',
    ]);
    const manifest = await client.get(ConfigMaps, { namespace: 'kube-system', name: 'control-plane-endpoint' });
    expect(manifest.data).toEqual({ apiServerHost: 'api.example.org' });
    const ccm = items.find(({ metadata }) => metadata.name?.startsWith('openstack-ccm'));
    expect(ccm?.spec.template?.spec?.nodeSelector).toBeUndefined();
    const writes = { fieldManager: 'test' };
    const key = { namespace: 'kube-system', name: 'k0s' };
    const without = { spec: { extensions: { helm: { charts: [chart('other', 'unknown/chart', 1)] } } } };
    await client.patch(ClusterConfigs, key, 'merge', without, writes);
    await lab.until(async () => (await chartNames()).join() === 'k0s-addon-chart-other');
    const left = await client.list(DaemonSets, { namespace: 'kube-system' });
    expect(left.items.filter(({ metadata }) => metadata.name?.startsWith('openstack'))).toEqual([]);
    const roles = await client.list(ClusterRoles);
    expect(roles.items.filter(({ metadata }) => metadata.name?.startsWith('openstack'))).toEqual([]);
    const other = await client.get(Charts, { namespace: 'kube-system', name: 'k0s-addon-chart-other' });
    expect(other['status']).toMatchObject({ error: "can't locate chart `unknown/chart`: repo unknown not found" });
  });

  it('makes, lists and revokes join tokens', async () => {
    const pod = await controllerPod();
    await start(pod);
    await untilUp(pod);
    const made = await pod.exec(image, 'k0s', 'token', 'create', '--role=worker', '--expiry=1h');
    const facts = readKubeconfig(decodeJoinToken(made.lines[0]!), { read: () => undefined })!;
    expect(facts).toMatchObject({ server: 'https://api.example.org:6443', user: 'kubelet-bootstrap' });
    const [id] = facts.token!.split('.');
    expect((await pod.exec(image, 'k0s', 'token', 'list')).lines.at(-1)).toContain(`${id}\tworker`);
    expect(await pod.exec(image, 'k0s', 'token', 'invalidate', id!)).toMatchObject({ code: 0 });
    const { items } = await (await admin(pod)).list(Secrets, { namespace: 'kube-system' });
    expect(items.filter(({ metadata }) => metadata.name?.startsWith('bootstrap-token-'))).toEqual([]);
  });

  it.each([
    ['what is no YAML', 'a: [b', 'Error: failed to load config: error converting YAML to JSON'],
    ['another kind of document', 'apiVersion: v1\nkind: Pod\n', 'unsupported apiVersion: "v1"'],
    ['an unknown network', configuration({ network: { provider: 'pigeons' } }), 'Unsupported value: "pigeons"'],
    ['an unknown storage', configuration({ storage: { type: 'paper' } }), 'Unsupported value: "paper"'],
  ])('refuses %s', async (_what, config, words) => {
    const pod = await controllerPod();
    const run = pod.start(image, command, { K0SMOTRON_K0S_YAML: config });
    expect(await run.exited).toBe(1);
    expect(pod.lines.join('\n')).toContain(words);
  });

  it('keeps its objects in a database', async () => {
    const database = lab.pod('db');
    database.start('docker.io/library/postgres:16', []);
    const pod = await controllerPod();
    const source = 'postgres://user:secret@db:5432/tenant?sslmode=disable';
    await start(pod, configuration({ storage: { type: 'kine', kine: { dataSource: source } } }));
    await untilUp(pod);
    expect((await admin(pod)).get(Namespaces, { name: 'default' })).toBeDefined();
  });
});
