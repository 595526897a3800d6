import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Cluster, KubeadmConfigSpec, KubeadmConfigTemplate, KubeadmControlPlane } from '../../../../api/index.ts';
import type { UnstructuredObject } from '../../../../machinery/index.ts';
import {
  type CertificatePlan,
  type ClusterCertificate,
  type ClusterCertificates,
  controlPlaneCertificatePlans,
  workerCertificatePlans,
} from '../../../shared/index.ts';
import { type RenderInput, renderControlPlaneJoin, renderInit, renderWorkerJoin } from '../render.ts';
import type { RenderedUserData } from '../user-data.ts';
import { everything } from './everything.ts';

// Typical manifests in stored form, and one with every field.

export interface GoldenCase {
  name: string;
  render(): RenderedUserData;
}

type Role = 'init' | 'control-plane' | 'worker';

const renderers = { init: renderInit, 'control-plane': renderControlPlaneJoin, worker: renderWorkerJoin } as const;

/** Placeholder bodies: rendering does not parse certificates. */
function certificates(plans: readonly CertificatePlan[]): ClusterCertificates {
  const entry = (plan: CertificatePlan): ClusterCertificate => ({
    plan,
    certificate: `certificate of ${plan.purpose}\n`,
    ...(plan.keyFile !== undefined && { privateKey: `key of ${plan.purpose}\n` }),
    secret: { apiVersion: 'v1', kind: 'Secret', metadata: {} },
  });
  return new Map(plans.map((plan) => [plan.purpose, entry(plan)]));
}

/** Adds the discovery that the controller fills in. */
function withDiscovery(spec: KubeadmConfigSpec): KubeadmConfigSpec {
  if (spec.joinConfiguration?.discovery) return spec;
  const bootstrapToken = {
    token: 'abcdef.0123456789abcdef',
    apiServerEndpoint: '192.0.2.10:6443',
    caCertHashes: [`sha256:${'0123456789abcdef'.repeat(4)}`],
  };
  return { ...spec, joinConfiguration: { ...spec.joinConfiguration, discovery: { bootstrapToken } } };
}

function input(role: Role, cluster: Cluster, kubernetesVersion: string, given: KubeadmConfigSpec): RenderInput {
  const spec = role === 'init' ? given : withDiscovery(given);
  const plans =
    role === 'worker'
      ? workerCertificatePlans(spec.joinConfiguration?.caCertPath)
      : controlPlaneCertificatePlans(spec.clusterConfiguration);
  return {
    cluster,
    kubernetesVersion,
    spec,
    certificates: certificates(plans),
    files: (spec.files ?? []).map(({ contentFrom, ...file }) =>
      contentFrom ? { ...file, content: `from Secret ${contentFrom.secret.name}\n` } : file,
    ),
    users: spec.users,
  };
}

function cases(
  name: string,
  roles: readonly Role[],
  cluster: Cluster,
  version: string,
  spec: KubeadmConfigSpec,
): GoldenCase[] {
  return roles.map((role) => ({
    name: `${name}-${role}`,
    render: () => renderers[role](input(role, cluster, version, spec)),
  }));
}

/** Returns the objects of a golden manifest of the API by kind. */
function manifest(name: string): { of<T>(kind: string): T } {
  const url = new URL(`../../../../api/testdata/${name}.golden.yaml`, import.meta.url);
  const objects = parseAllDocuments(readFileSync(url, 'utf8')).map((document) => document.toJS() as UnstructuredObject);
  return { of: <T>(kind: string): T => objects.find((object) => object.kind === kind) as T };
}

function fromManifest(name: string, workerVersion: string): GoldenCase[] {
  const { of } = manifest(name);
  const written = of<Cluster>('Cluster');
  const cluster: Cluster = {
    ...written,
    spec: { ...written.spec, controlPlaneEndpoint: { host: '192.0.2.10', port: 6443 } },
  };
  const controlPlane = of<KubeadmControlPlane | undefined>('KubeadmControlPlane');
  const worker = of<KubeadmConfigTemplate>('KubeadmConfigTemplate').spec.template.spec ?? {};
  return [
    ...(controlPlane
      ? cases(
          name,
          ['init', 'control-plane'],
          cluster,
          controlPlane.spec.version,
          controlPlane.spec.kubeadmConfigSpec ?? {},
        )
      : []),
    ...cases(name, ['worker'], cluster, workerVersion, worker),
  ];
}

const fullCluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'full', namespace: 'default' },
  spec: {
    clusterNetwork: {
      apiServerPort: 7443,
      serviceDomain: 'full.example',
      services: { cidrBlocks: ['10.96.0.0/12', 'fd00:96::/112'] },
      pods: { cidrBlocks: ['10.244.0.0/16', 'fd00:244::/56'] },
    },
    controlPlaneEndpoint: { host: 'fd00::10', port: 6443 },
  },
};

const bareCluster: Cluster = { ...fullCluster, metadata: { name: 'bare', namespace: 'default' }, spec: {} };
const all: readonly Role[] = ['init', 'control-plane', 'worker'];

export const goldenCases: readonly GoldenCase[] = [
  ...fromManifest('kubeadm-v1alpha3', 'v1.19.1'),
  ...fromManifest('kubeadm-v1beta1', 'v1.32.4'),
  ...fromManifest('hosted-kamaji', 'v1.28.10'),
  ...['v1.21.14', 'v1.30.4', 'v1.34.4'].flatMap((version) =>
    cases(`everything-${version}`, all, fullCluster, version, everything),
  ),
  ...cases('external-etcd-v1.34.4', ['init', 'control-plane'], fullCluster, 'v1.34.4', {
    clusterConfiguration: {
      etcd: {
        external: {
          endpoints: ['https://192.0.2.20:2379'],
          caFile: '/etc/etcd/ca.crt',
          certFile: '/etc/etcd/client.crt',
          keyFile: '/etc/etcd/client.key',
        },
      },
    },
  }),
  ...cases('nothing-v1.34.4', all, bareCluster, 'v1.34.4', {}),
  ...cases('file-discovery-v1.34.4', ['worker'], fullCluster, 'v1.34.4', {
    joinConfiguration: {
      discovery: {
        file: {
          kubeConfigPath: '/etc/kubernetes/discovery.conf',
          kubeConfig: { user: { exec: { command: '/usr/bin/issue-token', args: ['--audience', 'nodes'] } } },
        },
        tlsBootstrapToken: 'abcdef.0123456789abcdef',
      },
    },
  }),
  ...cases('ignition-v1.34.4', all, fullCluster, 'v1.34.4', {
    ...everything,
    format: 'ignition',
    bootCommands: [],
    files: [
      { path: '/etc/motd', content: 'first line\n', permissions: '0644', owner: 'root:root' },
      { path: '/etc/motd', content: 'second line\n', append: true },
      { path: '/etc/blob', content: 'AAECAwQ=', encoding: 'base64' },
    ],
    users: [
      { name: 'ops', groups: 'wheel, docker', sudo: 'ALL=(ALL) NOPASSWD:ALL', lockPassword: false, passwd: '$6$x$y' },
    ],
    diskSetup: {
      partitions: [{ device: '/dev/vdb', layout: true, overwrite: true, tableType: 'gpt' }],
      filesystems: [{ device: '/dev/vdb1', filesystem: 'ext4', label: 'etcd-data', overwrite: false }],
    },
    mounts: [['etcd-data', '/var/lib/etcd-data', 'noatime']],
    ignition: {
      containerLinuxConfig: {
        additionalConfig: [
          'systemd:',
          '  units:',
          '    - name: kubeadm.service',
          '      dropins:',
          '        - name: 10-wait.conf',
          '          contents: |',
          '            [Unit]',
          '            After=containerd.service',
          'storage:',
          '  files:',
          '    - path: /opt/motd',
          '      mode: 0644',
          '      contents: {inline: hello}',
          'networkd:',
          '  units:',
          '    - name: 00-eth.network',
          '      contents: |',
          '        [Match]',
          '        Name=eth*',
          '',
        ].join('\n'),
        strict: true,
      },
    },
  }),
];
