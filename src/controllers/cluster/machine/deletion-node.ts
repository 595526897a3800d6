import { controlPlaneGroup, type MachineDrainRule, type Node, Nodes } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { formatTime, ignoreNotFound, must, parseRfc3339 } from '../../../machinery/index.ts';
import { after } from '../../../runtime/index.ts';
import {
  cleanupHooks,
  controlPlaneLabel,
  excludeNodeDrainingAnnotation,
  excludeVolumeDetachAnnotation,
  explain,
  isNotConnected,
  isOf,
  latestOf,
} from '../../shared/index.ts';
import { defaultGracePeriodMs } from '../common/dependencies.ts';
import { begin, type DeletionStep } from './deletion-step.ts';
import { decisions, drainNode, isUnreachable } from './drain/drain-node.ts';
import { drainMessage, isDrained } from './drain/plan.ts';
import { attachedVolumes, volumesMessage } from './drain/volumes.ts';
import { lossOf } from './lost-server.ts';
import type { MachineScope } from './scope.ts';

/** Terminating Pods are checked sooner than Pods whose eviction is refused. */
const terminatingRetryMs = 5_000;
const refusedRetryMs = 20_000;
const volumeRetryMs = 20_000;

type Rules = () => Promise<MachineDrainRule[]>;

/** Drains the Node within nodeDrainTimeoutSeconds. */
export async function drainPhase(scope: MachineScope, rules: Rules): Promise<DeletionStep> {
  const { machine, context, cluster, dependencies } = scope;
  if (!mayUseNode(scope, excludeNodeDrainingAnnotation)) return 'done';
  const { nodeDrainStartTime } = machine.status?.deletion ?? {};
  if (isOver(nodeDrainStartTime, machine.spec.deletion?.nodeDrainTimeoutSeconds, context.clock.now())) return 'done';
  if (nodeDrainStartTime === undefined) {
    // persist the start before the first eviction, so that the timeout survives a restart
    begin(machine, 'nodeDrainStartTime', context.clock.now());
    const startedAt = formatTime(context.clock.now());
    return { wait: after(0, 'draining begins'), ...draining(`Drain not completed yet (started at ${startedAt}):`) };
  }
  try {
    const node = await readNode(scope);
    if (!node) return 'done';
    const progress = await drainNode({
      workload: dependencies.workloads.client(objectKey(must(cluster, 'cluster'))),
      rules: await rules(),
      machine,
      cluster,
      node,
      clock: context.clock,
      signal: context.signal,
    });
    if (!isDrained(progress)) {
      const soon = progress.terminating.length > 0 && progress.refused.size === 0;
      return {
        wait: after(soon ? terminatingRetryMs : refusedRetryMs, 'Pods are still on the Node'),
        ...draining(drainMessage(progress, nodeDrainStartTime)),
      };
    }
    if (!machine.status?.deletion?.waitForNodeVolumeDetachStartTime) {
      context.events.event(
        machine,
        'Normal',
        'SuccessfulDrainNode',
        `success draining Machine's node "${machine.status?.nodeRef?.name}"`,
      );
    }
    return 'done';
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (isNotConnected(error) && isLost(scope, nodeDrainStartTime)) {
      const name = machine.status?.nodeRef?.name;
      context.events.event(machine, 'Warning', 'SkippedDrainNode', `Node "${name}" is not drained: ${explain(error)}`);
      return 'done';
    }
    context.events.event(
      machine,
      'Warning',
      'FailedDrainNode',
      `error draining Machine's node "${machine.status?.nodeRef?.name}": ${explain(error)}`,
    );
    return { wait: after(refusedRetryMs, 'draining failed'), ...draining(`Error draining Node: ${explain(error)}`) };
  }
}

const draining = (message: string): { reason: string; message: string } => ({ reason: 'DrainingNode', message });

