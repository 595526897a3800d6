/** Result of an adoption for an upstream manager. */
type Fate =
  /** Capstan takes over its work */
  | 'replaced'
  /** Capstan takes over its work, but refuses if it runs control planes: see `planeKinds` */
  | 'replaced-without-planes'
  /** keeps running beside Capstan */
  | 'stays';

/** An upstream program that reconciles kinds of ours. */
export interface KnownManager {
  /** name in clusterctl, and value of the label cluster.x-k8s.io/provider */
  readonly provider: string;
  readonly title: string;
  readonly fate: Fate;
  /** name of the image, independent of the registry */
  readonly image: RegExp;
  /** Deployment names, used if neither label nor image identify the provider */
  readonly deployments: readonly string[];
  /** leader election leases of its replicas */
  readonly leases: readonly string[];
  /** supported releases as `major.minor`: from the first, up to but excluding the second */
  readonly versions?: readonly [from: string, before: string];
  /** control planes as Pods that our controllers continue */
  readonly planes?: {
    readonly kind: string;
    /** releases whose Pods are known, like `versions` */
    readonly versions: readonly [from: string, before: string];
  };
  /** control plane kinds that it runs as Pods and nobody else continues, as `plural.group` */
  readonly planeKinds?: readonly string[];
}

/** Control planes of k0smotron, standalone ones included. */
export const k0smotronPlanes = { kind: 'clusters.k0smotron.io', versions: ['2.0', '2.2'] } as const;

const clusterApi: readonly [string, string] = ['1.11', '1.15'];

export const knownManagers: readonly KnownManager[] = [
  {
    provider: 'cluster-api',
    title: 'Cluster API',
    fate: 'replaced',
    image: /(^|\/)cluster-api-controller$/,
    deployments: ['capi-controller-manager'],
    leases: ['controller-leader-election-capi'],
    versions: clusterApi,
  },
  {
    provider: 'bootstrap-kubeadm',
    title: 'the kubeadm bootstrap provider',
    fate: 'replaced',
    image: /(^|\/)kubeadm-bootstrap-controller$/,
    deployments: ['capi-kubeadm-bootstrap-controller-manager'],
    leases: ['kubeadm-bootstrap-manager-leader-election-capi'],
    versions: clusterApi,
  },
  {
    provider: 'control-plane-kubeadm',
    title: 'the kubeadm control plane provider',
    fate: 'replaced',
    image: /(^|\/)kubeadm-control-plane-controller$/,
    deployments: ['capi-kubeadm-control-plane-controller-manager'],
    leases: ['kubeadm-control-plane-manager-leader-election-capi'],
    versions: clusterApi,
  },
  {
    provider: 'infrastructure-openstack',
    title: 'the OpenStack provider',
    fate: 'replaced',
    image: /(^|\/)capi-openstack-controller$/,
    deployments: ['capo-controller-manager'],
    leases: ['controller-leader-election-capo'],
    versions: ['0.12', '0.16'],
  },
  {
    provider: 'orc',
    title: 'the OpenStack Resource Controller',
    fate: 'stays',
    image: /(^|\/)openstack-resource-controller$/,
    deployments: ['orc-controller-manager'],
    leases: [],
  },
  ...['bootstrap', 'control-plane', 'infrastructure'].map(
    (part): KnownManager => ({
      provider: `${part}-k0sproject-k0smotron`,
      title: `k0smotron (${part})`,
      fate: 'replaced',
      image: /(^|\/)k0smotron$/,
      deployments: [`k0smotron-controller-manager-${part}`, `capi-k0smotron-${part}-controller-manager`],
      leases: [],
      planes: k0smotronPlanes,
    }),
  ),
  {
    provider: 'k0smotron',
    title: 'k0smotron',
    fate: 'replaced',
    image: /(^|\/)k0smotron$/,
    deployments: ['k0smotron-controller-manager'],
    leases: [],
    planes: k0smotronPlanes,
  },
  {
    provider: 'control-plane-kamaji',
    title: 'the Kamaji control plane provider',
    fate: 'replaced-without-planes',
    image: /(^|\/)cluster-api-control-plane-provider-kamaji$/,
    deployments: ['capi-kamaji-controller-manager'],
    leases: [],
    planeKinds: ['kamajicontrolplanes.controlplane.cluster.x-k8s.io', 'tenantcontrolplanes.kamaji.clastix.io'],
  },
  {
    provider: 'kamaji',
    title: 'Kamaji',
    fate: 'replaced-without-planes',
    image: /(^|\/)clastix\/kamaji$/,
    deployments: ['kamaji', 'kamaji-controller-manager'],
    leases: [],
    planeKinds: ['tenantcontrolplanes.kamaji.clastix.io'],
  },
  {
    provider: 'control-plane-hosted-control-plane',
    title: 'the hosted control plane provider',
    fate: 'replaced-without-planes',
    image: /(^|\/)cluster-api-control-plane-provider-hcp$/,
    deployments: ['hosted-control-plane-controller-manager', 'capi-hosted-control-plane-controller-manager'],
    leases: [],
    planeKinds: ['hostedcontrolplanes.controlplane.cluster.x-k8s.io'],
  },
  {
    provider: 'cluster-stack-operator',
    title: 'the cluster stack operator',
    fate: 'replaced',
    image: /(^|\/)cso$/,
    deployments: ['cso-controller-manager'],
    leases: ['clusterstack.x-k8s.io'],
  },
  {
    provider: 'cluster-stack-provider-openstack',
    title: 'the cluster stack provider for OpenStack',
    fate: 'replaced',
    image: /(^|\/)cspo$/,
    deployments: ['cspo-controller-manager'],
    leases: [],
  },
];

export const providerLabel = 'cluster.x-k8s.io/provider';
