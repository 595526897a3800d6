import { CapstanError, errorMessage, isNotFound } from '../../machinery/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout } from '../deadline.ts';
import { creationOrder, isCluster } from '../manifests/order.ts';
import { type ManifestDocument, readManifests } from '../manifests/read-manifests.ts';
import { targetOf } from '../manifests/targets.ts';
import { describeDocument, filenames } from './apply.ts';
import { untilClusterGone } from './delete-cluster.ts';

export interface DeleteFilesOptions extends ConnectionOptions {
  filename?: string[];
  recursive?: boolean;
  timeout: string;
  ignoreNotFound?: boolean;
}

/**
 * Deletes what manifests name. Clusters go first, and what they need to be taken down (templates, credentials) only when
 * they are gone: a cluster whose credentials went before it could not be taken down at all.
 */
export async function deleteFiles(options: DeleteFilesOptions, context: CommandContext): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  const { documents, problems } = await readManifests(filenames(options), {
    recursive: options.recursive ?? false,
    readInput: context.readInput,
  });
  for (const { origin, message } of problems) context.stderr(`capstan: ${origin}: ${message}\n`);
  if (documents.length === 0 && problems.length === 0) {
    throw new CapstanError('CAP_USAGE', '-f: there is nothing to delete in what was named');
  }
  return await withConnection(options, context, async (connection) => {
    let failed = problems.length;
    /** whether it went well; a failure is told and counted */
    const attempt = async (document: ManifestDocument, work: () => Promise<void>): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        if (context.signal.aborted) throw error;
        failed++;
        context.stderr(`capstan: ${describeDocument(document)}: ${errorMessage(error)}\n`);
        return isNotFound(error);
      }
    };
    const remove = (document: ManifestDocument): Promise<boolean> =>
      attempt(document, () => deleteOne(document, connection, options, context));

    let allGone = true;
    const leaving: ManifestDocument[] = [];
    for (const document of documents.filter(isCluster)) {
      if (await remove(document)) leaving.push(document);
      else allGone = false;
    }
    const since = context.clock.now();
    const left = await Promise.all(
      leaving.map((document) =>
        attempt(document, async () => {
          const { key } = await targetOf(document, connection, context.signal);
          const within = { ...connection, namespace: key.namespace ?? connection.namespace };
          await untilClusterGone(within, key.name, context, { timeoutMs, since });
        }),
      ),
    );
    if (!allGone || left.includes(false)) {
      context.stderr('capstan: the rest stays until the clusters are gone; run the command again then\n');
      return 1;
    }
    for (const document of creationOrder(documents.filter((one) => !isCluster(one))).reverse()) await remove(document);
    return failed === 0 ? 0 : 1;
  });
}

async function deleteOne(
  document: ManifestDocument,
  connection: Connection,
  { ignoreNotFound }: DeleteFilesOptions,
  context: CommandContext,
): Promise<void> {
  const { resource, key, label } = await targetOf(document, connection, context.signal);
  try {
    await connection.client.delete(resource, key, { signal: context.signal });
  } catch (error) {
    if (isNotFound(error) && ignoreNotFound) return;
    throw error;
  }
  const [kind] = label.split('/');
  context.stdout(`${kind} "${key.name}" deleted\n`);
}
