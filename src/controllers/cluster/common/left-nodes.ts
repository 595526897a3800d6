import { type Cluster, Clusters, type Machine } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../../shared/index.ts';

/**
 * Prefix of Cluster annotations, followed by the uid of a deleted Machine. The value names a Node to delete once the
 * workload API is reachable.
 */
const leftNodePrefix = 'left-nodes.capstan.dev';
/** Limit that keeps the annotations below the API's size limit, so that no deletion fails because of it. */
const mostLeftNodes = 500;

/** A Node whose Machine and server are deleted. */
export interface LeftNode {
  /** key of its annotation */
  readonly annotation: string;
  readonly name: string;
  readonly providerID?: string;
}

/**
 * Records the Node of a machine on the Cluster, so that it survives the machine and a restart. Returns false if the
 * limit is reached.
 */
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

/** Lists the Nodes that are still to be deleted. */
export function leftNodes({ metadata }: Cluster): LeftNode[] {
  return Object.entries(metadata.annotations ?? {})
    .filter(([annotation]) => annotation.startsWith(`${leftNodePrefix}/`))
    .map(([annotation, value]) => {
      const [name = '', providerID] = value.split(' ');
      return { annotation, name, ...(providerID !== undefined && { providerID }) };
    });
}

/** Removes the annotation of a deleted Node from the draft; the caller writes the cluster. */
export function forgetLeftNode({ metadata }: Cluster, { annotation }: LeftNode): void {
  const { [annotation]: _, ...others } = metadata.annotations ?? {};
  metadata.annotations = others;
}
