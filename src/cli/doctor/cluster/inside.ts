import { Secrets } from '../../../api/index.ts';
import { type ConnectionConfig, httpClient } from '../../../client/index.ts';
import { workloadConnection } from '../../../controllers/index.ts';
import { CapstanError, ignoreNotFound } from '../../../machinery/index.ts';
import { reachableKubeconfig } from '../../reachable-kubeconfig.ts';
import type { ManagedCluster, RunningCluster } from './subject.ts';

const requestTimeoutMs = 20_000;

export async function workloadConfig(
  { client, namespace, name }: ManagedCluster,
  signal: AbortSignal,
): Promise<ConnectionConfig> {
  const key = { namespace, name: `${name}-kubeconfig` };
  const secret = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
  const value = secret?.data?.['value'];
  if (value === undefined) {
    const message = `the Secret ${namespace}/${key.name} does not exist: the control plane is not that far yet`;
    throw new CapstanError('CAP_KUBECONFIG_NOT_YET', message);
  }
  const text = Buffer.from(value, 'base64').toString();
  return workloadConnection(await reachableKubeconfig(client, namespace, text, signal), `of cluster ${name}`);
}

/** Connects to the API of a cluster, runs the work, and always closes the connections. */
export async function inside<T>(
  subject: ManagedCluster,
  { config, authUrl }: { config: ConnectionConfig; authUrl: string | undefined },
  look: (running: RunningCluster) => Promise<T>,
): Promise<T> {
  const workload = httpClient(config, { maxAttempts: 2, requestTimeoutMs });
  try {
    const read = async (path: string, signal: AbortSignal): Promise<string> =>
      (await workload.raw(path, { signal })).body;
    return await look({ ...subject, workload, read, authUrl });
  } finally {
    await workload.close();
  }
}
