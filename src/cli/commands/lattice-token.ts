import { ConfigMaps, LatticeClusters } from '../../api/index.ts';
import { latticeCellKey, latticeManifestsPath, renewToken } from '../../controllers/index.ts';
import { CapstanError, formatTime, ignoreNotFound } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';

/** Creates a token for a cluster that its parent cannot reach, and prints the token once. */
export async function latticeToken(options: ConnectionOptions, context: CommandContext, name: string): Promise<number> {
  const { clock, signal, stdout } = context;
  return await withConnection(options, context, async ({ client }) => {
    if (!(await client.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound))) {
      throw new CapstanError('CAP_LATTICE', `there is no LatticeCluster ${name}`, {
        hint: '`kubectl get latticeclusters` lists the existing ones; run the command at the parent of the cluster',
      });
    }
    const place = await client.get(ConfigMaps, latticeCellKey, { signal }).catch(ignoreNotFound);
    const { host = '', bootstrapPort = '' } = place?.data ?? {};
    if (host === '') {
      throw new CapstanError('CAP_LATTICE', 'no cluster can connect here yet: the endpoints are not open', {
        hint: `the condition Connected of LatticeCluster ${name} says why`,
      });
    }
    const { token, expiresAt } = await renewToken(client, name, { clock, signal });
    const { namespace, name: map } = latticeCellKey;
    const url = `https://${host.includes(':') ? `[${host}]` : host}:${bootstrapPort}${latticeManifestsPath(name)}`;
    stdout(`token           ${token}\n`);
    stdout(`good until      ${formatTime(expiresAt)}, and for one certificate\n`);
    stdout(`manifests       ${url}\n`);
    stdout(
      [
        'try             at the parent, then where the cluster is reached; twice, for the kinds have to be there first:',
        `  kubectl -n ${namespace} get configmap ${map} -o jsonpath='{.data.ca\\.crt}' > lattice-ca.crt`,
        `  curl --fail --cacert lattice-ca.crt -H "Authorization: Bearer ${token}" ${url} > manifests.yaml`,
        `  kubectl --kubeconfig ${name}.kubeconfig apply --server-side --force-conflicts -f manifests.yaml`,
        '',
      ].join('\n'),
    );
    return 0;
  });
}
