import { CapstanError } from '../../machinery/index.ts';
import type { CommandContext } from '../context.ts';
import { type DeleteClusterOptions, deleteClusters } from './delete-cluster.ts';
import { type DeleteFilesOptions, deleteFiles } from './delete-files.ts';

/** `delete cluster NAME...` or `delete -f FILE`. */
export async function deleteObjects(
  options: DeleteClusterOptions & DeleteFilesOptions,
  context: CommandContext,
  kind: string | undefined,
  names: readonly string[],
): Promise<number> {
  const byFile = options.filename !== undefined;
  if (byFile && kind !== undefined) throw usage('name a cluster or files, not both');
  if (byFile && options.wait === false) throw usage('--no-wait: with -f the rest has to wait for the clusters');
  if (byFile) return await deleteFiles(options, context);
  if (kind === undefined) throw usage('nothing is named to delete');
  if (names.length === 0) throw usage(`the name of the ${kind} is missing`);
  return await deleteClusters(options, context, [...new Set(names)]);
}

function usage(problem: string): CapstanError {
  return new CapstanError('CAP_USAGE', problem, {
    hint: 'write capstan delete cluster NAME..., or capstan delete -f FILE',
  });
}
