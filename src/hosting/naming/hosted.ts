import { clusterNameLabel } from '../../api/index.ts';
import { usualConfigs } from './configs.ts';
import { clusterSecretType } from './k0smotron.ts';
import type { AuthorityName, BundlePlace, PlaneNaming, PlanePart, SecretPlace } from './types.ts';

/** Label with the plane of a Pod that must not match the Cluster's name selector. */
const planeLabel = 'controlplane.cluster.x-k8s.io/plane';

/** Names of a plane with separate component Pods and its own etcd, derived from its Cluster. */
export function hostedNaming(clusterName: string): PlaneNaming {
  const below = (end: string): string => `${clusterName}-${end}`;
  const pair = (end: string): SecretPlace => ({
    name: below(end),
    type: 'kubernetes.io/tls',
    certificate: ['tls.crt'],
    privateKey: ['tls.key'],
    bundle: ['ca.crt'],
  });
  const kubeconfig = (name: string): SecretPlace => ({
    name,
    type: clusterSecretType,
    certificate: [],
    privateKey: [],
    kubeconfig: ['value'],
  });
  const bundle = (authority: AuthorityName): BundlePlace => ({
    name: below(`${authority}-bundle`),
    current: 'current.crt',
    old: 'old.crt',
    all: 'ca.crt',
  });
  const labels = (part: PlanePart): Record<string, string> => ({
    [clusterNameLabel]: clusterName,
    'app.kubernetes.io/component': part === 'control-plane' ? 'api-server' : part,
  });
  // Users run `kubectl logs -c kube-apiserver` for all Pods with a cluster's label, which fails if one Pod lacks the
  // container. etcd Pods therefore have another label.
  const etcdLabels = { [planeLabel]: clusterName, 'app.kubernetes.io/component': 'etcd' };
  const service = `s-${clusterName}`;
  return {
    provider: 'hosted',
    fieldManager: 'hosted-control-plane-controller',
    controlPlane: below('api-server'),
    etcd: below('etcd'),
    apiService: service,
    etcdService: `e-${clusterName}-etcd`,
    etcdClientService: `e-${clusterName}-etcd-client`,
    etcdSettings: below('etcd-settings'),
    etcdVolume: 'etcd-data',
    configs: { ...usualConfigs(below), 'egress-selector': below('konnectivity') },
    ingress: clusterName,
    apiRoute: clusterName,
    konnectivityRoute: below('konnectivity'),
    secrets: {
      ca: pair('ca'),
      'etcd-ca': pair('etcd-ca'),
      'front-proxy-ca': pair('front-proxy-ca'),
      sa: pair('service-account'),
      apiserver: pair('apiserver'),
      'apiserver-kubelet-client': pair('apiserver-kubelet-client'),
      'front-proxy-client': pair('front-proxy'),
      'apiserver-etcd-client': pair('etcd-apiserver-client'),
      'etcd-server': pair('etcd-server'),
      'etcd-peer': pair('etcd-peer'),
      'etcd-operator': pair('etcd-controller-client'),
      'cluster-kubeconfig': kubeconfig(below('kubeconfig')),
      'controller-manager-kubeconfig': kubeconfig(below('kube-controller-manager-kubeconfig')),
      'scheduler-kubeconfig': kubeconfig(below('kube-scheduler-kubeconfig')),
      'konnectivity-kubeconfig': kubeconfig(below('konnectivity-client-kubeconfig')),
      'operator-kubeconfig': kubeconfig(below('control-plane-controller-kubeconfig')),
    },
    bundles: {
      ca: bundle('ca'),
      'etcd-ca': bundle('etcd-ca'),
      'front-proxy-ca': bundle('front-proxy-ca'),
    },
    rotationState: below('rotation'),
    encryptionKeys: below('encryption'),
    labels,
    selector: (part) => (part === 'etcd' ? etcdLabels : labels(part)),
    formerSelectors: (part) => (part === 'etcd' ? [labels(part)] : []),
    withheldFromPods: (part) => (part === 'etcd' ? [clusterNameLabel] : []),
    formerDeployments: [below('controller-manager'), below('scheduler')],
    policy: (part) => (part === 'control-plane' ? below('api-server') : below(part)),
  };
}
