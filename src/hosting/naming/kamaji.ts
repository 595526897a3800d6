import { usualConfigs } from './configs.ts';
import type { PlaneNaming, PlanePart, SecretPlace } from './types.ts';

const project = 'kamaji.clastix.io';

/** Names of a plane whose components share Pods, derived from its TenantControlPlane. */
export function kamajiNaming(tenant: string): PlaneNaming {
  const below = (end: string): string => `${tenant}-${end}`;
  const pair = (end: string, stem: string): SecretPlace => ({
    name: below(end),
    certificate: [`${stem}.crt`],
    privateKey: [`${stem}.key`],
  });
  const kubeconfig = (end: string, stem: string): SecretPlace => ({
    name: below(end),
    certificate: [],
    privateKey: [],
    kubeconfig: [`${stem}.conf`],
  });
  return {
    provider: 'kamaji',
    fieldManager: 'kamaji',
    controlPlane: tenant,
    etcd: below('etcd'),
    apiService: tenant,
    etcdService: below('etcd'),
    etcdClientService: below('etcd'),
    etcdSettings: below('etcd-settings'),
    etcdVolume: 'etcd-data',
    configs: {
      ...usualConfigs(below),
      kubeadm: below('kubeadmconfig'),
      'egress-selector': below('konnectivity-egress-selector-configuration'),
    },
    ingress: tenant,
    apiRoute: tenant,
    konnectivityRoute: below('konnectivity'),
    secrets: {
      ca: {
        name: below('ca'),
        certificate: ['ca.crt', 'tls.crt'],
        privateKey: ['ca.key', 'tls.key'],
        bundle: ['ca-bundle.crt'],
      },
      'front-proxy-ca': { ...pair('front-proxy-ca-certificate', 'front-proxy-ca'), bundle: ['ca-bundle.crt'] },
      sa: { name: below('sa-certificate'), certificate: ['sa.pub'], privateKey: ['sa.key'] },
      apiserver: pair('api-server-certificate', 'apiserver'),
      'apiserver-kubelet-client': pair('api-server-kubelet-client-certificate', 'apiserver-kubelet-client'),
      'front-proxy-client': pair('front-proxy-client-certificate', 'front-proxy-client'),
      'datastore-client': pair('datastore-certificate', 'server'),
      'datastore-config': { name: below('datastore-config'), certificate: [], privateKey: [] },
      'konnectivity-server': pair('konnectivity-certificate', 'tls'),
      'admin-kubeconfig': { ...kubeconfig('admin-kubeconfig', 'admin'), internalKubeconfig: ['admin.svc'] },
      'super-admin-kubeconfig': {
        ...kubeconfig('admin-kubeconfig', 'super-admin'),
        internalKubeconfig: ['super-admin.svc'],
      },
      'controller-manager-kubeconfig': kubeconfig('controller-manager-kubeconfig', 'controller-manager'),
      'scheduler-kubeconfig': kubeconfig('scheduler-kubeconfig', 'scheduler'),
      'konnectivity-kubeconfig': kubeconfig('konnectivity-kubeconfig', 'konnectivity-server'),
    },
    bundles: {},
    rotationState: below('rotation'),
    encryptionKeys: below('encryption'),
    labels: (part) => ({
      [`${project}/project`]: 'kamaji',
      [`${project}/name`]: tenant,
      [`${project}/component`]: componentLabels[part] ?? part,
    }),
    selector: () => ({ [`${project}/name`]: tenant }),
    policy: (part) => (part === 'etcd' ? below('etcd') : tenant),
  };
}

const componentLabels: Readonly<Partial<Record<PlanePart, string>>> = {
  'control-plane': 'deployment',
  cluster: 'service',
  config: 'kubeadmconfig',
  konnectivity: 'konnectivity-agent',
};
