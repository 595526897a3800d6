import { stringify } from 'yaml';
import { addressInCidr, cidrFamily, type JsonObject, type KubeObject } from '../../../machinery/index.ts';
import type { K0sConfig } from './config.ts';
import { hostOf } from './pki.ts';
import { configMap, daemonSet, deployment, serviceAccount } from './workloads.ts';

/** Objects that k0s creates in every cluster, by stack name. */
export type Stacks = ReadonlyMap<string, readonly KubeObject[]>;

const rbac = 'rbac.authorization.k8s.io';

/** Builds the stacks of a configuration. `version` is that of k0s, such as v1.32.6+k0s.0. */
export function k0sStacks(config: K0sConfig, version: string, disabled: ReadonlySet<string>): Stacks {
  const stacks: [string, readonly KubeObject[]][] = [
    ['bootstraprbac', bootstrapRbac()],
    ['worker-config', workerConfig(config, version)],
    ['coredns', coreDns(config)],
    ['kube-proxy', config.network.hasKubeProxy ? kubeProxy(version) : []],
    ['network-provider', networkProvider(config)],
    ['metrics-server', [deployment({ name: 'metrics-server', image: 'quay.io/k0sproject/metrics-server:v0.7.2-0' })]],
    ['konnectivity-server', konnectivity(config)],
  ];
  return new Map(stacks.filter(([name]) => !disabled.has(name)));
}

function binding(name: string, role: string, group: string): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: group }],
  } as KubeObject;
}

/** RBAC rules that let workers with a bootstrap token join as nodes. */
function bootstrapRbac(): KubeObject[] {
  const csrs = 'system:certificates.k8s.io:certificatesigningrequests';
  return [
    binding('kubelet-bootstrap', 'system:node-bootstrapper', 'system:bootstrappers'),
    binding('node-autoapprove-bootstrap', `${csrs}:nodeclient`, 'system:bootstrappers'),
    binding('node-autoapprove-certificate-rotation', `${csrs}:selfnodeclient`, 'system:nodes'),
  ];
}

/** Name of the ConfigMap that a worker of this version reads first. */
export function workerConfigName(version: string, profile = 'default'): string {
  const [, minor = '1.34'] = /^v?(\d+\.\d+)/.exec(version) ?? [];
  return `worker-config-${profile}-${minor}`;
}

function workerConfig({ network, konnectivityPort }: K0sConfig, version: string): KubeObject[] {
  const name = workerConfigName(version);
  const role = `system:bootstrappers:${name}`;
  return [
    configMap(name, {
      apiServerAddresses: '[]',
      konnectivity: stringify({ agentPort: konnectivityPort, enabled: true }),
      kubeletConfiguration: stringify({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        clusterDNS: dnsAddress(network.serviceCidr),
        clusterDomain: network.clusterDomain,
        rotateCertificates: true,
        serverTLSBootstrap: true,
      }),
    }),
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: role, namespace: 'kube-system' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'list', 'watch'] }],
    } as KubeObject,
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: role, namespace: 'kube-system' },
      roleRef: { apiGroup: rbac, kind: 'Role', name: role },
      subjects: ['system:bootstrappers', 'system:nodes'].map((group) => ({
        apiGroup: rbac,
        kind: 'Group',
        name: group,
      })),
    } as KubeObject,
  ];
}

function dnsAddress(serviceCidr: string): string[] {
  const address = addressInCidr(serviceCidr, 10);
  return address !== undefined && cidrFamily(serviceCidr) === 'IPv4' ? [address] : [];
}

function coreDns({ network }: K0sConfig): KubeObject[] {
  const labels = { 'k8s-app': 'kube-dns' };
  const [clusterIP] = dnsAddress(network.serviceCidr);
  const tolerations: JsonObject[] = [
    { key: 'CriticalAddonsOnly', operator: 'Exists' },
    { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
  ];
  return [
    serviceAccount('coredns'),
    configMap('coredns', {
      Corefile: `.:53 {\n    errors\n    health\n    ready\n    kubernetes ${network.clusterDomain} in-addr.arpa ip6.arpa\n    forward . /etc/resolv.conf\n    cache 30\n    reload\n}\n`,
    }),
    deployment({
      name: 'coredns',
      image: 'quay.io/k0sproject/coredns:1.12.2',
      labels,
      pod: { serviceAccountName: 'coredns', dnsPolicy: 'Default', tolerations },
    }),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace: 'kube-system', labels },
      spec: {
        selector: labels,
        ...(clusterIP !== undefined && { clusterIP }),
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
          { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
          { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
        ],
      },
    } as KubeObject,
  ];
}

function kubeProxy(version: string): KubeObject[] {
  const tag = version.replace(/\+.*$/, '');
  return [
    serviceAccount('kube-proxy'),
    daemonSet({
      name: 'kube-proxy',
      image: `quay.io/k0sproject/kube-proxy:${tag}`,
      pod: { serviceAccountName: 'kube-proxy' },
    }),
  ];
}

function networkProvider({ network }: K0sConfig): KubeObject[] {
  switch (network.provider) {
    case 'calico':
      return [
        serviceAccount('calico-node'),
        daemonSet({
          name: 'calico-node',
          image: 'quay.io/k0sproject/calico-node:v3.29.4-0',
          pod: { serviceAccountName: 'calico-node' },
        }),
        deployment({
          name: 'calico-kube-controllers',
          image: 'quay.io/k0sproject/calico-kube-controllers:v3.29.4-0',
        }),
      ];
    case 'kuberouter':
      return [
        serviceAccount('kube-router'),
        daemonSet({
          name: 'kube-router',
          image: 'quay.io/k0sproject/kube-router:v2.5.0-iptables1.8.11-0',
          pod: { serviceAccountName: 'kube-router' },
        }),
      ];
    default:
      return [];
  }
}

function konnectivity({ api, konnectivityPort }: K0sConfig): KubeObject[] {
  const host = api.externalAddress === undefined ? '' : hostOf(api.externalAddress);
  return [
    serviceAccount('konnectivity-agent'),
    daemonSet({
      name: 'konnectivity-agent',
      image: 'quay.io/k0sproject/apiserver-network-proxy-agent:v0.31.4',
      pod: {
        serviceAccountName: 'konnectivity-agent',
        containers: [
          {
            name: 'konnectivity-agent',
            image: 'quay.io/k0sproject/apiserver-network-proxy-agent:v0.31.4',
            args: [`--proxy-server-host=${host}`, `--proxy-server-port=${konnectivityPort}`],
          },
        ],
      },
    }),
  ];
}
