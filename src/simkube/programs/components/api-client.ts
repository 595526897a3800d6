import type { Client } from '../../../client/index.ts';
import { ApiUnreachableError } from '../../../client/index.ts';
import { clusterOfApi } from '../../cluster/api-instance.ts';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import { dialWords } from '../../dial-words.ts';
import { type KubeconfigFacts, readKubeconfig, serverAddress } from '../../kubeconfigs.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { ReachableApi } from '../../types.ts';
import { ProgramFailure } from '../failure.ts';

/** An API reached through a kubeconfig. */
export interface ReachedApi {
  readonly api: ReachableApi;
  readonly client: Client;
  readonly cluster: WorkloadCluster;
}

/**
 * Connects to the API of a kubeconfig as its user. Every call is routed again and throws like Go's client. The file is
 * parsed again only after a change, and a handshake happens only with a new API.
 */
export function kubeconfigWay(process: SimulatedProcess, path: string): () => ReachedApi {
  let known: { readonly text: string; readonly facts: KubeconfigFacts } | undefined;
  let reached: ReachedApi | undefined;
  return () => {
    const text = process.files.read(path);
    if (text === undefined) throw new ProgramFailure(`Error: stat ${path}: no such file or directory`);
    if (known?.text !== text) {
      known = { text, facts: readFacts(process, path, text) };
      reached = undefined;
    }
    const { facts } = known;
    const { host, port } = serverAddress(facts.server);
    const api = dialApi(process, facts.server, host, port);
    if (reached?.api !== api) reached = enter(api, facts, host);
    return reached;
  };
}

function readFacts({ files }: SimulatedProcess, path: string, text: string): KubeconfigFacts {
  const facts = readKubeconfig(text, files);
  if (facts) return facts;
  throw new ProgramFailure(`Error: error loading config file "${path}": no configuration has been provided`);
}

function dialApi(process: SimulatedProcess, server: string, host: string, port: number): ReachableApi {
  let api: ReachableApi | undefined;
  try {
    api = process.dial(host, port).api;
  } catch (cause) {
    throw new ApiUnreachableError(`Get "${server}/": dial tcp ${host}:${port}: ${dialWords(cause)}`, { cause });
  }
  if (!api) throw new ApiUnreachableError(`Get "${server}/": EOF`);
  return api;
}

function enter(api: ReachableApi, facts: KubeconfigFacts, host: string): ReachedApi {
  const cluster = clusterOfApi(api);
  if (!cluster) throw new ApiUnreachableError(`Get "${facts.server}/": EOF`);
  const { certificateAuthority, clientCertificate, token } = facts;
  const client = api.connect({
    certificateAuthority,
    serverName: facts.tlsServerName ?? host,
    ...(clientCertificate && { clientCertificate }),
    ...(token !== undefined && { token }),
  });
  return { api, client, cluster };
}
