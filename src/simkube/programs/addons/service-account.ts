import { ApiUnreachableError, type Client } from '../../../client/index.ts';
import { rerouted } from '../../connect-in-process.ts';
import { dialWords } from '../../dial-words.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { ReachableApi } from '../../types.ts';
import { ProgramFailure } from '../failure.ts';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Client for the Pod's own cluster with its service account: client-go's in-cluster configuration. Token and CA are
 * read on each use, because kubelets renew them.
 */
export function serviceAccountClient(process: SimulatedProcess): Client {
  const { env, files } = process;
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = Number(env['KUBERNETES_SERVICE_PORT'] ?? 0);
  if (host === '' || port === 0) {
    throw new ProgramFailure(
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    );
  }
  if (files.read(`${mountPath}/token`) === undefined) {
    throw new ProgramFailure(`open ${mountPath}/token: no such file or directory`);
  }
  let current: { readonly api: ReachableApi; readonly token: string; readonly client: Client } | undefined;
  return rerouted(() => {
    const token = files.read(`${mountPath}/token`) ?? '';
    const certificateAuthority = files.read(`${mountPath}/ca.crt`);
    const api = dialApi(process, host, port);
    if (current?.api !== api || current.token !== token) {
      current = { api, token, client: api.connect({ certificateAuthority, token, serverName: host }) };
    }
    return current.client;
  });
}

function dialApi(process: SimulatedProcess, host: string, port: number): ReachableApi {
  let api: ReachableApi | undefined;
  try {
    api = process.dial(host, port).api;
  } catch (cause) {
    throw new ApiUnreachableError(`dial tcp ${host}:${port}: ${dialWords(cause)}`, { cause });
  }
  if (!api) throw new ApiUnreachableError(`Get "https://${host}:${port}/": EOF`);
  return api;
}
