import type { Duplex } from 'node:stream';
import type { Node } from '../../../api/index.ts';
import type { Client, Lister, ObjectKey } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';
import type { ControllerDefinition, ExternalSource } from '../../../runtime/index.ts';

/** Connection to the API of a workload cluster. */
export interface WorkloadApi {
  client: Client;
  /** resolves if the API answers; otherwise rejects with the reason */
  probe(signal: AbortSignal): Promise<void>;
  /** byte stream to a Pod port through the API server; a closed port may show only on the stream */
  portForward(pod: ObjectKey, port: number, signal: AbortSignal): Promise<Duplex>;
  /** closes sockets */
  close(): void | Promise<void>;
}

/** Connects to a workload API with the content of its kubeconfig Secret. */
export type ConnectWorkload = (kubeconfig: string, cluster: ObjectKey) => Promise<WorkloadApi>;

export interface WorkloadState {
  connected: boolean;
  /** milliseconds since the epoch; 0 before the first success */
  lastSuccess: number;
  /** failed probes and connection attempts since */
  failures: number;
  /** time of the first failure */
  failingSince?: number;
  /** message of the last failure */
  problem?: string;
  /** the API answers but its Nodes cannot be read: since when, and why */
  unreadable?: { since: number; problem: string };
}

/** Describes an API that answers but denies reading Nodes. */
export function unreadableNodes({ unreadable }: WorkloadState): string | undefined {
  return unreadable && `The API of the cluster answers, but its Nodes cannot be read: ${unreadable.problem}`;
}

/** No connection to a workload API at the moment. The caller is enqueued once there is one. */
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

/** Shared access to all workload clusters: one client and one Node cache each. */
export interface WorkloadClusters {
  state(cluster: ObjectKey): WorkloadState;
  /** throws WorkloadNotConnectedError */
  client(cluster: ObjectKey): Client;
  /** Nodes from a synced cache; throws WorkloadNotConnectedError */
  nodes(cluster: ObjectKey): Lister<Node>;
  /** Nodes with this provider ID */
  nodesByProviderId(cluster: ObjectKey, providerId: string): Node[];
  /** byte stream to a Pod port of the cluster; throws WorkloadNotConnectedError */
  portForward(cluster: ObjectKey, pod: ObjectKey, port: number, signal: AbortSignal): Promise<Duplex>;
  /** enqueues the keys of `keysOf` when a cluster connects, disconnects or fails for the grace period */
  connectionSource(keysOf: (cluster: ObjectKey) => readonly ObjectKey[]): ExternalSource;
  /** enqueues the keys of `keysOf` when a Node changes in more than its heartbeat */
  nodeSource(
    keysOf: (cluster: ObjectKey, node: Node) => readonly ObjectKey[],
    options?: { patient?: boolean },
  ): ExternalSource;
  /** maintains the connections; must be added to the manager */
  readonly controller: ControllerDefinition;
}
