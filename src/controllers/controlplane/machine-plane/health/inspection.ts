import { type Node, type Pod, Pods } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import type { EtcdView } from '../etcd/view.ts';
import { isReadyUnknown } from './static-pods.ts';

/** Result of one inspection of the workload cluster; Nodes are cached separately. */
export interface Inspection {
  at: number;
  /** key of the inspected set of Nodes */
  nodes: string;
  /** control plane Pods by name */
  pods: ReadonlyMap<string, Pod>;
  /** undefined for external etcd */
  etcd: EtcdView | undefined;
}

/** Label of all static control plane Pods. */
const controlPlanePods = 'tier=control-plane';

export async function readControlPlanePods(client: Client, signal: AbortSignal): Promise<Map<string, Pod>> {
  const list = await client.list(Pods, { namespace: 'kube-system', labelSelector: controlPlanePods, signal });
  return new Map(list.items.map((pod) => [pod.metadata.name ?? '', pod]));
}

/** Nodes whose member to query, healthy ones first; unready ones only if there are no others. */
export function nodesToAsk(nodes: readonly Node[], pods: ReadonlyMap<string, Pod>): string[] {
  const score = (node: Node): number => {
    const pod = pods.get(`etcd-${node.metadata.name}`);
    const ready = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    return isReadyUnknown(node) ? 2 : ready ? 0 : 1;
  };
  const sorted = [...nodes].sort(
    (a, b) => score(a) - score(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  );
  const talking = sorted.filter((node) => score(node) < 2);
  return (talking.length > 0 ? talking : sorted).map(({ metadata }) => metadata.name ?? '');
}