/** Waits until volumes are detached from the Node: a volume of a deleted machine is hard to move. */
export async function volumePhase(scope: MachineScope, rules: Rules): Promise<DeletionStep> {
  const { machine, context, cluster, dependencies } = scope;
  if (!mayUseNode(scope, excludeVolumeDetachAnnotation)) return 'done';
  const reason = 'WaitingForVolumeDetach';
  const started = machine.status?.deletion?.waitForNodeVolumeDetachStartTime;
  const limit = machine.spec.deletion?.nodeVolumeDetachTimeoutSeconds;
  if (isOver(started, limit, context.clock.now())) return 'done';
  try {
    const node = await readNode(scope);
    if (!node || isUnreachable(node)) return 'done';
    const workload = dependencies.workloads.client(objectKey(must(cluster, 'cluster')));
    const skipped = async () => {
      const options = {
        workload,
        rules: await rules(),
        machine,
        cluster,
        node,
        clock: context.clock,
        signal: context.signal,
      };
      const all = await decisions(options, { unreachable: false });
      return all.filter(({ behavior }) => behavior === 'Skip').map(({ pod }) => pod);
    };
    const volumes = await attachedVolumes(workload, node, skipped, context.signal);
    if (!volumes) {
      if (started !== undefined) {
        context.events.event(
          machine,
          'Normal',
          'NodeVolumesDetached',
          `success waiting for node volumes detaching Machine's node "${node.metadata.name}"`,
        );
      }
      return 'done';
    }
    begin(machine, 'waitForNodeVolumeDetachStartTime', context.clock.now());
    const since = started ?? formatTime(context.clock.now());
    return {
      wait: after(volumeRetryMs, 'volumes are still attached'),
      reason,
      message: volumesMessage(volumes, since),
    };
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (isNotConnected(error) && isLost(scope, started ?? machine.status?.deletion?.nodeDrainStartTime)) return 'done';
    begin(machine, 'waitForNodeVolumeDetachStartTime', context.clock.now());
    const message = `Error waiting for volumes to be detached from Node: ${explain(error)}`;
    context.events.event(
      machine,
      'Warning',
      'FailedWaitForVolumeDetach',
      `error waiting for node volumes detaching, Machine's node "${machine.status?.nodeRef?.name}": ${explain(error)}`,
    );
    return { wait: after(volumeRetryMs, 'volumes cannot be looked at'), reason, message };
  }
}

/**
 * Tells whether Node steps still make sense: not once the infrastructure is gone, or the control plane has removed the
 * etcd member.
 */
function mayUseNode({ machine, infrastructure }: MachineScope, exclusion: string): boolean {
  const annotations = machine.metadata.annotations ?? {};
  if (annotations[exclusion] !== undefined) return false;
  if (infrastructure.state === 'missing' || lossOf(infrastructure) !== undefined) return false;
  if (infrastructure.state === 'found' && infrastructure.provider.object.metadata.deletionTimestamp !== undefined) {
    return false;
  }
  if (machine.metadata.labels?.[controlPlaneLabel] === undefined) return true;
  const hook = Object.entries(cleanupHooks).find(([kind]) =>
    machine.metadata.ownerReferences?.some((owner) =>
      isOf(owner, { group: controlPlaneGroup, kind, version: '', plural: '', namespaced: true }),
    ),
  )?.[1];
  // the hook is removed after the etcd member; this machine's API server then no longer answers for its Node
  return hook === undefined || annotations[hook] !== undefined;
}

/** Tells whether the workload API has been unreachable for so long that the deletion stops waiting. */
function isLost({ dependencies, cluster, context }: MachineScope, since: string | undefined): boolean {
  const { lastSuccess } = dependencies.workloads.state(objectKey(must(cluster, 'cluster')));
  const patience = dependencies.remoteConditionsGracePeriodMs ?? defaultGracePeriodMs;
  return context.clock.now() - Math.max(lastSuccess, latestOf(since)) >= patience && since !== undefined;
}

function isOver(started: string | undefined, limitSeconds: number | undefined, nowMs: number): boolean {
  if (started === undefined || limitSeconds === undefined || limitSeconds <= 0) return false;
  return nowMs - (parseRfc3339(started) ?? nowMs) >= limitSeconds * 1000;
}

/** Reads the Node from the API: these decisions must not use a stale cache. */
async function readNode({ machine, cluster, dependencies, context }: MachineScope): Promise<Node | undefined> {
  const name = machine.status?.nodeRef?.name;
  if (name === undefined || !cluster) return undefined;
  const workload = dependencies.workloads.client(objectKey(cluster));
  return await workload.get(Nodes, { name }, { signal: context.signal }).catch(ignoreNotFound);
}
