import type { LoadBalancerIngress } from '../api/index.ts';
import type { AuthorityName } from './naming/types.ts';

// What was observed of a plane. Absent means: not there, or not known yet.

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface PlaneFacts {
  /** the Service in front of the API, as it is */
  readonly service?: ServiceFacts;
  /** an address of the hosting cluster's nodes, for node ports */
  readonly nodeAddress?: string;
  readonly gateway?: GatewayFacts;
  /** once written down it stays, whatever the Service says later */
  readonly endpoint?: Endpoint;
  /** Secret or ConfigMap of others -> checksum of its content, for all that Pods mount; see `checksumOf` */
  readonly checksums: ReadonlyMap<string, string>;
  /** PEM, all certificates to trust, current one first; absent until made */
  readonly trust: Readonly<Partial<Record<AuthorityName, string>>>;
  readonly etcd?: EtcdSetFacts;
  /** what runs: the version the control plane is rolled out with; absent before the first roll-out */
  readonly runningVersion?: string;
  readonly workload?: WorkloadFacts;
}

export interface ServiceFacts {
  readonly type?: string;
  readonly clusterIPs: readonly string[];
  readonly ingress: readonly LoadBalancerIngress[];
  /** port name -> node port */
  readonly nodePorts?: Readonly<Record<string, number>>;
}

export interface GatewayFacts {
  /** of the listener that takes our routes; a wildcard without its `*.` */
  readonly domain?: string;
  readonly listener?: string;
  readonly port?: number;
  readonly addresses: readonly string[];
  /** why it cannot be used, in words for a user */
  readonly problem?: string;
}

/** What decides how the etcd objects look, besides the spec: the state of the membership steps. */
export interface EtcdSetFacts {
  /** replicas the StatefulSet has; steps change them one by one */
  readonly replicas: number;
  /** image the StatefulSet has; steps change it minor by minor */
  readonly image: string;
  readonly settings: EtcdSettings;
  /** size the claims have */
  readonly volumeSize?: string;
}

/** Start settings of members, as the ConfigMap holds them. */
export interface EtcdSettings {
  /** ETCD_INITIAL_CLUSTER */
  readonly initialCluster: string;
  /** ETCD_INITIAL_CLUSTER_STATE */
  readonly initialClusterState: 'new' | 'existing';
  /** member -> uid of the claim it was started on: another uid means that its data is gone */
  readonly claims: Readonly<Record<string, string>>;
  /** member that left -> uid of the claim to be deleted before a new member of that name may start */
  readonly discard: Readonly<Record<string, string>>;
}

export interface WorkloadFacts {
  /** nodes there are */
  readonly nodes: number;
  /** versions of their kubelets */
  readonly kubeletVersions: readonly string[];
}
