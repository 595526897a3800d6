/** What becomes of a manager of upstream when its clusters are taken over. */
type Fate =
  /** its work is ours from then on */
  | 'replaced'
  /** its work is ours from then on, and refused where a control plane of it runs: see `planeKinds` */
  | 'replaced-without-planes'
  /** goes on beside ours */
  | 'stays';

/** A program of upstream that works on kinds of ours. */
export interface KnownManager {
  /** how clusterctl calls it, and the value of the label cluster.x-k8s.io/provider */
  readonly provider: string;
  readonly title: string;
  readonly fate: Fate;
  /** name of the image, wherever it is pulled from */
  readonly image: RegExp;
  /** the Deployment, where neither label nor image tell */
  readonly deployments: readonly string[];
  /** the lease by which its replicas agree on one of them */
  readonly leases: readonly string[];
  /** releases it can be taken over from: from the first to before the second, `major.minor` each */
  readonly versions?: readonly [from: string, before: string];
  /** kinds of control planes it runs as Pods, `plural.group` */
  readonly planeKinds?: readonly string[];
}

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
      fate: 'replaced-without-planes',
      image: /(^|\/)k0smotron$/,
      deployments: [`k0smotron-controller-manager-${part}`, `capi-k0smotron-${part}-controller-manager`],
      leases: [],
      planeKinds: ['k0smotroncontrolplanes.controlplane.cluster.x-k8s.io', 'clusters.k0smotron.io'],
    }),
  ),
  {
    provider: 'k0smotron',
    title: 'k0smotron',
    fate: 'replaced-without-planes',
    image: /(^|\/)k0smotron$/,
    deployments: ['k0smotron-controller-manager'],
    leases: [],
    planeKinds: ['k0smotroncontrolplanes.controlplane.cluster.x-k8s.io', 'clusters.k0smotron.io'],
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
    leases: ['controller-leader-election-cso'],
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
