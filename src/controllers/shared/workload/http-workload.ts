import type { Duplex } from 'node:stream';
import { httpClient, portForward } from '../../../client/index.ts';
import { anyPeer, type PeerPolicy } from '../../../machinery/index.ts';
import { workloadConnection } from './kubeconfig-connection.ts';
import { reachable } from './reachable.ts';
import type { ConnectWorkload } from './types.ts';

const requestTimeoutMs = 10_000;
/** Opening one costs more than several requests; what many ask at once, they ask one after the other. */
const maxConnections = 3;
/** A page of five hundred Nodes with all their images is a third of it. */
const maxAnswerBytes = 32 * 1024 * 1024;

export interface HttpWorkloadOptions {
  readonly userAgent?: string;
  readonly peers?: PeerPolicy;
  /** a way to the API that somebody keeps open, instead of one to the address in the kubeconfig */
  readonly dial?: () => Promise<Duplex>;
}

/** The ordinary way to a workload API: over HTTPS with what its kubeconfig says. */
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
      // the caller comes back by itself: trying on inside a request would only hold up a worker
      maxAttempts: 1,
      maxConnections,
      ...(options.userAgent !== undefined && { userAgent: options.userAgent }),
    });
    // a proxy would accept connections in any case
    let knowsAnswers = connection.proxyUrl !== undefined || dial !== undefined;
    return {
      client,
      async probe(signal) {
        // an API on its way up is asked many times before anybody listens there
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
