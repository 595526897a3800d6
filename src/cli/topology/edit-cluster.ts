import { type Cluster, Clusters, type Topology } from '../../api/index.ts';
import { CapstanError, clone, isConflict, isNotFound } from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { noSuchCluster } from '../no-such-cluster.ts';

export interface Change {
  readonly what: string;
  /** undefined for a new value */
  readonly from: string | undefined;
  /** undefined for a removed value */
  readonly to: string | undefined;
}

export interface EditOptions {
  dryRun: boolean;
  signal: AbortSignal;
}

/** Retries on conflict; more are practically never needed. */
const maxAttempts = 5;

export async function readClusterObject(
  { client, namespace }: Connection,
  name: string,
  signal: AbortSignal,
): Promise<Cluster> {
  try {
    return await client.get(Clusters, { namespace, name }, { signal });
  } catch (error) {
    throw isNotFound(error) ? noSuchCluster(name, namespace) : error;
  }
}

/** Changes only the topology of a Cluster. On conflict, the edit is repeated on the new state. */
export async function editTopology(
  connection: Connection,
  name: string,
  edit: (topology: Topology, cluster: Cluster) => Change[] | Promise<Change[]>,
  { dryRun, signal }: EditOptions,
): Promise<Change[]> {
  for (let attempt = 1; ; attempt++) {
    const cluster = await readClusterObject(connection, name, signal);
    const draft = clone(cluster);
    if (!draft.spec.topology) throw withoutTopology(name, connection.namespace);
    const changes = await edit(draft.spec.topology, cluster);
    const news = changes.filter(({ from, to }) => from !== to);
    if (news.length === 0) return changes;
    try {
      await connection.client.update(Clusters, draft, { fieldManager: 'capstan', dryRun, signal });
      return changes;
    } catch (error) {
      if (!isConflict(error) || attempt >= maxAttempts) throw error;
    }
  }
}

function withoutTopology(name: string, namespace: string): CapstanError {
  return new CapstanError('CAP_NO_TOPOLOGY', `cluster "${namespace}/${name}" has no spec.topology`, {
    hint: 'change its control plane and MachineDeployments directly, with capstan apply or kubectl',
  });
}

export function printChanges(context: CommandContext, name: string, changes: readonly Change[], dryRun: boolean): void {
  for (const { what, from, to } of changes) {
    const done = from === to ? 'unchanged' : `${from ?? 'unset'} -> ${to ?? 'removed'}`;
    context.stdout(`cluster/${name}: ${what} ${done}${dryRun ? ' (dry run)' : ''}\n`);
  }
}
