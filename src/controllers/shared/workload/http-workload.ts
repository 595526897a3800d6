import { httpClient, portForward } from '../../../client/index.ts';
import { workloadConnection } from './kubeconfig-connection.ts';
import type { ConnectWorkload } from './types.ts';

const requestTimeoutMs = 10_000;

/** The ordinary way to a workload API: over HTTPS with what its kubeconfig says. */
export function connectOverHttp(options: { userAgent?: string } = {}): ConnectWorkload {
  return async (kubeconfig, cluster) => {
    const connection = workloadConnection(kubeconfig, `of cluster ${cluster.name}`);
    const client = httpClient(connection, {
      requestTimeoutMs,
      // the caller comes back by itself: trying on inside a request would only hold up a worker
      maxAttempts: 1,
      ...(options.userAgent !== undefined && { userAgent: options.userAgent }),
    });
    return {
      client,
      async probe(signal) {
        await client.raw('/', { signal });
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
