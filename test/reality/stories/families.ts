import type { KubeObject } from '../../../src/machinery/index.ts';
import { konnectivityTag } from '../programs.ts';
import { exampleObjects } from './stage.ts';

/** Differences between the two kinds of planes. */
export interface PlaneFamily {
  readonly kind: string;
  /** name of the cluster and its plane */
  readonly name: string;
  /** kubectl name of the plane's object */
  readonly plane: string;
  /** condition of a working plane */
  readonly works: string;
  readonly etcd: { readonly namespace: string; readonly selector: string };
  /** the cluster with all its objects, in this version */
  objects(version: string): Promise<KubeObject[]>;
  /** has its own etcd, which is backed up and restored */
  readonly hasOwnEtcd: boolean;
  /** object that remains after the cluster and is deleted afterwards */
  readonly shared?: string;
}

/** Returns the objects of an example, with another spec for one kind. */
async function withSpec(example: string, kind: string, spec: object): Promise<KubeObject[]> {
  const objects = await exampleObjects(example, ['Cluster', 'OpenStackCluster', kind]);
  return objects.map((object) => (object.kind === kind ? { ...object, spec } : object));
}

/** Exposed by a load balancer, because this Kubernetes has no Gateway. */
const hosted: PlaneFamily = {
  kind: 'HostedControlPlane',
  name: 'hosted',
  plane: 'hostedcontrolplane/hosted',
  works: 'Available',
  hasOwnEtcd: true,
  etcd: { namespace: 'default', selector: 'controlplane.cluster.x-k8s.io/plane=hosted' },
  objects: (version) =>
    withSpec('hosted-control-plane', 'HostedControlPlane', {
      version: `v${version}`,
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
  objects: (version) =>
    withSpec('hosted-kamaji', 'KamajiControlPlane', {
      version: `v${version}`,
      replicas: 2,
      dataStoreName: 'default',
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { version: konnectivityTag, port: 8132 } } },
      network: { serviceType: 'LoadBalancer' },
    }),
  shared: 'datastore/default',
};

export const families: Readonly<Record<string, PlaneFamily>> = { hosted, kamaji };
