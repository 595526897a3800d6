import type { Machine } from '../../../../api/index.ts';
import { formatTime, isJsonObject, parseRfc3339 } from '../../../../machinery/index.ts';
import { isDeleting, isTrue, isUnhealthy, remediateMachineAnnotation, type Verdict } from '../../../shared/index.ts';
import type { MachineHealth } from '../health/machine-health.ts';
import { marksConditions, remediationForAnnotation } from '../names.ts';
import type { MachinePlane, PlaneProvider } from '../provider.ts';
import { judgeRemoval, type MemberView } from './quorum.ts';
import { byAge } from './selection.ts';

/** Record of a remediation: stored on the control plane while it runs, then on the replacement machine. */
export interface RemediationRecord {
  machine: string;
  /** RFC 3339 */
  timestamp: string;
  retryCount: number;
}

/** Parses a record from an annotation; a malformed one counts as none. */
export function parseRemediation(text: string | undefined): RemediationRecord | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || typeof value['machine'] !== 'string') return undefined;
    const { machine, timestamp, retryCount } = value;
    return {
      machine,
      timestamp: typeof timestamp === 'string' ? timestamp : '',
      retryCount: typeof retryCount === 'number' ? retryCount : 0,
    };
  } catch {
    return undefined;
  }
}

export function formatRemediation({ machine, timestamp, retryCount }: RemediationRecord): string {
  return JSON.stringify({ machine, timestamp, retryCount });
}

const conditionsInOrder = [
  'EtcdMemberHealthy',
  'EtcdPodHealthy',
  'APIServerPodHealthy',
  'ControllerManagerPodHealthy',
  'SchedulerPodHealthy',
  ...Object.values(marksConditions),
];

/** Picks the machine in the worst state; replacing it helps the others most. */
export function machineToRemediate(
  concerned: readonly Machine[],
  { etcdManaged }: { etcdManaged: boolean },
): Machine | undefined {
  const types = etcdManaged ? conditionsInOrder : conditionsInOrder.slice(2);
  const criteria: ((machine: Machine) => boolean)[] = [
    ({ metadata }) => metadata.annotations?.[remediateMachineAnnotation] !== undefined,
    ({ status }) => status?.nodeRef === undefined,
    ...types.map((type) => (machine: Machine) => !isTrue(machine, type)),
  ];
  return [...concerned].sort((a, b) => {
    for (const holds of criteria) {
      const difference = Number(holds(b)) - Number(holds(a));
      if (difference !== 0) return difference;
    }
    return byAge(a, b);
  })[0];
}

export interface RemediationInput {
  provider: PlaneProvider;
  controlPlane: MachinePlane;
  machines: readonly Machine[];
  machine: Machine;
  health: ReadonlyMap<string, MachineHealth>;
  etcdManaged: boolean;
  members: readonly MemberView[] | undefined;
  initialized: boolean;
  /** version a topology wants to roll out first */
  pendingVersion: string | undefined;
  nowMs: number;
}

export type RemediationDecision =
  | { go: true; record: RemediationRecord }
  /** `untilMs`: time at which the answer changes without an event */
  | { go: false; verdict: Verdict; untilMs?: number };

const defaultMinHealthySeconds = 3600;

const defer = (message: string, untilMs?: number): RemediationDecision => ({
  go: false,
  verdict: { status: 'False', reason: 'RemediationDeferred', message },
  ...(untilMs !== undefined && { untilMs }),
});
const refuse = (message: string): RemediationDecision => ({
  go: false,
  verdict: { status: 'False', reason: 'CannotBeRemediated', message },
});

