import { withLeadingV } from '../../api/index.ts';
import { CapstanError } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { describeCommand } from '../no-such-cluster.ts';
import { editTopology, printChanges } from '../topology/edit-cluster.ts';

export interface UpgradeClusterOptions extends ConnectionOptions {
  version?: string;
  class?: string;
  dryRun?: boolean;
}

/** Changes the Kubernetes version, the class, or both of a topology in one write. */
export async function upgradeCluster(
  options: UpgradeClusterOptions,
  context: CommandContext,
  name: string,
): Promise<number> {
  const { version, class: className } = options;
  const dryRun = options.dryRun ?? false;
  if (version === undefined && className === undefined) {
    throw new CapstanError('CAP_USAGE', 'name a version or a class to upgrade to', {
      hint: 'write --version v1.33.6, --class NAME, or both',
    });
  }
  return await withConnection(options, context, async (connection) => {
    const changes = await editTopology(
      connection,
      name,
      (topology) => {
        const before = { version: topology.version, name: topology.classRef.name };
        if (version !== undefined) topology.version = withLeadingV(version);
        if (className !== undefined) topology.classRef = { ...topology.classRef, name: className };
        return [
          ...(className === undefined ? [] : [{ what: 'class', from: before.name, to: className }]),
          ...(version === undefined ? [] : [{ what: 'version', from: before.version, to: topology.version }]),
        ];
      },
      { dryRun, signal: context.signal },
    );
    printChanges(context, name, changes, dryRun);
    if (!dryRun) context.stderr(`${describeCommand(name, connection.namespace)} shows how far it is\n`);
    return 0;
  });
}
