import { CapstanError, isNotFound } from '../../machinery/index.ts';
import { confirmDeletion } from '../confirm-deletion.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout, withDeadline } from '../deadline.ts';
import { followCluster } from '../describe/follow-cluster.ts';
import { describeRemains, remainsOf } from '../describe/remains.ts';
import { describeCommand, noSuchCluster } from '../no-such-cluster.ts';

export interface DeleteClusterOptions extends ConnectionOptions {
  wait?: boolean;
  timeout: string;
  ignoreNotFound?: boolean;
  yes?: boolean;
}

/** Deletes clusters in parallel and by default waits until they are gone. */
export async function deleteClusters(
  options: DeleteClusterOptions,
  context: CommandContext,
  names: readonly string[],
): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  return await withConnection(options, context, async (connection) => {
    const { client, mapper, namespace } = connection;
    const clusters = await mapper.resolve('clusters.cluster.x-k8s.io', { signal: context.signal });
    const quoted = names.map((name) => `"${name}"`).join(', ');
    const what = `cluster${names.length === 1 ? '' : 's'} ${quoted} in namespace "${namespace}"`;
    await confirmDeletion(what, connection, context, options);
    const missing: string[] = [];
    for (const name of names) {
      try {
        await client.delete(clusters, { namespace, name }, { signal: context.signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        missing.push(name);
      }
    }
    // A missing cluster does not prevent waiting for the others.
    const going = names.filter((name) => !missing.includes(name));
    if (options.wait === false) {
      for (const name of going) context.stdout(`cluster.cluster.x-k8s.io "${name}" is being deleted\n`);
    } else {
      const since = context.clock.now();
      for (const name of going) {
        await untilClusterGone(connection, name, context, { timeoutMs, since });
        context.stdout(`cluster.cluster.x-k8s.io "${name}" deleted\n`);
      }
    }
    if (missing.length > 0 && options.ignoreNotFound !== true) throw noSuchCluster(missing, namespace);
    return 0;
  });
}

/** Time without progress after which the objects are checked for the reason. */
const quietMs = 15_000;

/** Waits until a deleted cluster is gone. Reports the remaining objects and, without progress, the reason. */
export async function untilClusterGone(
  connection: Connection,
  name: string,
  context: CommandContext,
  { timeoutMs, since }: { timeoutMs: number; since: number },
): Promise<void> {
  const { clock, stderr } = context;
  const leftMs = timeoutMs === 0 ? 0 : Math.max(1, since + timeoutMs - clock.now());
  const deadline = withDeadline(clock, leftMs, context.signal);
  let told = '';
  let reasons: readonly string[] = [];
  let cancel: (() => void) | undefined;
  const explain = (): void => {
    for (const reason of reasons) stderr(`  ${reason}\n`);
    cancel = clock.after(quietMs, explain);
  };
  try {
    const outcome = await followCluster(connection, name, {
      clock,
      signal: deadline.signal,
      onChange(found) {
        const remains = remainsOf(found);
        reasons = remains.reasons;
        const line = describeRemains(remains);
        if (line === told) return;
        told = line;
        stderr(`${line}\n`);
        cancel?.();
        cancel = clock.after(quietMs, explain);
      },
    });
    if (outcome === 'gone') return;
  } catch (error) {
    // It may have been deleted before the first read.
    if (error instanceof CapstanError && error.code === 'CAP_CLUSTER_NOT_FOUND') return;
    if (!deadline.timedOut()) throw error;
  } finally {
    cancel?.();
    deadline.cancel();
  }
  const waited = deadline.timedOut() ? ` after ${timeoutMs / 1000} s` : '';
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  throw new CapstanError('CAP_STILL_THERE', `cluster "${name}" is still being deleted${waited}${why}`, {
    hint: `the deletion continues; ${describeCommand(name, connection.namespace)} shows what it waits for`,
  });
}