/** Decides whether an unhealthy machine may be replaced now, and as which retry. */
export function decideRemediation(input: RemediationInput): RemediationDecision {
  const { machines, machine, health, members } = input;
  const { kind } = input.provider.resource;
  if (input.pendingVersion !== undefined) {
    return defer(
      `${kind} can't remediate while waiting for a version upgrade to ${input.pendingVersion} to be propagated from Cluster.spec.topology`,
    );
  }
  const retry = retryAllowed(input);
  if (!retry.go) return retry;
  // no data can be lost before the control plane was initialized
  if (!input.initialized) return retry;
  if (machines.length <= 1) {
    return refuse(`${kind} can't remediate if current replicas are less or equal to 1`);
  }
  if (machines.some((other) => !isUnhealthy(other) && other.status?.nodeRef === undefined)) {
    return defer(`${kind} waiting for control plane Machine provisioning to complete before triggering remediation`);
  }
  if (machines.some(isDeleting) && !holdsUpDeletions(input)) {
    return defer(`${kind} waiting for control plane Machine deletion to complete before triggering remediation`);
  }
  const others = machines.filter((other) => other.metadata.name !== machine.metadata.name);
  const someoneIsWell = others.some(({ metadata }) => health.get(metadata.name ?? '')?.componentsHealthy);
  if (!input.etcdManaged)
    return someoneIsWell ? retry : dangerous(kind, 'no other Machine has all its components healthy');
  if (!members) return defer('Failed to check etcd cluster health before remediation');
  if (!someoneIsWell) return dangerous(kind, 'no other Machine has all its components healthy');
  const member = health.get(machine.metadata.name ?? '')?.member;
  const judgement = member ? judgeRemoval(members, member.id) : ({ safe: true } as const);
  return judgement.safe ? retry : dangerous(kind, judgement.problem);
}

/**
 * Tells whether the machines that are being deleted wait for this one: etcd would lose its majority if one of their members
 * left, because the member of this one does not answer. Both would wait forever if this one waited, too.
 */
function holdsUpDeletions({ machines, health, etcdManaged, members }: RemediationInput): boolean {
  if (!etcdManaged || !members) return false;
  return machines.filter(isDeleting).every(({ metadata }) => {
    const member = health.get(metadata.name ?? '')?.member;
    return member !== undefined && !judgeRemoval(members, member.id).safe;
  });
}

function dangerous(kind: string, why: string): RemediationDecision {
  return refuse(
    `${kind} can't remediate this Machine because this could result in loosing Kubernetes control plane components or in etcd quorum loss: ${why}`,
  );
}

/** Applies the retry limits. A replacement that fails early counts as another retry. */
function retryAllowed({ provider, controlPlane, machine, nowMs }: RemediationInput): RemediationDecision {
  const { kind } = provider.resource;
  const record: RemediationRecord = {
    machine: machine.metadata.name ?? '',
    timestamp: formatTime(nowMs),
    retryCount: 0,
  };
  const last = parseRemediation(machine.metadata.annotations?.[remediationForAnnotation]);
  const lastAt = last && parseRfc3339(last.timestamp);
  if (!last || lastAt === undefined) return { go: true, record };
  const {
    maxRetry,
    retryPeriodSeconds = 0,
    minHealthyPeriodSeconds,
  } = provider.settingsOf(controlPlane).remediation ?? {};
  const sameFault = lastAt + (minHealthyPeriodSeconds ?? defaultMinHealthySeconds) * 1000 > nowMs;
  if (!sameFault) return { go: true, record };
  const nextAt = lastAt + retryPeriodSeconds * 1000;
  if (nextAt > nowMs) {
    return defer(
      `${kind} can't remediate this machine because the operation already failed in the latest ${goDuration(retryPeriodSeconds)} (RetryPeriodSeconds)`,
      nextAt,
    );
  }
  if (maxRetry !== undefined && last.retryCount >= maxRetry) {
    return refuse(
      `${kind} can't remediate this machine because the operation already failed ${maxRetry} times (MaxRetry)`,
    );
  }
  return { go: true, record: { ...record, retryCount: last.retryCount + 1 } };
}

/** Formats whole seconds like Go's time.Duration. */
export function goDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
