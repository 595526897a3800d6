import { type Cluster, Clusters, type Machine } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../../shared/index.ts';

/** On a Cluster, with the uid of a deleted Machine behind it: the Node that is to be deleted when the workload API answers. */
const leftNodePrefix = 'left-nodes.capstan.dev';
/** Annotations of one object have a limit, and no deletion may fail for it. */
const mostLeftNodes = 500;

/** A Node whose Machine and server are gone. */
export interface LeftNode {
  /** the annotation that remembers it */
  readonly annotation: string;
  readonly name: string;
  readonly providerID?: string;
}

/** Remembers the Node of a machine where it survives the machine and us. False when there are too many. */
export async function rememberLeftNode(
  { client, signal }: ReconcileContext,
  cluster: Cluster,
  machine: Machine,
): Promise<boolean> {
  if (leftNodes(cluster).length >= mostLeftNodes) return false;
  const name = machine.status?.nodeRef?.name ?? machine.metadata.name ?? '';
  const value = [name, ...(machine.spec.providerID === undefined ? [] : [machine.spec.providerID])].join(' ');
  const annotations = { [`${leftNodePrefix}/${machine.metadata.uid}`]: value };
  await client
    .patch(Clusters, objectKey(cluster), 'merge', { metadata: { annotations } }, { fieldManager, signal })
    .catch(ignoreNotFound);
  return true;
}

/** The Nodes that are still to be deleted. */
export function leftNodes({ metadata }: Cluster): LeftNode[] {
  return Object.entries(metadata.annotations ?? {})
    .filter(([annotation]) => annotation.startsWith(`${leftNodePrefix}/`))
    .map(([annotation, value]) => {
      const [name = '', providerID] = value.split(' ');
      return { annotation, name, ...(providerID !== undefined && { providerID }) };
    });
}

/** Says that a Node is gone; the caller writes the cluster. */
export function forgetLeftNode({ metadata }: Cluster, { annotation }: LeftNode): void {
  const { [annotation]: _, ...others } = metadata.annotations ?? {};
  metadata.annotations = others;
}
