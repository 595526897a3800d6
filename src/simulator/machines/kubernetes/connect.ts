import { ApiUnreachableError, type Client } from '../../../client/index.ts';
import type { ApiCredentials, ReachableApi, WorkloadCluster } from '../../../simkube/index.ts';
import { clusterOfApi, dialWords, type KubeconfigFacts, serverAddress } from '../../../simkube/index.ts';
import type { RunningMachine } from '../types.ts';

/** An API server reached from a machine through the network. */
export interface ReachedApi {
  readonly api: ReachableApi;
  /** undefined: the cluster is not in this process */
  readonly cluster: WorkloadCluster | undefined;
}

/** Finds an API server through the network. Throws ApiUnreachableError with the message of Go's dialer. */
export function reachApi(machine: RunningMachine, host: string, port: number): ReachedApi {
  let api: ReachableApi | undefined;
  try {
    api = machine.network.dial(host, port, machine).api;
  } catch (cause) {
    throw new ApiUnreachableError(`dial tcp ${host}:${port}: ${dialWords(cause)}`, { cause });
  }
  if (!api) {
    throw new ApiUnreachableError(
      `Get "https://${host}:${port}/": net/http: HTTP/1.x transport connection broken: malformed HTTP response`,
    );
  }
  return { api, cluster: clusterOfApi(api) };
}

/** Builds a client with the credentials of a kubeconfig. */
export function connectWith(machine: RunningMachine, facts: KubeconfigFacts): { client: Client; reached: ReachedApi } {
  const { host, port } = serverAddress(facts.server);
  const reached = reachApi(machine, host, port);
  return { client: connectTo(reached.api, { ...facts, serverName: host }), reached };
}

export function connectTo(
  api: ReachableApi,
  facts: Pick<KubeconfigFacts, 'certificateAuthority' | 'clientCertificate' | 'token'> & { serverName: string },
): Client {
  const { certificateAuthority, clientCertificate, token, serverName } = facts;
  const credentials: ApiCredentials = {
    certificateAuthority,
    serverName,
    ...(clientCertificate && { clientCertificate }),
    ...(token !== undefined && { token }),
  };
  return api.connect(credentials);
}
