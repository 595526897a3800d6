import { CapstanError, compareKubernetesVersions, parseKubernetesVersion } from '../../machinery/index.ts';

/** Boot image of the machines of a flavor. */
export type NodeImage =
  /** image with kubelet and kubeadm of the cluster's version */
  | 'kubernetes'
  /** any Linux; the bootstrap installs everything needed */
  | 'ubuntu'
  /** an Ubuntu on which the packages of Kubernetes are installed */
  | 'stock'
  /** image named by the class */
  | 'none';

/** A type of cluster that can be generated. */
export interface Flavor {
  readonly name: string;
  readonly description: string;
  /** file below templates/ */
  readonly template: string;
  /** variables that this flavor sets, unless the user does */
  readonly presets: Readonly<Record<string, string>>;
  readonly image: NodeImage;
  /** path of the cloud's CA for the add-ons of the template, as named in clouds.yaml */
  readonly authorityFile?: string;
  /** its template takes the external network by name, too */
  readonly namesNetworks?: boolean;
  /** older Kubernetes versions use another template, because they need the in-tree cloud provider */
  readonly inTreeBefore?: string;
}

const inTreeTemplate = 'cluster-template-in-tree.yaml';
/** First version that the add-ons of the templates support. */
const firstExternal = 'v1.22.0';

export const flavors: readonly Flavor[] = [
  {
    name: 'kubeadm',
    description: 'control planes on machines behind a load balancer',
    template: 'cluster-template.yaml',
    presets: { OPENSTACK_API_SERVER_LOAD_BALANCER: 'true' },
    image: 'kubernetes',
    authorityFile: '/etc/kubernetes/cloud/cacert',
  },
  {
    name: 'without-lb',
    description: 'control planes on machines, the API at a floating IP',
    template: 'cluster-template.yaml',
    presets: { OPENSTACK_API_SERVER_LOAD_BALANCER: 'false' },
    image: 'kubernetes',
    authorityFile: '/etc/kubernetes/cloud/cacert',
    inTreeBefore: firstExternal,
  },
  {
    name: 'rke2',
    description: 'rke2 on machines with a stock Ubuntu, behind a load balancer',
    template: 'cluster-template-rke2.yaml',
    presets: {},
    image: 'ubuntu',
  },
  {
    name: 'k0smotron',
    description: 'control plane in Pods (k0s)',
    template: 'cluster-template-k0smotron.yaml',
    presets: {},
    image: 'ubuntu',
  },
  {
    name: 'kamaji',
    description: 'control plane in Pods (Kamaji), its data in a shared etcd',
    template: 'cluster-template-kamaji.yaml',
    presets: {},
    image: 'kubernetes',
    authorityFile: '/etc/config/cacert',
  },
  {
    name: 'hosted',
    description: 'control plane in Pods (HostedControlPlane), reached through a Gateway',
    template: 'cluster-template-hosted.yaml',
    presets: {},
    image: 'kubernetes',
    authorityFile: '/etc/config/cacert',
  },
  {
    name: 'stack',
    description: 'from a cluster stack, with its add-ons',
    template: 'cluster-template-stack.yaml',
    presets: {},
    image: 'none',
    authorityFile: '/etc/openstack/cacert',
  },
  {
    name: 'lattice',
    description: 'a LatticeCluster: one object, with its add-ons, on a stock Ubuntu',
    template: 'cluster-template-lattice.yaml',
    presets: {},
    image: 'stock',
    namesNetworks: true,
  },
];

const usualFlavor = 'kubeadm';

/**
 * Returns the flavor by name. The default is the usual one, or for an older Kubernetes the one with a matching
 * template.
 */
export function chooseFlavor(name: string | undefined, kubernetesVersion: string | undefined): Flavor {
  const wanted = name ?? (isInTree(flavorNamed('without-lb'), kubernetesVersion) ? 'without-lb' : usualFlavor);
  const flavor = flavorNamed(wanted);
  if (flavor.inTreeBefore === undefined && isBefore(kubernetesVersion, firstExternal)) {
    throw new CapstanError('CAP_USAGE', `flavor ${flavor.name} has no template for Kubernetes ${kubernetesVersion}`, {
      hint: `take ${firstExternal} or newer, or --flavor without-lb`,
    });
  }
  return flavor;
}

/** Returns the file below templates/ for a version. */
export function templateOf(flavor: Flavor, kubernetesVersion: string | undefined): string {
  return isInTree(flavor, kubernetesVersion) ? inTreeTemplate : flavor.template;
}

function isInTree({ inTreeBefore }: Flavor, kubernetesVersion: string | undefined): boolean {
  return inTreeBefore !== undefined && isBefore(kubernetesVersion, inTreeBefore);
}

function flavorNamed(name: string): Flavor {
  const flavor = flavors.find((one) => one.name === name);
  if (flavor) return flavor;
  throw new CapstanError('CAP_USAGE', `there is no flavor "${name}"`, {
    hint: `choose one of ${flavors.map((one) => one.name).join(', ')}, or name a template with --from`,
  });
}

function isBefore(version: string | undefined, limit: string): boolean {
  const [a, b] = [parseKubernetesVersion(version ?? ''), parseKubernetesVersion(limit)];
  return a !== undefined && b !== undefined && compareKubernetesVersions(a, b) < 0;
}
