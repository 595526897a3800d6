import { type Cluster, type Machine, upgradeStepAnnotation } from '../../../../api/index.ts';
import { isDeleting } from '../../../shared/index.ts';
import type { MachineHealth } from '../health/machine-health.ts';
import { marksConditions } from '../names.ts';
import type { MachinePlane } from '../provider.ts';
import { judgeAddition, judgeRemoval, type MemberView } from './quorum.ts';

export interface PreflightInput {
  cluster: Cluster;
  controlPlane: MachinePlane;
  machines: readonly Machine[];
  health: ReadonlyMap<string, MachineHealth>;
  /** undefined until etcd has answered; empty for external etcd */
  members: readonly MemberView[] | undefined;
  etcdManaged: boolean;
  certificatesAvailable: boolean;
  /** names of members without a machine */
  unknownMembers: readonly string[];
}

/** Reasons why a change must wait: short upstream texts for the condition, and details. */
export interface PreflightProblems {
  summary: string[];
  details: string[];
}

export type PlannedChange =
  | { kind: 'add'; replacesRemediated: boolean; replacesLast: boolean }
  | { kind: 'remove'; machine: Machine };

const texts = {
  deleting: 'waiting for a control plane Machine to complete deletion',
  certificates: 'cluster certificates are missing or unknown',
  components: 'waiting for control plane components to become healthy',
  etcd: 'waiting for etcd cluster to become healthy',
};

/** Returns the version a topology wants to roll out first; undefined if there is none. */
export function pendingTopologyVersion(cluster: Cluster, controlPlane: MachinePlane): string | undefined {
  const { topology } = cluster.spec;
  if (!topology || topology.version === controlPlane.spec.version) return undefined;
  const step = cluster.metadata.annotations?.[upgradeStepAnnotation];
  if (step === controlPlane.spec.version) return undefined;
  return step || topology.version;
}

/**
 * Lists the reasons against a change; empty if it may start. Only one change runs at a time, and only on a healthy
 * control plane.
 */
export function preflightProblems(input: PreflightInput, change: PlannedChange): PreflightProblems {
  const problems: PreflightProblems = { summary: [], details: [] };
  const report = (summary: string, detail = summary): void => {
    if (!problems.summary.includes(summary)) problems.summary.push(summary);
    problems.details.push(detail);
  };
  const version = pendingTopologyVersion(input.cluster, input.controlPlane);
  if (version !== undefined) {
    report(`waiting for a version upgrade to ${version} to be propagated`);
    return problems;
  }
  if (change.kind === 'add' && !input.certificatesAvailable) {
    report(texts.certificates);
    return problems;
  }
  const going = input.machines.filter(isDeleting);
  const mayBeGoing = change.kind === 'add' && change.replacesLast;
  if (going.length > 0 && !mayBeGoing) {
    report(texts.deleting, `Machine ${going.map(({ metadata }) => metadata.name).join(', ')} is being deleted`);
    return problems;
  }
  if (change.kind === 'add' && change.replacesRemediated) checkEnoughIsLeft(input, report);
  else checkAllIsWell(input, change, report);
  return problems;
}

type Report = (summary: string, detail?: string) => void;

function checkAllIsWell(input: PreflightInput, change: PlannedChange, report: Report): void {
  for (const machine of input.machines) {
    const name = machine.metadata.name ?? '';
    if (change.kind === 'remove' && change.machine.metadata.name === name) continue;
    const health = input.health.get(name);
    if (!health?.nodeName) {
      const detail = `Machine ${name} does not have a corresponding Node yet (Machine.status.nodeRef not set)`;
      report(texts.components, detail);
      if (input.etcdManaged) report(texts.etcd, detail);
      continue;
    }
    if (!health.componentsHealthy) report(texts.components, describe(name, health, 'components'));
    if (input.etcdManaged && !health.memberHealthy) report(texts.etcd, describe(name, health, 'member'));
  }
  if (!input.etcdManaged) return;
  if (!input.members) {
    report(texts.etcd, 'the members of etcd are not known');
    return;
  }
  for (const stranger of input.unknownMembers) {
    report(texts.etcd, `etcd member ${stranger} does not have a corresponding Machine`);
  }
  const judgement =
    change.kind === 'add'
      ? judgeAddition(input.members)
      : judgeRemoval(input.members, memberIdOf(input, change.machine));
  if (!judgement.safe) report(texts.etcd, judgement.problem);
}

/**
 * Checks that enough machines stay healthy. After a remediation, other machines may be unhealthy too; waiting for all
 * of them could block the repair.
 */
function checkEnoughIsLeft(input: PreflightInput, report: Report): void {
  const well = input.machines.filter(({ metadata }) => input.health.get(metadata.name ?? '')?.componentsHealthy);
  if (well.length === 0) report(texts.components, 'no control plane Machine has all its components healthy');
  if (!input.etcdManaged) return;
  if (!input.members) {
    report(texts.etcd, 'the members of etcd are not known');
    return;
  }
  const judgement = judgeAddition(input.members);
  if (!judgement.safe) report(texts.etcd, judgement.problem);
}

function memberIdOf({ health }: PreflightInput, machine: Machine): string {
  return health.get(machine.metadata.name ?? '')?.member?.id ?? '';
}

const marks: readonly string[] = Object.values(marksConditions);

function describe(name: string, health: MachineHealth, what: 'components' | 'member'): string {
  const lines: string[] = [];
  for (const [type, verdict] of health.verdicts) {
    if ((type === 'EtcdMemberHealthy') !== (what === 'member')) continue;
    if (verdict.status !== 'True' && !marks.includes(type)) {
      lines.push(
        `Machine ${name} reports ${type} condition is ${verdict.status.toLowerCase()} (${verdict.message ?? ''})`,
      );
    }
  }
  return lines.join(', ');
}
