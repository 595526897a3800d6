import { type Machine, type Node, type NodeSystemInfo, Nodes } from '../../../api/index.ts';
import { type ObjectKey, objectKey, withOptimisticLock } from '../../../client/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import type { Result } from '../../../runtime/index.ts';
import {
  explain,
  fieldManager,
  interruptibleLabel,
  isDeleting,
  isInterruptible,
  isNotConnected,
} from '../../shared/index.ts';
import { likelyNode } from './likely-node.ts';
import { nodePatch } from './node-sync.ts';
import type { MachineScope } from './scope.ts';

/** Finds the Node of the machine, sets nodeRef and syncs metadata. */
export async function reconcileNode(scope: MachineScope): Promise<Result | undefined> {
  const { context, machine, cluster, dependencies } = scope;
  const providerId = machine.spec.providerID;
  if (providerId === undefined || !cluster) return undefined;
  const key = objectKey(cluster);
  let node: Node | undefined;
  try {
    node = findNode(scope, key, providerId);
    if (!node) {
      const likely = likelyNode(scope, dependencies.workloads.nodes(key).list());
      scope.node = { state: 'missing', ...(likely && { likely }) };
      return undefined;
    }
    scope.node = { state: 'found', node };
    link(scope, node);
    // a Node being deleted is not synced
    if (isDeleting(node)) return undefined;
    await sync(scope, key, node);
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (isNotConnected(error)) {
      scope.node = node ? { state: 'found', node } : { state: 'unreachable' };
      return undefined;
    }
    if (!node) scope.node = { state: 'failed', problem: explain(error) };
    throw error;
  }
  return undefined;
}

function findNode({ dependencies }: MachineScope, cluster: ObjectKey, providerId: string): Node | undefined {
  const found = dependencies.workloads.nodesByProviderId(cluster, providerId);
  if (found.length > 1) {
    const names = found.map(({ metadata }) => metadata.name).join(', ');
    throw new Error(`several Nodes have spec.providerID ${providerId}: ${names}`);
  }
  return found[0];
}

const zoneLabel = 'topology.kubernetes.io/zone';

function link({ machine, context }: MachineScope, node: Node): void {
  const name = node.metadata.name ?? '';
  const status = { ...machine.status };
  if (!status.nodeRef) {
    status.nodeRef = { name };
    context.log.info('Node joined', { machine: machine.metadata.name, node: name });
    context.events.event(machine, 'Normal', 'SuccessfulSetNodeRef', name);
  }
  const info = node.status?.nodeInfo as NodeSystemInfo | undefined;
  if (info && !deepEqual(status.nodeInfo, info)) status.nodeInfo = info;
  // without a requested failure domain the cloud chose one; its controller manager labels the Node with it
  const zone = node.metadata.labels?.[zoneLabel];
  if (zone !== undefined && zone !== '') status.failureDomain ??= zone;
  machine.status = status as NonNullable<Machine['status']>;
}

async function sync(scope: MachineScope, cluster: ObjectKey, node: Node): Promise<void> {
  const { context, machine, dependencies, infrastructure } = scope;
  const interruptible = infrastructure.state === 'found' && isInterruptible(infrastructure.provider);
  const { additionalSyncMachineLabels, additionalSyncMachineAnnotations } = dependencies;
  const patch = nodePatch({
    node,
    machine,
    machineSet: scope.machineSet,
    machineDeployment: scope.machineDeployment,
    interruptible,
    ...(additionalSyncMachineLabels && { additionalLabels: additionalSyncMachineLabels }),
    ...(additionalSyncMachineAnnotations && { additionalAnnotations: additionalSyncMachineAnnotations }),
  });
  if (!patch) return;
  const workload = dependencies.workloads.client(cluster);
  const stored = await workload.patch(Nodes, objectKey(node), 'merge', withOptimisticLock(patch, node), {
    fieldManager,
    signal: context.signal,
  });
  scope.node = { state: 'found', node: stored };
  if (interruptible && node.metadata.labels?.[interruptibleLabel] === undefined) {
    context.events.event(machine, 'Normal', 'SuccessfulSetInterruptibleNodeLabel', node.metadata.name ?? '');
  }
}
