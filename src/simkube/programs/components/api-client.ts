import type { Client } from '../../../client/index.ts';
import { ApiUnreachableError } from '../../../client/index.ts';
import { clusterOfApi } from '../../cluster/api-instance.ts';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import { dialWords } from '../../dial-words.ts';
import { readKubeconfig, serverAddress } from '../../kubeconfigs.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { ReachableApi } from '../../types.ts';
import { ProgramFailure } from '../failure.ts';

/** An API a program has reached with its kubeconfig. */
export interface ReachedApi {
  readonly api: ReachableApi;
  readonly client: Client;
  readonly cluster: WorkloadCluster;
}

/** Goes to the API a kubeconfig names, as its user; throws as Go's client does. */
export function reachByKubeconfig(process: SimulatedProcess, path: string): ReachedApi {
  const { files } = process;
  const text = files.read(path);
  if (text === undefined) throw new ProgramFailure(`Error: stat ${path}: no such file or directory`);
  const facts = readKubeconfig(text, files);
  if (!facts) {
    throw new ProgramFailure(`Error: error loading config file "${path}": no configuration has been provided`);
  }
  const { host, port } = serverAddress(facts.server);
  let api: ReachableApi | undefined;
  try {
    api = process.dial(host, port).api;
  } catch (cause) {
    throw new ApiUnreachableError(`Get "${facts.server}/": dial tcp ${host}:${port}: ${dialWords(cause)}`, { cause });
  }
  const cluster = clusterOfApi(api);
  if (!api || !cluster) throw new ApiUnreachableError(`Get "${facts.server}/": EOF`);
  const { certificateAuthority, clientCertificate, token } = facts;
  const client = api.connect({
    certificateAuthority,
    serverName: facts.tlsServerName ?? host,
    ...(clientCertificate && { clientCertificate }),
    ...(token !== undefined && { token }),
  });
  return { api, client, cluster };
}
