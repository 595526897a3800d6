import { asJson, formatJson, formatYaml, humanDuration, parseRfc3339 } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { conditionsOf, findCondition } from '../describe/conditions.ts';
import { type AnyObject, numberAt, textAt } from '../describe/fields.ts';
import { span, type Tone } from '../output/colour.ts';
import { renderTable } from '../output/table.ts';

export interface GetClustersOptions extends ConnectionOptions {
  allNamespaces?: boolean;
  selector?: string;
  output: 'table' | 'name' | 'json' | 'yaml';
}

export async function getClusters(options: GetClustersOptions, context: CommandContext): Promise<number> {
  const { signal } = context;
  return await withConnection(options, context, async ({ client, mapper, namespace }) => {
    const resource = await mapper.resolve('clusters.cluster.x-k8s.io', { signal });
    const { items } = await client.list(resource, {
      signal,
      ...(!options.allNamespaces && { namespace }),
      ...(options.selector !== undefined && { labelSelector: options.selector }),
    });
    const list = { apiVersion: 'v1', kind: 'List', metadata: {}, items: asJson(items) };
    if (options.output === 'json') context.stdout(formatJson(list));
    else if (options.output === 'yaml') context.stdout(formatYaml(list));
    else if (options.output === 'name')
      for (const { metadata } of items) context.stdout(`cluster.cluster.x-k8s.io/${metadata.name ?? ''}\n`);
    else if (items.length === 0)
      context.stderr(`no clusters${options.allNamespaces ? '' : ` in the namespace "${namespace}"`}\n`);
    else
      context.stdout(
        clusterTable(items, {
          nowMs: context.clock.now(),
          colour: context.colour,
          allNamespaces: options.allNamespaces ?? false,
        }),
      );
    return 0;
  });
}

/** Prints one line per cluster: phase, availability, current and desired machines, age. */
export function clusterTable(
  clusters: readonly AnyObject[],
  options: { nowMs: number; colour: boolean; allNamespaces: boolean },
): string {
  const header = ['NAME', 'PHASE', 'AVAILABLE', 'CONTROL PLANE', 'WORKERS', 'AGE'];
  const rows = clusters.map((cluster) => {
    const { namespace = '', name = '' } = cluster.metadata;
    const available = findCondition(conditionsOf(cluster, 'modern'), 'Available')?.status ?? '';
    const created = parseRfc3339(textAt(cluster, 'metadata', 'creationTimestamp') ?? '');
    const deleting = cluster.metadata.deletionTimestamp !== undefined;
    const cells = [
      span(name, 'strong'),
      span(deleting ? 'Deleting' : (textAt(cluster, 'status', 'phase') ?? 'Pending')),
      span(available, tones[available]),
      span(replicas(cluster, 'controlPlane')),
      span(replicas(cluster, 'workers')),
      span(created === undefined ? '' : humanDuration(options.nowMs - created)),
    ];
    return [...(options.allNamespaces ? [span(namespace)] : []), ...cells].map((cell) => [cell]);
  });
  return renderTable(options.allNamespaces ? ['NAMESPACE', ...header] : header, rows, { colour: options.colour });
}

const tones: Readonly<Record<string, Tone>> = { True: 'good', False: 'bad', Unknown: 'warning' };

/** Formats `ready/wanted`; empty if the counts are unknown. */
function replicas(cluster: AnyObject, part: 'controlPlane' | 'workers'): string {
  const desired = numberAt(cluster, 'status', part, 'desiredReplicas');
  const ready = numberAt(cluster, 'status', part, 'readyReplicas');
  return desired === undefined && ready === undefined ? '' : `${ready ?? 0}/${desired ?? 0}`;
}
