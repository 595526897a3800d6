import { type Node, type Pod, Pods } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import type { EtcdView } from '../etcd/view.ts';
import { isReadyUnknown } from './static-pods.ts';

/** What was asked of the workload cluster at one moment; Nodes come from a cache and are not part of it. */
export interface Inspection {
  at: number;
  /** the Nodes it was about, in one text */
  nodes: string;
  /** the Pods of the control plane, by name */
  pods: ReadonlyMap<string, Pod>;
  /** undefined for an external etcd */
  etcd: EtcdView | undefined;
}

/** This label is on all Pods of the control plane. */
const controlPlanePods = 'tier=control-plane';

export async function readControlPlanePods(client: Client, signal: AbortSignal): Promise<Map<string, Pod>> {
  const list = await client.list(Pods, { namespace: 'kube-system', labelSelector: controlPlanePods, signal });
  return new Map(list.items.map((pod) => [pod.metadata.name ?? '', pod]));
}

/** Nodes whose member is worth asking, those that look well first; silent ones only when there is nobody else. */
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
