import { formatJson, formatYaml } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { type ClusterObjects, readCluster } from '../describe/cluster-objects.ts';
import { clusterTree } from '../describe/cluster-tree.ts';
import { followCluster } from '../describe/follow-cluster.ts';
import { renderTree } from '../describe/layout.ts';
import type { TreeNode, TreeOptions } from '../describe/tree.ts';
import { treeValue } from '../describe/tree-value.ts';

export interface DescribeClusterOptions extends ConnectionOptions {
  output: 'tree' | 'json' | 'yaml';
  showConditions?: string;
  showMachinesets?: boolean;
  showTemplates?: boolean;
  showResourcesets?: boolean;
  echo?: boolean;
  grouping: boolean;
  disableGrouping?: boolean;
  v1beta1?: boolean;
  v1beta2?: boolean;
  wide?: boolean;
  color?: boolean;
  watch?: boolean;
}

const clearScreen = '\u001b[H\u001b[2J\u001b[3J';
/** Interval to refresh ages when nothing else changes. */
const tickMs = 1000;

/** Shows a cluster as a tree with ready and unready parts and the reasons. */
export async function describeCluster(
  options: DescribeClusterOptions,
  context: CommandContext,
  name: string,
): Promise<number> {
  const shown = treeOptions(options);
  const draw = drawing(options, context);
  return await withConnection(options, context, async (connection) => {
    if (!options.watch) {
      const found = await readCluster(connection, name, {
        resourceSets: shown.showResourceSets,
        signal: context.signal,
      });
      context.stdout(draw(clusterTree(found, shown)));
      return 0;
    }
    const screen = watchScreen(context, (found) => draw(clusterTree(found, shown)));
    try {
      const outcome = await followCluster(connection, name, {
        clock: context.clock,
        signal: context.signal,
        onChange: screen.show,
      });
      if (outcome === 'gone') context.stderr(`cluster "${name}" is gone\n`);
      return 0;
    } finally {
      screen.close();
    }
  });
}

function treeOptions(options: DescribeClusterOptions): TreeOptions {
  return {
    legacyConditions: options.v1beta1 === true,
    grouping: options.grouping && options.disableGrouping !== true,
    echo: options.echo ?? false,
    showMachineSets: options.showMachinesets ?? false,
    showTemplates: options.showTemplates ?? false,
    showResourceSets: options.showResourcesets ?? false,
    showConditions: (options.showConditions ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  };
}

/** Returns the formatter for trees according to the options. */
function drawing(options: DescribeClusterOptions, context: CommandContext): (tree: TreeNode) => string {
  if (options.output === 'json') return (tree) => formatJson(treeValue(tree));
  if (options.output === 'yaml') return (tree) => formatYaml(treeValue(tree));
  const colour = options.color === undefined ? context.colour : options.color && !context.env['NO_COLOR'];
  const form = options.v1beta2 ? 'replicas' : 'readiness';
  const wide = options.wide ?? false;
  return (tree) => renderTree(tree, form, { nowMs: context.clock.now(), colour, wide });
}

/** Redraws in place on a terminal; otherwise appends each picture that differs from the last. */
function watchScreen(
  { clock, interactive, stdout }: CommandContext,
  draw: (found: ClusterObjects) => string,
): { show(found: ClusterObjects): void; close(): void } {
  let cancel: (() => void) | undefined;
  let printed = '';
  const show = (found: ClusterObjects): void => {
    cancel?.();
    const text = draw(found);
    if (interactive) {
      stdout(clearScreen + text);
      cancel = clock.after(tickMs, () => show(found));
    } else if (text !== printed) {
      stdout(printed === '' ? text : `\n${text}`);
      printed = text;
    }
  };
  return { show, close: () => cancel?.() };
}
