import type { Machine, Node } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import {
  type ConditionStatus,
  conditionOf,
  isDeleting,
  latestOf,
  unreadableNodes,
  type Verdict,
} from '../../shared/index.ts';
import type { MachineObservation } from './status.ts';

/** Computes NodeReady and NodeHealthy; undefined keeps the old conditions. */
export function nodeVerdicts(
  machine: Machine,
  seen: MachineObservation,
): { healthy: Verdict; ready: Verdict } | undefined {
  const { cluster, node, workload, nowMs } = seen;
  const both = (status: ConditionStatus, reason: string, message: string): { healthy: Verdict; ready: Verdict } => ({
    healthy: { status, reason, message },
    ready: { status, reason, message },
  });
  const initialized = conditionOf(cluster, 'ControlPlaneInitialized');
  if (cluster && cluster.status?.initialization?.infrastructureProvisioned !== true) {
    return both(
      'Unknown',
      'InspectionFailed',
      'Waiting for Cluster status.initialization.infrastructureProvisioned to be true',
    );
  }
  const unreadable = unreadableNodes(workload);
  if (cluster && initialized?.status !== 'True') {
    return both('Unknown', 'InspectionFailed', unreadable ?? 'Waiting for Cluster control plane to be initialized');
  }
  const known = conditionOf(machine, 'NodeReady') !== undefined && conditionOf(machine, 'NodeHealthy') !== undefined;
  const lastProbe = workload.lastSuccess === 0 ? '' : `Last successful probe at ${formatTime(workload.lastSuccess)}`;
  if (workload.lastSuccess === 0 && workload.failures < 5) {
    return known ? undefined : both('Unknown', 'ConnectionDown', 'Remote connection not established yet');
  }
  if (nowMs - Math.max(workload.lastSuccess, latestOf(initialized?.lastTransitionTime)) > seen.gracePeriodMs) {
    return both('Unknown', 'ConnectionDown', withProblem(lastProbe, workload.problem));
  }
  // the last known state is kept during the grace period, because most outages are short
  const isStale = workload.unreadable !== undefined && nowMs - workload.unreadable.since >= seen.gracePeriodMs;
  if (unreadable !== undefined && (isStale || !known)) return both('Unknown', 'InspectionFailed', unreadable);
  switch (node.state) {
    case 'unreachable':
      return known ? undefined : both('Unknown', 'ConnectionDown', withProblem(lastProbe, workload.problem));
    case 'failed':
      return both('Unknown', 'InternalError', node.problem);
    case 'found':
      return { healthy: healthOf(node.node), ready: readinessOf(node.node) };
    default:
      break;
  }
  const name = machine.status?.nodeRef?.name;
  if (isDeleting(machine)) {
    return name !== undefined
      ? both('False', 'NodeDeleted', `Node ${name} has been deleted`)
      : both('Unknown', 'NodeDoesNotExist', 'Node does not exist');
  }
  if (name !== undefined) {
    return both('False', 'NodeDeleted', `Node ${name} has been deleted while the Machine still exists`);
  }
  const { providerID } = machine.spec;
  const waiting =
    providerID !== undefined
      ? `Waiting for a Node with spec.providerID ${providerID} to exist`
      : `Waiting for ${machine.spec.infrastructureRef.kind} to report spec.providerID`;
  const likely = node.state === 'missing' ? node.likely : undefined;
  return both('Unknown', 'InspectionFailed', likely ? `${waiting}: ${cureFor(likely)}` : waiting);
}

/** Advises how to fix a Node that seems to belong to the machine but lacks its provider ID. */
function cureFor({ metadata, spec }: Node): string {
  const name = `Node ${metadata.name}`;
  return spec?.providerID
    ? `${name} has ${spec.providerID}, of an earlier server with that name; delete the Machine, which takes that Node along`
    : `${name} has none, and the cloud controller manager of the cluster has to set it; check that it is installed and runs`;
}

function withProblem(text: string, problem: string | undefined): string {
  return problem === undefined ? text : text === '' ? problem : `${text} (${problem})`;
}

const statusOf = (status: string): ConditionStatus => (status === 'True' || status === 'False' ? status : 'Unknown');

function readinessOf(node: Node): Verdict {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (!ready)
    return { status: 'Unknown', reason: 'NodeReadyUnknown', message: '* Node.Ready: Condition not yet reported' };
  const status = statusOf(ready.status);
  return {
    status,
    reason: status === 'True' ? 'NodeReady' : status === 'False' ? 'NodeNotReady' : 'NodeReadyUnknown',
    message: status !== 'True' && ready.message ? `* Node.Ready: ${ready.message}` : '',
    ...(ready.lastTransitionTime && { since: ready.lastTransitionTime }),
  };
}

const judged: readonly (readonly [string, ConditionStatus])[] = [
  ['Ready', 'True'],
  ['MemoryPressure', 'False'],
  ['DiskPressure', 'False'],
  ['PIDPressure', 'False'],
];

function healthOf(node: Node): Verdict {
  const lines: string[] = [];
  const texts = new Set<string>();
  let reported = 0;
  let bad = 0;
  let unknown = 0;
  for (const [type, good] of judged) {
    const condition = node.status?.conditions?.find((candidate) => candidate.type === type);
    if (!condition) {
      lines.push(`* Node.${type}: Condition not yet reported`);
      unknown++;
      continue;
    }
    const status = statusOf(condition.status);
    if (status === good) continue;
    const text = condition.message || `Condition is ${status}`;
    reported++;
    texts.add(text);
    lines.push(`* Node.${type}: ${text}`);
    if (status === 'Unknown') unknown++;
    else bad++;
  }
  // when the kubelet is gone, all conditions have the same text
  const message = reported > 1 && texts.size === 1 ? `* Node.AllConditions: ${[...texts][0]}` : lines.join('\n');
  if (bad > 0) return { status: 'False', reason: 'NodeNotHealthy', message };
  if (unknown > 0) return { status: 'Unknown', reason: 'NodeHealthyUnknown', message };
  return { status: 'True', reason: 'NodeHealthy' };
}
