import type { Duplex } from 'node:stream';
import type { Node } from '../../../api/index.ts';
import type { Client, Lister, ObjectKey } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';
import type { ControllerDefinition, ExternalSource } from '../../../runtime/index.ts';

/** One way to the API of a workload cluster. */
export interface WorkloadApi {
  client: Client;
  /** resolves when the API answers; rejects with the reason when it does not */
  probe(signal: AbortSignal): Promise<void>;
  /** a byte stream to a port inside a pod, through the API server; that nothing listens there may show on the stream */
  portForward(pod: ObjectKey, port: number, signal: AbortSignal): Promise<Duplex>;
  /** lets go of sockets */
  close(): void | Promise<void>;
}

/** Opens a way to a workload API from the kubeconfig its Secret holds. */
export type ConnectWorkload = (kubeconfig: string, cluster: ObjectKey) => Promise<WorkloadApi>;

/** What is known of the connection to one workload API. */
export interface WorkloadState {
  connected: boolean;
  /** milliseconds since the epoch; 0 while no probe has succeeded */
  lastSuccess: number;
  /** probes and connection attempts that failed since */
  failures: number;
  /** when the first of them failed */
  failingSince?: number;
  /** in the words of the last failure */
  problem?: string;
  /** it answers, and its Nodes cannot be read: since when, and why */
  unreadable?: { since: number; problem: string };
}

/** What to say of an API that answers and does not let its Nodes be read. */
export function unreadableNodes({ unreadable }: WorkloadState): string | undefined {
  return unreadable && `The API of the cluster answers, but its Nodes cannot be read: ${unreadable.problem}`;
}

/** There is no connection to a workload API (yet, or at the moment). Somebody wakes the asker when there is one. */
export class WorkloadNotConnectedError extends CapstanError {
  constructor(cluster: ObjectKey, problem: string | undefined) {
    super(
      'CAP_WORKLOAD_NOT_CONNECTED',
      `connection to the workload cluster ${cluster.name} is down${problem === undefined ? '' : `: ${problem}`}`,
    );
    this.name = 'WorkloadNotConnectedError';
  }
}

export const isNotConnected = (error: unknown): boolean => error instanceof WorkloadNotConnectedError;

/** Shared access to the APIs of all workload clusters: one client and one cache of Nodes each. */
export interface WorkloadClusters {
  state(cluster: ObjectKey): WorkloadState;
  /** throws WorkloadNotConnectedError */
  client(cluster: ObjectKey): Client;
  /** the Nodes, from a cache that has synced; throws WorkloadNotConnectedError */
  nodes(cluster: ObjectKey): Lister<Node>;
  /** the Nodes with this provider ID */
  nodesByProviderId(cluster: ObjectKey, providerId: string): Node[];
  /** a byte stream to a port inside a pod of the cluster; throws WorkloadNotConnectedError */
  portForward(cluster: ObjectKey, pod: ObjectKey, port: number, signal: AbortSignal): Promise<Duplex>;
  /** wakes what `keysOf` names when a cluster is connected, disconnected or fails to answer for a while */
  connectionSource(keysOf: (cluster: ObjectKey) => readonly ObjectKey[]): ExternalSource;
  /** wakes what `keysOf` names when a Node changes in something other than its heartbeat */
  nodeSource(
    keysOf: (cluster: ObjectKey, node: Node) => readonly ObjectKey[],
    options?: { patient?: boolean },
  ): ExternalSource;
  /** keeps the connections; to be added to the manager */
  readonly controller: ControllerDefinition;
}
