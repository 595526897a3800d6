import { stringify } from 'yaml';
import type { ConfigMap } from '../../../../api/index.ts';
import { clone, formatTime, type JsonObject, type KubeObject } from '../../../../machinery/index.ts';
import { renderKubeconfig } from '../../../../simkube/index.ts';
import type { BootstrapToken, ClusterConfiguration } from './documents.ts';
import { bootstrapTokenGroup } from './names.ts';
import type { KubernetesVersion } from './version.ts';

// Objects that kubeadm stores in the cluster for joins and upgrades, with their upstream names.

const rbac = 'rbac.authorization.k8s.io';
type Subject = readonly ['Group' | 'User', string];

function role(namespace: string, name: string, configMap: string): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: { name, namespace },
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap], verbs: ['get'] }],
  } as KubeObject;
}

function binding(
  name: string,
  namespace: string | undefined,
  roleRef: readonly ['Role' | 'ClusterRole', string],
  subjects: readonly Subject[],
): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: rbac, kind: roleRef[0], name: roleRef[1] },
    subjects: subjects.map(([kind, subject]) => ({ apiGroup: rbac, kind, name: subject })),
  } as KubeObject;
}

function configMap(namespace: string, name: string, data: Record<string, string>): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

const joining: Subject = ['Group', bootstrapTokenGroup];
const nodes: Subject = ['Group', 'system:nodes'];

/** Builds a defaulted ClusterConfiguration in the API version that this kubeadm writes. */
export function clusterConfigurationText(cluster: ClusterConfiguration, version: KubernetesVersion): string {
  const apiVersion = `kubeadm.k8s.io/${version.minor >= 31 ? 'v1beta4' : 'v1beta3'}`;
  const given = clone(cluster.document) as JsonObject;
  const wasList = given['apiVersion'] === 'kubeadm.k8s.io/v1beta4';
  const document: JsonObject = {
    apiServer: {},
    controllerManager: {},
    dns: {},
    etcd: { local: { dataDir: '/var/lib/etcd' } },
    proxy: {},
    scheduler: {},
    ...given,
    apiVersion,
    certificatesDir: cluster.certificatesDir,
    clusterName: cluster.clusterName,
    imageRepository: cluster.imageRepository,
    kind: 'ClusterConfiguration',
    kubernetesVersion: version.text,
    networking: {
      dnsDomain: cluster.dnsDomain,
      ...(cluster.podSubnet !== undefined && { podSubnet: cluster.podSubnet }),
      serviceSubnet: cluster.serviceSubnet,
    },
  };
  if (!wasList && version.minor >= 31) {
    const convert = (holder: string, list: readonly (readonly [string, string])[]): void => {
      const section = document[holder];
      if (list.length === 0 || typeof section !== 'object' || section === null || Array.isArray(section)) return;
      document[holder] = { ...section, extraArgs: list.map(([name, value]) => ({ name, value })) };
    };
    convert('apiServer', cluster.apiServerArgs);
    convert('controllerManager', cluster.controllerManagerArgs);
    convert('scheduler', cluster.schedulerArgs);
  }
  return stringify(document, { lineWidth: 0, sortMapEntries: true });
}

/** Builds kubeadm-config and its RBAC. */
export function uploadedClusterConfiguration(cluster: ClusterConfiguration, version: KubernetesVersion): KubeObject[] {
  const name = 'kubeadm:nodes-kubeadm-config';
  return [
    configMap('kube-system', 'kubeadm-config', { ClusterConfiguration: clusterConfigurationText(cluster, version) }),
    role('kube-system', name, 'kubeadm-config'),
    binding(name, 'kube-system', ['Role', name], [joining, nodes]),
  ];
}

/** Builds kubelet-config and its RBAC. */
export function uploadedKubeletConfiguration(text: string): KubeObject[] {
  const name = 'kubeadm:kubelet-config';
  return [
    configMap('kube-system', 'kubelet-config', { kubelet: text }),
    role('kube-system', name, 'kubelet-config'),
    binding(name, 'kube-system', ['Role', name], [nodes, joining]),
  ];
}

export function adminBinding(): KubeObject {
  return binding(
    'kubeadm:cluster-admins',
    undefined,
    ['ClusterRole', 'cluster-admin'],
    [['Group', 'kubeadm:cluster-admins']],
  );
}

/** Builds the RBAC that lets machines with a bootstrap token join. */
export function bootstrapRules(): KubeObject[] {
  const nodeClient = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient';
  const selfNodeClient = 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient';
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'kubeadm:get-nodes' },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    } as KubeObject,
    binding('kubeadm:get-nodes', undefined, ['ClusterRole', 'kubeadm:get-nodes'], [joining]),
    binding('kubeadm:kubelet-bootstrap', undefined, ['ClusterRole', 'system:node-bootstrapper'], [joining]),
    binding('kubeadm:node-autoapprove-bootstrap', undefined, ['ClusterRole', nodeClient], [joining]),
    binding('kubeadm:node-autoapprove-certificate-rotation', undefined, ['ClusterRole', selfNodeClient], [nodes]),
  ];
}

/** Builds cluster-info with the API server and its CA, readable by everyone. */
export function clusterInfo(server: string, certificateAuthority: string): KubeObject[] {
  const name = 'kubeadm:bootstrap-signer-clusterinfo';
  const kubeconfig = renderKubeconfig({ server, certificateAuthority, user: '' }, '')
    .replace(/contexts:[\s\S]*?kind: Config/, 'contexts: null\ncurrent-context: ""\nkind: Config')
    .replace(/users:[\s\S]*$/, 'users: null\n');
  return [
    configMap('kube-public', 'cluster-info', { kubeconfig }),
    role('kube-public', name, 'cluster-info'),
    binding(name, 'kube-public', ['Role', name], [['User', 'system:anonymous']]),
  ];
}

export function tokenSecret(token: BootstrapToken, now: number): KubeObject {
  const [id = '', secret = ''] = token.token.split('.');
  const usages = Object.fromEntries(token.usages.map((usage) => [`usage-bootstrap-${usage}`, 'true']));
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      ...usages,
      ...(token.groups.length > 0 && { 'auth-extra-groups': token.groups.join(',') }),
      ...(token.ttlMs !== undefined && { expiration: formatTime(now + token.ttlMs) }),
      ...(token.description !== undefined && { description: token.description }),
    },
  } as KubeObject;
}
