import { CapstanError, isNotFound, type KubeObject, printable, type Resource } from '../../machinery/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { textAt } from '../describe/fields.ts';
import { describeCommand, noSuchCluster } from '../no-such-cluster.ts';
import { reachableKubeconfig } from '../reachable-kubeconfig.ts';

const secrets: Resource<KubeObject & { data?: Record<string, string> }> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

/** Prints the administrator's kubeconfig of a workload cluster from its Secret. */
export async function getKubeconfig(
  options: ConnectionOptions,
  context: CommandContext,
  name: string,
): Promise<number> {
  return await withConnection(options, context, async (connection) => {
    const { client, namespace } = connection;
    const kubeconfig = await readKubeconfig(connection, name, context.signal);
    const text = await reachableKubeconfig(client, namespace, kubeconfig, context.signal);
    // Redirected output is exact. A terminal must not interpret control characters from the Secret.
    context.stdout(context.interactive ? printable(text) : text);
    return 0;
  });
}

async function readKubeconfig(connection: Connection, name: string, signal: AbortSignal): Promise<string> {
  const { client, namespace } = connection;
  const secretName = `${name}-kubeconfig`;
  try {
    const secret = await client.get(secrets, { namespace, name: secretName }, { signal });
    const value = secret.data?.['value'];
    if (value !== undefined && value !== '') return Buffer.from(value, 'base64').toString('utf8');
    throw new CapstanError('CAP_KUBECONFIG_SECRET', `the Secret "${namespace}/${secretName}" has no key "value"`, {
      hint: 'delete the Secret; the controllers write it again',
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw await whyMissing(connection, name, signal);
  }
}

/** Explains a missing Secret: the cluster does not exist, or its control plane is not initialized yet. */
async function whyMissing(
  { client, mapper, namespace }: Connection,
  name: string,
  signal: AbortSignal,
): Promise<Error> {
  const clusters = await mapper.forKind({ group: 'cluster.x-k8s.io', kind: 'Cluster' }, { signal });
  if (!clusters) return noSuchCluster(name, namespace);
  try {
    const cluster = await client.get(clusters, { namespace, name }, { signal });
    const host = textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host');
    const phase = textAt(cluster, 'status', 'phase') ?? 'Pending';
    return new CapstanError(
      'CAP_KUBECONFIG_NOT_YET',
      `cluster "${namespace}/${name}" has no kubeconfig yet (${phase})`,
      {
        hint:
          host === undefined
            ? `it comes when the control plane has an address; ${describeCommand(name, namespace)} shows what it waits for`
            : `it comes with the control plane; ${describeCommand(name, namespace)} shows how far that is`,
      },
    );
  } catch (error) {
    if (isNotFound(error)) return noSuchCluster(name, namespace);
    throw error;
  }
}
