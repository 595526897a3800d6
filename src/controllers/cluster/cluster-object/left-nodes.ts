import { type Node, Nodes } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { comparableProviderId, explain, isNotConnected } from '../../shared/index.ts';
import { forgetLeftNode, type LeftNode, leftNodes } from '../common/left-nodes.ts';
import type { ClusterScope } from './scope.ts';

const retryMs = 60_000;

/**
 * Deletes the Nodes of machines that were deleted while the workload API was unreachable, for example while the control
 * plane was hibernated. The deletion of a machine does not wait for its Node then, so the Cluster remembers it.
 */
export async function deleteLeftNodes(scope: ClusterScope): Promise<Result | undefined> {
  const { cluster, context, dependencies } = scope;
  const left = leftNodes(cluster);
  if (left.length === 0) return undefined;
  let current: LeftNode | undefined;
  try {
    const workload = dependencies.workloads.client(objectKey(cluster));
    const { items } = await workload.list(Nodes, { signal: context.signal });
    for (current of left) {
      const node = nodeOf(scope, current, items);
      const { name = '', uid } = node?.metadata ?? {};
      if (node) {
        const preconditions = uid === undefined ? {} : { preconditions: { uid } };
        await workload.delete(Nodes, { name }, { signal: context.signal, ...preconditions }).catch(ignoreNotFound);
        context.log.info('Node of a deleted machine was deleted', { node: name });
      }
      forgetLeftNode(cluster, current);
    }
    return undefined;
  } catch (error) {
    if (context.signal.aborted) throw error;
    // the restored connection triggers a reconcile
    if (isNotConnected(error)) return undefined;
    const what = current ? `Node ${current.name} of a deleted machine` : 'Nodes of deleted machines';
    context.events.event(cluster, 'Warning', 'FailedDeleteNode', `error deleting ${what}: ${explain(error)}`);
    return after(retryMs, `deleting ${what}`);
  }
}

/**
 * Finds the Node of the deleted server. A Node with another provider ID, or one that belongs to another machine, does
 * not match.
 */
function nodeOf({ descendants }: ClusterScope, left: LeftNode, nodes: readonly Node[]): Node | undefined {
  const machines = [...descendants.controlPlaneMachines, ...descendants.workerMachines];
  const found = nodes.find(({ metadata, spec }) =>
    spec?.providerID
      ? comparable(spec.providerID) === comparable(left.providerID)
      : metadata.name === left.name && !machines.some(({ metadata: { name } }) => name === left.name),
  );
  const isOfAnother = machines.some(({ status }) => status?.nodeRef?.name === found?.metadata.name);
  return found && !isOfAnother ? found : undefined;
}

const comparable = (providerId: string | undefined): string | undefined =>
  providerId === undefined ? undefined : comparableProviderId(providerId);
