import { stringify } from 'yaml';
import type { Pod } from '../../../../api/index.ts';
import type { Disk } from '../../types.ts';
import { layoutOf, staticPodPath } from '../kubelet/layout.ts';
import type { Argument, ClusterConfiguration } from './documents.ts';
import { type ControlPlaneComponent, controlPlaneComponents } from './names.ts';
import { etcdVersion, type KubernetesVersion } from './version.ts';

export interface ManifestFacts {
  readonly nodeName: string;
  readonly advertiseAddress: string;
  readonly bindPort: number;
  readonly cluster: ClusterConfiguration;
  readonly version: KubernetesVersion;
  /** components to leave out */
  readonly without?: readonly ControlPlaneComponent[];
}

/** Writes the static Pods of a control plane, which the kubelet then runs. */
export function writeManifests(disk: Disk, facts: ManifestFacts): ControlPlaneComponent[] {
  const components = controlPlaneComponents.filter(
    (component) =>
      (component !== 'etcd' || !facts.cluster.isExternalEtcd) && facts.without?.includes(component) !== true,
  );
  for (const component of components) {
    disk.write(
      staticPodPath(layoutOf(disk), component),
      stringify(manifestOf(component, facts), { lineWidth: 0 }),
      0o600,
    );
  }
  return components;
}

function manifestOf(component: ControlPlaneComponent, facts: ManifestFacts): Pod {
  const { cluster, version } = facts;
  const images: Readonly<Record<ControlPlaneComponent, string>> = {
    etcd: `${cluster.imageRepository}/etcd:${cluster.etcdImageTag ?? `${etcdVersion(version)}-0`}`,
    'kube-apiserver': `${cluster.imageRepository}/kube-apiserver:${version.text}`,
    'kube-controller-manager': `${cluster.imageRepository}/kube-controller-manager:${version.text}`,
    'kube-scheduler': `${cluster.imageRepository}/kube-scheduler:${version.text}`,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: component,
      namespace: 'kube-system',
      labels: { component, tier: 'control-plane' },
      ...annotationsOf(component, facts),
    },
    spec: {
      containers: [
        {
          name: component,
          image: images[component],
          imagePullPolicy: 'IfNotPresent',
          command: [component, ...commandLine(component, facts)],
        },
      ],
      hostNetwork: true,
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    },
  };
}

function annotationsOf(
  component: ControlPlaneComponent,
  { advertiseAddress, bindPort }: ManifestFacts,
): { annotations?: Record<string, string> } {
  if (component === 'etcd') {
    const url = `https://${bracketed(advertiseAddress)}:2379`;
    return { annotations: { 'kubeadm.kubernetes.io/etcd.advertise-client-urls': url } };
  }
  if (component === 'kube-apiserver') {
    const endpoint = `${bracketed(advertiseAddress)}:${bindPort}`;
    return { annotations: { 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint': endpoint } };
  }
  return {};
}

function commandLine(component: ControlPlaneComponent, facts: ManifestFacts): string[] {
  const { cluster, nodeName, advertiseAddress, bindPort } = facts;
  const pki = cluster.certificatesDir;
  const address = bracketed(advertiseAddress);
  const podArgs: Argument[] =
    cluster.podSubnet === undefined
      ? []
      : [
          ['allocate-node-cidrs', 'true'],
          ['cluster-cidr', cluster.podSubnet],
        ];
  const own: Readonly<Record<ControlPlaneComponent, readonly Argument[]>> = {
    etcd: [
      ['advertise-client-urls', `https://${address}:2379`],
      ['cert-file', `${pki}/etcd/server.crt`],
      ['client-cert-auth', 'true'],
      ['data-dir', '/var/lib/etcd'],
      ['initial-advertise-peer-urls', `https://${address}:2380`],
      ['key-file', `${pki}/etcd/server.key`],
      ['listen-client-urls', `https://127.0.0.1:2379,https://${address}:2379`],
      ['listen-peer-urls', `https://${address}:2380`],
      ['name', nodeName],
      ['trusted-ca-file', `${pki}/etcd/ca.crt`],
    ],
    'kube-apiserver': [
      ['advertise-address', advertiseAddress],
      ['allow-privileged', 'true'],
      ['authorization-mode', 'Node,RBAC'],
      ['client-ca-file', `${pki}/ca.crt`],
      ['enable-admission-plugins', 'NodeRestriction'],
      ['enable-bootstrap-token-auth', 'true'],
      ['etcd-servers', 'https://127.0.0.1:2379'],
      ['secure-port', String(bindPort)],
      ['service-account-issuer', `https://kubernetes.default.svc.${cluster.dnsDomain}`],
      ['service-account-signing-key-file', `${pki}/sa.key`],
      ['service-cluster-ip-range', cluster.serviceSubnet],
      ['tls-cert-file', `${pki}/apiserver.crt`],
      ['tls-private-key-file', `${pki}/apiserver.key`],
    ],
    'kube-controller-manager': [
      ...podArgs,
      ['cluster-name', cluster.clusterName],
      ['cluster-signing-cert-file', `${pki}/ca.crt`],
      ['cluster-signing-key-file', `${pki}/ca.key`],
      ['controllers', '*,bootstrapsigner,tokencleaner'],
      ['leader-elect', 'true'],
      ['root-ca-file', `${pki}/ca.crt`],
      ['service-cluster-ip-range', cluster.serviceSubnet],
      ['use-service-account-credentials', 'true'],
    ],
    'kube-scheduler': [['leader-elect', 'true']],
  };
  const extra: Readonly<Record<ControlPlaneComponent, readonly Argument[]>> = {
    etcd: cluster.etcdArgs,
    'kube-apiserver': cluster.apiServerArgs,
    'kube-controller-manager': cluster.controllerManagerArgs,
    'kube-scheduler': cluster.schedulerArgs,
  };
  const replaced = new Set(extra[component].map(([name]) => name));
  const all = [...own[component].filter(([name]) => !replaced.has(name)), ...extra[component]];
  return all.map(([name, value]) => `--${name}=${value}`).sort();
}

/** Returns the value of a flag in the command of a static Pod. */
export function flagOf(pod: Pod, name: string): string | undefined {
  const prefix = `--${name}=`;
  const flag = pod.spec.containers[0]?.command?.find((word) => word.startsWith(prefix));
  return flag?.slice(prefix.length);
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
