import { CapstanError, errorMessage, isNotFound, type UnstructuredObject } from '../../machinery/index.ts';
import { confirmDeletion } from '../confirm-deletion.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout, withDeadline } from '../deadline.ts';
import { whatHolds } from '../manifests/held-back.ts';
import { creationSteps, isCluster } from '../manifests/order.ts';
import { type ManifestDocument, readManifests } from '../manifests/read-manifests.ts';
import { type Target, targetOf } from '../manifests/targets.ts';
import { untilGone } from '../manifests/until-gone.ts';
import { describeDocument, filenames } from './apply.ts';
import { untilClusterGone } from './delete-cluster.ts';

export interface DeleteFilesOptions extends ConnectionOptions {
  filename?: string[];
  recursive?: boolean;
  timeout: string;
  ignoreNotFound?: boolean;
  yes?: boolean;
}

/** An existing object that a manifest names. */
interface Found {
  document: ManifestDocument;
  target: Target;
  live: UnstructuredObject;
}

/**
 * Deletes the objects of manifests and waits until they are gone. Clusters go first. Templates and credentials follow
 * only when the clusters are gone, because a cluster cannot be deleted without its credentials. Other objects go in
 * reverse order of creation, step by step.
 */
export async function deleteFiles(options: DeleteFilesOptions, context: CommandContext): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  const { documents, problems } = await readManifests(filenames(options), {
    recursive: options.recursive ?? false,
    readInput: context.readInput,
  });
  for (const { origin, message } of problems) context.stderr(`capstan: ${origin}: ${message}\n`);
  if (documents.length === 0 && problems.length === 0) {
    throw new CapstanError('CAP_USAGE', '-f: the files contain nothing to delete');
  }
  return await withConnection(options, context, async (connection) => {
    let failed = problems.length;
    const fail = (document: ManifestDocument, error: unknown): void => {
      if (context.signal.aborted) throw error;
      failed++;
      context.stderr(`capstan: ${describeDocument(document)}: ${errorMessage(error)}\n`);
    };
    const { found, missing } = await look(documents, connection, context, fail);
    if (found.length === 0) {
      if (failed > 0) return 1;
      if (options.ignoreNotFound) return 0;
      throw new CapstanError('CAP_NOTHING_THERE', `none of the objects in the files exists on ${connection.where}`, {
        hint: 'use --ignore-not-found to accept this, or --context and --namespace for another place',
      });
    }
    await confirmDeletion(
      `${count(found.length, 'object')} of ${count(documents.length, 'document')}`,
      connection,
      context,
      options,
    );
    // Already deleted by an interrupted deletion or together with another object.
    for (const document of missing) context.stderr(`${describeDocument(document)}: already gone\n`);

    const since = context.clock.now();
    const clusters = found.filter(({ document }) => isCluster(document));
    const deleting = await deleteAll(clusters, connection, context, fail);
    const left = await Promise.all(
      deleting.map(async (one) => {
        const { key } = one.target;
        const within = { ...connection, namespace: key.namespace ?? connection.namespace };
        try {
          await untilClusterGone(within, key.name, context, { timeoutMs, since });
          sayDeleted(one.target, context);
          return false;
        } catch (error) {
          fail(one.document, error);
          return true;
        }
      }),
    );
    if (deleting.length < clusters.length || left.includes(true)) {
      context.stderr('capstan: the rest stays until the clusters are gone; run the command again then\n');
      return 1;
    }
    const leftMs = timeoutMs === 0 ? 0 : Math.max(1, since + timeoutMs - context.clock.now());
    const deadline = withDeadline(context.clock, leftMs, context.signal);
    try {
      const others = found.filter(({ document }) => !isCluster(document));
      for (const step of creationSteps(others).reverse()) {
        const going = await deleteAll(step, connection, context, fail);
        for (const one of going) {
          const held = await untilGone(one.target, one.live.metadata.uid, connection, {
            clock: context.clock,
            signal: deadline.signal,
          });
          if (!held) continue;
          fail(one.document, new Error(`still there${whatHolds(held)}`));
        }
        if (deadline.signal.aborted) break;
      }
    } finally {
      deadline.cancel();
    }
    return failed === 0 ? 0 : 1;
  });
}

/** Finds the existing objects. Kinds that are not served have none. */
async function look(
  documents: readonly ManifestDocument[],
  connection: Connection,
  { signal }: CommandContext,
  fail: (document: ManifestDocument, error: unknown) => void,
): Promise<{ found: Found[]; missing: ManifestDocument[] }> {
  const found: Found[] = [];
  const missing: ManifestDocument[] = [];
  for (const document of documents) {
    try {
      const target = await targetOf(document, connection, signal);
      found.push({ document, target, live: await connection.client.get(target.resource, target.key, { signal }) });
    } catch (error) {
      if (isNotFound(error) || isUnserved(error)) missing.push(document);
      else fail(document, error);
    }
  }
  return { found, missing };
}

/** Deletes the objects, ignoring those already gone. Resolves with the objects being deleted. */
async function deleteAll(
  objects: readonly Found[],
  { client }: Connection,
  context: CommandContext,
  fail: (document: ManifestDocument, error: unknown) => void,
): Promise<Found[]> {
  const going: Found[] = [];
  for (const one of objects) {
    const { resource, key } = one.target;
    const { signal } = context;
    try {
      // Never deletes a new object with the same name.
      const preconditions =
        one.live.metadata.uid === undefined ? {} : { preconditions: { uid: one.live.metadata.uid } };
      await client.delete(resource, key, { signal, ...preconditions });
    } catch (error) {
      if (!isNotFound(error)) {
        fail(one.document, error);
        continue;
      }
    }
    going.push(one);
    if (!isCluster(one.document)) sayDeleted(one.target, context);
  }
  return going;
}

function sayDeleted({ label, key }: Target, { stdout }: CommandContext): void {
  stdout(`${label.slice(0, label.indexOf('/'))} "${key.name}" deleted\n`);
}

function isUnserved(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'CAP_UNKNOWN_RESOURCE';
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
