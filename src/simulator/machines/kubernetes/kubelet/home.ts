import type { Lease } from '../../../../api/index.ts';
import type { ClusterNode, NodePorts, PortService, ServiceRoute } from '../../../../simkube/index.ts';

/** What calls a kubelet to its work: its cluster when that is in this process, watches of its own when it is not. */
export interface KubeletHome {
  /** begins to call for heartbeats and to tell of Pods */
  addNode(node: ClusterNode): void;
  removeNode(node: ClusterNode): void;
  /** false: it has to be done through the API */
  renewLease(lease: Lease): boolean;
  /** whether the Node was given up and its kubelet has to say that it lives */
  wasDeclaredDead(name: string): boolean;
  forgetDeclaredDead(name: string): void;
  /** where DNS and Services of the cluster lead a Pod of a namespace; undefined: it is not a name or address of theirs */
  serviceRoute(host: string, port: number, namespace: string | undefined): ServiceRoute | undefined;
  /** ports of the node that lead to Services; absent: nobody follows Services here */
  readonly nodePorts?: NodePorts;
  /** what answers at a port of a Pod of the cluster; undefined: nothing that is known here */
  podService(address: string, port: number): PortService | undefined;
}
