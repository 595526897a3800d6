import { Clusters, LatticeClusters, OpenStackClusters, OpenStackMachines, OpenStackServers } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  type ClusterCost,
  clusterCosts,
  hoursPerMonth,
  managementAnnotation,
  type Prices,
} from '../../controllers/index.ts';
import { asJson, CapstanError, formatJson, formatYaml, ignoreNotFound } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { loadPrices } from '../load-prices.ts';
import { noSuchCluster } from '../no-such-cluster.ts';
import { span } from '../output/colour.ts';
import { renderTable } from '../output/table.ts';

export interface CostOptions extends ConnectionOptions {
  allNamespaces?: boolean;
  selector?: string;
  prices?: string;
  by: string;
  output: 'table' | 'json' | 'yaml';
}

/** One output row: a cluster, or the sum of a namespace or label. */
interface CostRow {
  readonly group: string;
  readonly clusters: number;
  readonly controlPlane: number;
  readonly workers: number;
  readonly volumes: number;
  readonly network: number;
  readonly perHour: number;
  readonly perMonth: number;
}

/** Shows the costs of clusters by cluster, namespace or label. */
export async function cost(options: CostOptions, context: CommandContext, name: string | undefined): Promise<number> {
  const prices = await loadPrices(options.prices);
  const groupOf = grouping(options.by);
  return await withConnection(options, context, async ({ client, namespace }) => {
    const scope = { signal: context.signal, ...(!options.allNamespaces && { namespace }) };
    const [clusters, openStackClusters, machines, servers] = await Promise.all([
      client.list(Clusters, { ...scope, ...(options.selector !== undefined && { labelSelector: options.selector }) }),
      client.list(OpenStackClusters, scope),
      client.list(OpenStackMachines, scope),
      client.list(OpenStackServers, scope),
    ]);
    const wanted = clusters.items.filter(({ metadata }) => name === undefined || metadata.name === name);
    if (name !== undefined && wanted.length === 0) throw noSuchCluster([name], namespace);
    const costs = clusterCosts(
      {
        clusters: wanted,
        openStackClusters: openStackClusters.items,
        machines: machines.items,
        servers: servers.items,
      },
      prices,
    );
    const others = await selfManaged(client, context.signal);
    if (options.allNamespaces && others.length > 0) {
      context.stderr(
        `capstan: warning: not counted: ${others.join(', ')}: a cluster that manages itself is counted with its own kubeconfig\n`,
      );
    }
    print(costs, { rows: rowsOf(costs, groupOf), prices, options, context });
    return 0;
  });
}

/** Lists LatticeClusters whose objects are in the cluster itself. */
async function selfManaged(client: Client, signal: AbortSignal): Promise<string[]> {
  const { items = [] } = (await client.list(LatticeClusters, { signal }).catch(ignoreNotFound)) ?? {};
  return items
    .filter(({ metadata }) => metadata.annotations?.[managementAnnotation] !== undefined)
    .map(({ metadata }) => `LatticeCluster ${metadata.name}`);
}

function grouping(by: string): (cost: ClusterCost) => string {
  if (by === 'cluster') return ({ namespace, name }) => `${namespace}/${name}`;
  if (by === 'namespace') return ({ namespace }) => namespace;
  const label = /^label=(.+)$/.exec(by)?.[1];
  if (label !== undefined) return ({ labels }) => labels[label] ?? '(none)';
  throw new CapstanError('CAP_USAGE', `--by: "${by}" is not known`, { hint: 'use cluster, namespace or label=KEY' });
}

function rowsOf(costs: readonly ClusterCost[], groupOf: (cost: ClusterCost) => string): CostRow[] {
  const groups = new Map<string, ClusterCost[]>();
  for (const one of costs) groups.set(groupOf(one), [...(groups.get(groupOf(one)) ?? []), one]);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, members]) => summed(group, members));
}

function summed(group: string, costs: readonly ClusterCost[]): CostRow {
  const sum = (part: 'controlPlane' | 'workers' | 'volumes' | 'network' | 'total'): number =>
    costs.reduce((all, one) => all + one[part], 0);
  return {
    group,
    clusters: costs.length,
    controlPlane: sum('controlPlane'),
    workers: sum('workers'),
    volumes: sum('volumes'),
    network: sum('network'),
    perHour: sum('total'),
    perMonth: sum('total') * hoursPerMonth,
  };
}

function print(
  costs: readonly ClusterCost[],
  view: { rows: readonly CostRow[]; prices: Prices; options: CostOptions; context: CommandContext },
): void {
  const { rows, prices, options, context } = view;
  const total = summed('total', costs);
  const unpriced = [...new Set(costs.flatMap((one) => one.unpriced))].sort();
  const comparison = comparisonOf(costs);
  const value = {
    currency: prices.currency,
    costs: asJson(rows),
    total: asJson(total),
    comparison: asJson(comparison),
    unpriced,
  };
  if (options.output === 'json') return context.stdout(formatJson(value));
  if (options.output === 'yaml') return context.stdout(formatYaml(value));
  if (rows.length === 0) return context.stderr('there are no clusters to count\n');
  const header = [
    options.by.replace(/^label=/, '').toUpperCase(),
    'CONTROL PLANE',
    'WORKERS',
    'VOLUMES',
    'NETWORK',
    'PER HOUR',
    'PER MONTH',
  ];
  const cells = [...rows, ...(rows.length > 1 ? [total] : [])].map((row) =>
    [
      row.group,
      ...[row.controlPlane, row.workers, row.volumes, row.network, row.perHour].map((amount) => amount.toFixed(4)),
      `${row.perMonth.toFixed(2)} ${prices.currency}`,
    ].map((text) => [span(text)]),
  );
  context.stdout(renderTable(header, cells, { colour: context.colour }));
  const { hosted, onMachines } = comparison;
  if (hosted.clusters > 0 || onMachines.clusters > 0) {
    context.stdout(
      `control planes: ${hosted.clusters} hosted in Pods for ${hosted.perMonth.toFixed(2)} ${prices.currency} of cloud per month, ` +
        `${onMachines.clusters} on machines for ${onMachines.perMonth.toFixed(2)}\n`,
    );
  }
  if (unpriced.length > 0) {
    context.stderr(
      `capstan: warning: no price for ${unpriced.join(', ')}: not in the sums; give a table with --prices\n`,
    );
  }
}

/** Compares the costs of control planes in Pods with those on machines, including load balancers. */
function comparisonOf(
  costs: readonly ClusterCost[],
): Record<'hosted' | 'onMachines', { clusters: number; perMonth: number }> {
  const part = (members: readonly ClusterCost[]) => ({
    clusters: members.length,
    perMonth: members.reduce((all, { controlPlane, network }) => all + controlPlane + network, 0) * hoursPerMonth,
  });
  return {
    hosted: part(costs.filter(({ hosted }) => hosted)),
    onMachines: part(costs.filter(({ hosted }) => !hosted)),
  };
}
