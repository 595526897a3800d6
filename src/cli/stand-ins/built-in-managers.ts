import type { ControllerArea } from '../controller-areas.ts';

export type StandInArea = ControllerArea | 'stacks';

/** An upstream manager whose work Capstan's controllers do. */
export interface BuiltInManager {
  /** common name of the manager */
  readonly name: string;
  readonly area: StandInArea;
  /** last part of its image name, without tag */
  readonly image: RegExp;
  /** its placeholder Deployment, where guides look for it */
  readonly deployment?: StandInDeployment;
}

export interface StandInDeployment {
  readonly namespace: string;
  readonly name: string;
  readonly provider: string;
  /** Helm release that may replace it */
  readonly release?: string;
}

/** Names of initial placeholders are those of `clusterctl init` and of the guides. */
export const builtInManagers: readonly BuiltInManager[] = [
  {
    name: 'Cluster API',
    area: 'cluster',
    image: /^cluster-api-controller$/,
    deployment: { namespace: 'capi-system', name: 'capi-controller-manager', provider: 'cluster-api' },
  },
  {
    name: 'the kubeadm bootstrap provider',
    area: 'bootstrap',
    image: /^kubeadm-bootstrap-controller$/,
    deployment: {
      namespace: 'capi-kubeadm-bootstrap-system',
      name: 'capi-kubeadm-bootstrap-controller-manager',
      provider: 'bootstrap-kubeadm',
    },
  },
  {
    name: 'the kubeadm control plane provider',
    area: 'control-plane',
    image: /^kubeadm-control-plane-controller$/,
    deployment: {
      namespace: 'capi-kubeadm-control-plane-system',
      name: 'capi-kubeadm-control-plane-controller-manager',
      provider: 'control-plane-kubeadm',
    },
  },
  {
    name: 'the OpenStack provider',
    area: 'infrastructure',
    image: /^capi-openstack-controller$/,
    deployment: { namespace: 'capo-system', name: 'capo-controller-manager', provider: 'infrastructure-openstack' },
  },
  {
    name: 'the hosted control plane provider',
    area: 'control-plane',
    image: /^cluster-api-(control-plane-)?provider-hosted-control-plane$/,
    deployment: {
      namespace: 'capi-system',
      name: 'capi-hosted-control-plane-controller-manager',
      provider: 'control-plane-hosted-control-plane',
    },
  },
  { name: 'k0smotron', area: 'control-plane', image: /^k0smotron$/ },
  { name: 'Kamaji', area: 'control-plane', image: /^(kamaji|cluster-api-control-plane-provider-kamaji)$/ },
  {
    name: 'the cluster stack operator',
    area: 'stacks',
    image: /^(cso|cluster-stack-operator)$/,
    deployment: {
      namespace: 'cso-system',
      name: 'cso-controller-manager',
      provider: 'cluster-stack-operator',
      release: 'cso',
    },
  },
  { name: 'the OpenStack Resource Controller', area: 'images', image: /^openstack-resource-controller$/ },
];

/** Returns the built-in manager for an image. */
export function managerOfImage(image: string): BuiltInManager | undefined {
  const name = image
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .split('/')
    .at(-1);
  return name === undefined ? undefined : builtInManagers.find((manager) => manager.image.test(name));
}
