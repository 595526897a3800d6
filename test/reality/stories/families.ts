import type { KubeObject } from '../../../src/machinery/index.ts';
import { konnectivityTag, planeVersions } from '../programs.ts';
import { exampleObjects } from './stage.ts';

/** What differs between planes of the two kinds. */
export interface PlaneFamily {
  readonly kind: string;
  /** of the cluster, and of its plane */
  readonly name: string;
  /** the object of the plane as kubectl names it */
  readonly plane: string;
  /** condition that says that it works */
  readonly works: string;
  readonly etcd: { readonly namespace: string; readonly selector: string };
  /** the cluster with everything it needs, of the older version */
  objects(): Promise<KubeObject[]>;
  /** whether its etcd is its own, to be backed up and restored */
  readonly hasOwnEtcd: boolean;
  /** what stays when the cluster is gone, and is deleted after it */
  readonly shared?: string;
}

const version = `v${planeVersions[0]}`;

/** The objects of an example, with another spec for the one of a kind. */
async function withSpec(example: string, kind: string, spec: object): Promise<KubeObject[]> {
  const objects = await exampleObjects(example, ['Cluster', 'OpenStackCluster', kind]);
  return objects.map((object) => (object.kind === kind ? { ...object, spec } : object));
}

/** Behind the address of a load balancer: this Kubernetes has no Gateway. */
const hosted: PlaneFamily = {
  kind: 'HostedControlPlane',
  name: 'hosted',
  plane: 'hostedcontrolplane/hosted',
  works: 'Available',
  hasOwnEtcd: true,
  etcd: { namespace: 'default', selector: 'controlplane.cluster.x-k8s.io/plane=hosted' },
  objects: () =>
    withSpec('hosted-control-plane', 'HostedControlPlane', {
      version,
      replicas: 2,
      deployment: { apiServer: { konnectivity: { image: { tag: konnectivityTag } } } },
    }),
};

const kamaji: PlaneFamily = {
  kind: 'KamajiControlPlane',
  name: 'hosted-kamaji',
  plane: 'kamajicontrolplane/hosted-kamaji',
  works: 'Available',
  hasOwnEtcd: false,
  etcd: { namespace: 'kamaji-system', selector: 'app.kubernetes.io/name=kamaji-etcd' },
  objects: () =>
    withSpec('hosted-kamaji', 'KamajiControlPlane', {
      version,
      replicas: 2,
      dataStoreName: 'default',
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { version: konnectivityTag, port: 8132 } } },
      network: { serviceType: 'LoadBalancer' },
    }),
  shared: 'datastore/default',
};

export const families: Readonly<Record<string, PlaneFamily>> = { hosted, kamaji };
