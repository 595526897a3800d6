import { createHash } from 'node:crypto';
import { clusterNameLabel } from '../../api/index.ts';
import { usualConfigs } from './configs.ts';
import type { PlaneNaming, PlanePart, SecretPlace } from './types.ts';

/** Length limit of names that become labels or host names. */
const longest = 63;
const kept = 57;

/** Shortens a long name as k0smotron does: its beginning plus a checksum of the whole. */
export function shortenedName(name: string): string {
  if (name.length <= longest) return name;
  return `${name.slice(0, kept)}-${createHash('md5').update(name).digest('hex').slice(0, 5)}`;
}

/** Type of Secrets that other Cluster API controllers look for. */
export const clusterSecretType = 'cluster.x-k8s.io/secret';

const componentLabels: Readonly<Record<PlanePart, string>> = {
  cluster: 'cluster-config',
  'control-plane': 'control-plane',
  'api-server': 'control-plane',
  'controller-manager': 'control-plane',
  scheduler: 'control-plane',
  etcd: 'etcd',
  config: 'config',
  entrypoint: 'entrypoint',
  ingress: 'ingress',
  kubeconfig: 'kubeconfig',
  certificate: 'config',
  konnectivity: 'tunneling',
  monitoring: 'monitoring',
  policy: 'control-plane',
};

/** Names of a plane of k0s controllers, derived from its Cluster. */
export function k0smotronNaming(clusterName: string, service: 'ClusterIP' | 'NodePort' | 'LoadBalancer'): PlaneNaming {
  const plane = shortenedName(`kmc-${clusterName}`);
  const below = (end: string): string => shortenedName(`kmc-${clusterName}-${end}`);
  const pair = (end: string): SecretPlace => ({
    name: shortenedName(`${clusterName}-${end}`),
    type: clusterSecretType,
    certificate: ['tls.crt'],
    privateKey: ['tls.key'],
  });
  const authority = (end: string): SecretPlace => ({ ...pair(end), bundle: ['ca-bundle.crt'] });
  const selector = (part: PlanePart): Record<string, string> => ({
    app: 'k0smotron',
    cluster: clusterName,
    component: part === 'etcd' ? 'etcd' : 'cluster',
  });
  return {
    provider: 'k0smotron',
    fieldManager: 'k0smotron-operator',
    controlPlane: plane,
    etcd: below('etcd'),
    apiService: { ClusterIP: plane, NodePort: below('nodeport'), LoadBalancer: below('lb') }[service],
    etcdService: below('etcd'),
    etcdClientService: below('etcd'),
    etcdSettings: below('etcd-settings'),
    etcdVolume: 'etcd-data',
    defragmentJob: below('defrag'),
    configs: {
      ...usualConfigs(below),
      k0s: below('config'),
      entrypoint: shortenedName(`kmc-entrypoint-${clusterName}-config`),
      prometheus: shortenedName(`kmc-prometheus-${clusterName}-config`),
      'prometheus-proxy': shortenedName(`kmc-prometheus-${clusterName}-config-nginx`),
    },
    ingress: plane,
    apiRoute: plane,
    konnectivityRoute: below('konnectivity'),
    secrets: {
      ca: authority('ca'),
      'etcd-ca': authority('etcd'),
      'front-proxy-ca': authority('proxy'),
      sa: pair('sa'),
      apiserver: pair('apiserver'),
      'apiserver-etcd-client': pair('apiserver-etcd-client'),
      'etcd-server': pair('etcd-server'),
      'etcd-peer': pair('etcd-peer'),
      'ingress-proxy': pair('ingress-haproxy'),
      // never shortened: clients look for exactly this name
      'cluster-kubeconfig': {
        name: `${clusterName}-kubeconfig`,
        type: clusterSecretType,
        certificate: [],
        privateKey: [],
        kubeconfig: ['value'],
      },
    },
    bundles: {},
    rotationState: below('rotation'),
    encryptionKeys: below('encryption'),
    labels: (part) => ({
      ...selector(part),
      [clusterNameLabel]: clusterName,
      'app.kubernetes.io/component': componentLabels[part],
    }),
    selector,
    policy: (part) => (part === 'etcd' ? below('etcd') : plane),
  };
}
