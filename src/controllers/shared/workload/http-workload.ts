import type { Duplex } from 'node:stream';
import { httpClient, portForward } from '../../../client/index.ts';
import { anyPeer, type PeerPolicy } from '../../../machinery/index.ts';
import { workloadConnection } from './kubeconfig-connection.ts';
import { reachable } from './reachable.ts';
import type { ConnectWorkload } from './types.ts';

const requestTimeoutMs = 10_000;
/** Opening a connection costs more than several requests, so concurrent requests share these. */
const maxConnections = 3;
/** About three times a page of 500 Nodes with all images. */
const maxAnswerBytes = 32 * 1024 * 1024;

export interface HttpWorkloadOptions {
  readonly userAgent?: string;
  readonly peers?: PeerPolicy;
  /** opens an existing stream to the API instead of dialing the address in the kubeconfig */
  readonly dial?: () => Promise<Duplex>;
}

/** Connects to a workload API over HTTPS with its kubeconfig. */
export function connectOverHttp(options: HttpWorkloadOptions = {}): ConnectWorkload {
  const guard = { peers: options.peers ?? anyPeer, maxAnswerBytes };
  return async (kubeconfig, cluster) => {
    const { dial } = options;
    const connection = {
      ...workloadConnection(kubeconfig, `of cluster ${cluster.name}`),
      guard,
      ...(dial && { dial }),
    };
    const client = httpClient(connection, {
      requestTimeoutMs,
      // callers requeue; retries inside a request would only block a worker
      maxAttempts: 1,
      maxConnections,
      ...(options.userAgent !== undefined && { userAgent: options.userAgent }),
    });
    // a proxy accepts connections even if the API is down
    let knowsAnswers = connection.proxyUrl !== undefined || dial !== undefined;
    return {
      client,
      async probe(signal) {
        // cheap check first: a starting API is probed many times before it listens
        if (!knowsAnswers) await reachable(connection.server, signal, guard.peers);
        await client.raw('/', { signal });
        knowsAnswers = true;
      },
      portForward: (pod, port, signal) =>
        portForward(connection, pod, port, {
          signal,
          ...(options.userAgent !== undefined && { userAgent: options.userAgent }),
        }),
      close: () => client.close(),
    };
  };
}
