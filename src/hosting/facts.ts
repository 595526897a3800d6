import type { LoadBalancerIngress } from '../api/index.ts';
import type { AuthorityName } from './naming/types.ts';

// Observed facts about a plane. Absent means missing or not known yet.

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface PlaneFacts {
  /** the API Service as observed */
  readonly service?: ServiceFacts;
  /** an address of a hosting cluster node, for node ports */
  readonly nodeAddress?: string;
  readonly gateway?: GatewayFacts;
  /** once recorded it stays, whatever the Service shows later */
  readonly endpoint?: Endpoint;
  /** checksum by mounted Secret or ConfigMap; see `checksumOf` */
  readonly checksums: ReadonlyMap<string, string>;
  /** PEM of all trusted certificates, current one first; absent until created */
  readonly trust: Readonly<Partial<Record<AuthorityName, string>>>;
  readonly etcd?: EtcdSetFacts;
  /** name of the controllers' claim template; absent: that of their StatefulSet */
  readonly controllerClaim?: string;
  /** version the control plane is rolled out with; absent before the first rollout */
  readonly runningVersion?: string;
  readonly workload?: WorkloadFacts;
}

export interface ServiceFacts {
  readonly type?: string;
  readonly clusterIPs: readonly string[];
  readonly ingress: readonly LoadBalancerIngress[];
  /** node port by port name */
  readonly nodePorts?: Readonly<Record<string, number>>;
}

export interface GatewayFacts {
  /** domain of the listener for our routes; a wildcard without `*.` */
  readonly domain?: string;
  readonly listener?: string;
  readonly port?: number;
  readonly addresses: readonly string[];
  /** why it cannot be used, for the user */
  readonly problem?: string;
}

/** Membership state that determines the etcd objects, besides the spec. */
export interface EtcdSetFacts {
  /** replicas of the StatefulSet; changed one by one */
  readonly replicas: number;
  /** image of the StatefulSet; upgraded one minor version at a time */
  readonly image: string;
  readonly settings: EtcdSettings;
  /** size of the claims */
  readonly volumeSize?: string;
}

/** Start settings of members in their ConfigMap. */
export interface EtcdSettings {
  /** value of ETCD_INITIAL_CLUSTER */
  readonly initialCluster: string;
  /** value of ETCD_INITIAL_CLUSTER_STATE */
  readonly initialClusterState: 'new' | 'existing';
  /** member -> uid of the claim it was started with; a different uid means that its data is gone */
  readonly claims: Readonly<Record<string, string>>;
  /** removed member -> uid of the claim to delete before a new member with that name may start */
  readonly discard: Readonly<Record<string, string>>;
  /** image that wrote the data: etcd never goes back, and forward one minor version at a time */
  readonly image?: string;
}

export interface WorkloadFacts {
  readonly nodes: number;
  readonly kubeletVersions: readonly string[];
}
