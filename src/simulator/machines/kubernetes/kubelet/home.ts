import type { Lease } from '../../../../api/index.ts';
import type { ClusterNode, NodePorts, PortService, ServiceRoute } from '../../../../simkube/index.ts';

/** What drives a kubelet: its cluster if that is in this process, otherwise watches of its own. */
export interface KubeletHome {
  /** starts heartbeats and Pod notifications */
  addNode(node: ClusterNode): void;
  removeNode(node: ClusterNode): void;
  /** false: the lease must be renewed through the API */
  renewLease(lease: Lease): boolean;
  /** whether the Node was declared unreachable, so the kubelet has to report its status */
  wasDeclaredDead(name: string): boolean;
  forgetDeclaredDead(name: string): void;
  /** route of a Service name or address from a Pod of the namespace; undefined if it is neither */
  serviceRoute(host: string, port: number, namespace: string | undefined): ServiceRoute | undefined;
  /** node ports of Services; absent if Services are not watched here */
  readonly nodePorts?: NodePorts;
  /** service on a port of a Pod; undefined if unknown */
  podService(address: string, port: number): PortService | undefined;
}
