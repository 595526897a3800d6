import type { Cluster, Machine, MachineHealthCheck, Node } from '../../../api/index.ts';
import { formatDuration, parseRfc3339 } from '../../../machinery/index.ts';
import {
  conditionOf,
  controlPlaneLabel,
  infrastructureGoneReason,
  isDeleting,
  isTrue,
  type LegacyVerdict,
  latestOf,
  legacyFalse,
  remediateMachineAnnotation,
  type Verdict,
} from '../../shared/index.ts';

/** The Node of a machine; 'deleted' if it is gone, undefined if there was none yet. */
export type TargetNode = Node | 'deleted' | undefined;

export type Health =
  | { state: 'healthy' }
  | { state: 'unhealthy'; verdict: Verdict; legacy: LegacyVerdict }
  /** unhealthy after this time unless something changes */
  | { state: 'pending'; inMs: number }
  /** not judged: too new, or being deleted */
  | { state: 'unknown' };

const defaultStartupSeconds = 600;
/** Added to deadlines, so that they have certainly passed at the next reconcile. */
const lateMs = 1_000;

export function evaluateTarget(
  check: MachineHealthCheck,
  cluster: Cluster,
  machine: Machine,
  node: TargetNode,
  nowMs: number,
): Health {
  if (machine.metadata.annotations?.[remediateMachineAnnotation] !== undefined) {
    return {
      state: 'unhealthy',
      verdict: {
        status: 'False',
        reason: 'HasRemediateAnnotation',
        message: 'Health check failed: marked for remediation via cluster.x-k8s.io/remediate-machine annotation',
      },
      legacy: legacyFalse(
        'HasRemediateMachineAnnotation',
        'Warning',
        'Marked for remediation via remediate-machine annotation',
      ),
    };
  }
  const infrastructure = conditionOf(machine, 'InfrastructureReady');
  // a server that is permanently gone is unhealthy at once, without a timeout
  if (
    infrastructure?.status === 'False' &&
    infrastructure.reason === infrastructureGoneReason &&
    !isDeleting(machine)
  ) {
    const { message } = infrastructure;
    return {
      state: 'unhealthy',
      verdict: { status: 'False', reason: infrastructureGoneReason, message },
      legacy: legacyFalse(infrastructureGoneReason, 'Warning', message),
    };
  }
  const ofControlPlane = machine.metadata.labels?.[controlPlaneLabel] !== undefined;
  if (!isTrue(cluster, 'ControlPlaneInitialized') && !ofControlPlane) return { state: 'unknown' };
  if (!isTrue(cluster, 'InfrastructureReady')) return { state: 'unknown' };

  const machineFindings = checkConditions(check.spec.checks?.unhealthyMachineConditions, 'Machine', nowMs, (type) =>
    conditionOf(machine, type),
  );
  const nodeFindings = checkNode(check, cluster, machine, node, nowMs);
  const problems = [...machineFindings.problems, ...nodeFindings.problems];
  if (problems.length > 0) {
    const first = machineFindings.problems.length > 0 ? 'UnhealthyMachine' : nodeFindings.reason;
    const legacyReason = first === 'NodeDeleted' ? 'NodeNotFound' : first;
    return {
      state: 'unhealthy',
      verdict: {
        status: 'False',
        reason: first,
        message: `Health check failed:\n${problems.map((problem) => `  * ${problem}`).join('\n')}`,
      },
      legacy: legacyFalse(legacyReason, 'Warning', first === 'NodeDeleted' ? '' : problems.join('; ')),
    };
  }
  const next = Math.min(machineFindings.nextMs, nodeFindings.nextMs);
  if (Number.isFinite(next)) return { state: 'pending', inMs: next };
  return isDeleting(machine) || node === undefined ? { state: 'unknown' } : { state: 'healthy' };
}

interface Findings {
  problems: string[];
  nextMs: number;
}

interface Watched {
  type: string;
  status: string;
  timeoutSeconds: number;
}

interface Reported {
  status: string;
  reason?: string;
  lastTransitionTime?: string | null;
}

function checkConditions(
  watched: readonly Watched[] | undefined,
  on: 'Machine' | 'Node',
  nowMs: number,
  find: (type: string) => Reported | undefined,
): Findings {
  const findings: Findings = { problems: [], nextMs: Number.POSITIVE_INFINITY };
  for (const { type, status, timeoutSeconds } of watched ?? []) {
    const condition = find(type);
    if (condition?.status !== status) continue;
    const since = parseRfc3339(condition.lastTransitionTime ?? '') ?? nowMs;
    const left = since + timeoutSeconds * 1000 - nowMs;
    if (left >= 0) {
      findings.nextMs = Math.min(findings.nextMs, left + lateMs);
      continue;
    }
    findings.problems.push(
      `Condition ${type} on ${on} is reporting status ${status} with reason ${condition.reason ?? ''} for more than ${formatDuration(timeoutSeconds * 1000)}`,
    );
  }
  return findings;
}

function checkNode(
  check: MachineHealthCheck,
  cluster: Cluster,
  machine: Machine,
  node: TargetNode,
  nowMs: number,
): Findings & { reason: string } {
  const { checks } = check.spec;
  if (node === 'deleted') {
    const problem = `Node ${machine.status?.nodeRef?.name} has been deleted`;
    return { reason: 'NodeDeleted', problems: [problem], nextMs: Number.POSITIVE_INFINITY };
  }
  if (node !== undefined) {
    const findings = checkConditions(checks?.unhealthyNodeConditions, 'Node', nowMs, (type) =>
      node.status?.conditions?.find((condition) => condition.type === type),
    );
    return { ...findings, reason: 'UnhealthyNode' };
  }
  const limitSeconds = checks?.nodeStartupTimeoutSeconds ?? defaultStartupSeconds;
  const none = { reason: '', problems: [], nextMs: Number.POSITIVE_INFINITY };
  if (limitSeconds === 0) return none;
  const whenTrue = (object: Cluster | Machine, type: string): string | undefined =>
    isTrue(object, type) ? conditionOf(object, type)?.lastTransitionTime : undefined;
  const begin = latestOf(
    machine.metadata.creationTimestamp,
    whenTrue(cluster, 'ControlPlaneInitialized'),
    whenTrue(cluster, 'InfrastructureReady'),
    whenTrue(machine, 'InfrastructureReady'),
  );
  const left = begin + limitSeconds * 1000 - nowMs;
  if (left >= 0) return { ...none, nextMs: left + lateMs };
  return {
    ...none,
    reason: 'NodeStartupTimeout',
    problems: [`Node failed to report startup in ${formatDuration(limitSeconds * 1000)}`],
  };
}
