import type { Machine, ReplicaVersion } from '../../api/index.ts';
import { parseRfc3339 } from '../../machinery/index.ts';
import { aggregate } from './condition-merge.ts';
import { conditionOf, isFalse, type Verdict } from './conditions.ts';
import { type LegacyVerdict, legacyFalse, legacyTrue } from './legacy-conditions.ts';
import { unhealthyMachinesText } from './machine-texts.ts';

/** Machines younger than this do not count as not up to date, because their condition may not be set yet. */
const upToDateGraceMs = 10_000;

/** Tells whether a machine is unhealthy and its owner is asked to remediate it. */
export function isToBeRemediated(machine: Machine): boolean {
  return isFalse(machine, 'HealthCheckSucceeded') && isFalse(machine, 'OwnerRemediated');
}

export const isUnhealthy = (machine: Machine): boolean => isFalse(machine, 'HealthCheckSucceeded');

/** Counts machines by version. */
export function versionsOf(machines: readonly Machine[]): ReplicaVersion[] {
  const counts = new Map<string, number>();
  for (const { spec } of machines) {
    if (spec.version !== undefined) counts.set(spec.version, (counts.get(spec.version) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([version, replicas]) => ({ version, replicas }));
}

export function machinesReady(machines: readonly Machine[]): Verdict {
  if (machines.length === 0) return { status: 'True', reason: 'NoReplicas' };
  return aggregate(machines, 'Ready', { reasons: { issue: 'NotReady', unknown: 'ReadyUnknown', good: 'Ready' } });
}

export function machinesUpToDate(machines: readonly Machine[], nowMs: number): Verdict {
  const judged = machines.filter(
    (machine) =>
      conditionOf(machine, 'UpToDate') !== undefined ||
      nowMs - (parseRfc3339(machine.metadata.creationTimestamp ?? '') ?? nowMs) > upToDateGraceMs,
  );
  if (judged.length === 0) return { status: 'True', reason: 'NoReplicas' };
  return aggregate(judged, 'UpToDate', {
    reasons: { issue: 'NotUpToDate', unknown: 'UpToDateUnknown', good: 'UpToDate' },
  });
}

export function remediating(machines: readonly Machine[], owner: string): Verdict {
  const concerned = machines.filter(isToBeRemediated);
  if (concerned.length === 0) {
    const message = unhealthyMachinesText(machines.filter(isUnhealthy), owner);
    return { status: 'False', reason: 'NotRemediating', message };
  }
  const { message = '' } = aggregate(concerned, 'OwnerRemediated', {
    reasons: { issue: 'Remediating', unknown: 'Remediating', good: 'Remediating' },
  });
  return { status: 'True', reason: 'Remediating', message };
}

/** Aggregates v1beta1 Ready of all machines. */
export function legacyMachinesReady(machines: readonly Machine[]): LegacyVerdict | undefined {
  const states = machines.flatMap(
    ({ metadata, status }) =>
      status?.deprecated?.v1beta1?.conditions
        ?.filter(({ type }) => type === 'Ready')
        .map((condition) => ({ condition, name: metadata.name ?? '' })) ?? [],
  );
  const having = (status: string) => states.find(({ condition }) => condition.status === status);
  const bad = having('False') ?? having('Unknown');
  if (!bad) return states.length > 0 || machines.length === 0 ? legacyTrue : undefined;
  const { condition, name } = bad;
  if (condition.status === 'Unknown') {
    const reason = `${condition.reason ?? 'Unknown'} @ Machine/${name}`;
    return { status: 'Unknown', reason, ...(condition.message !== undefined && { message: condition.message }) };
  }
  const severity = condition.severity === 'Error' || condition.severity === 'Warning' ? condition.severity : 'Info';
  return legacyFalse(`${condition.reason ?? 'NotReady'} @ Machine/${name}`, severity, condition.message);
}
