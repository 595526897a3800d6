import type { Machine } from '../../../../api/index.ts';
import { type KubeObject, parseRfc3339, type UnstructuredObject } from '../../../../machinery/index.ts';
import { clonedFromGroupKindAnnotation, clonedFromNameAnnotation, isCloneOf } from '../../../shared/index.ts';
import type { MachinePlane, PlaneProvider, PlaneSettings } from '../provider.ts';

export interface RolloutInput {
  provider: PlaneProvider;
  controlPlane: MachinePlane;
  machine: Machine;
  /** an absent object is no reason for a rollout: the cache may be stale */
  config: KubeObject | undefined;
  infrastructure: UnstructuredObject | undefined;
  nowMs: number;
}

const dayMs = 24 * 3_600_000;
const certificatesReason = 'Certificates will expire soon';
const rolloutAfterReason = 'spec.rolloutAfter expired';

/** Tells whether only a new machine helps, regardless of in-place updates. */
export const isNewMachineRequired = (reasons: readonly string[]): boolean =>
  reasons.some((reason) => reason === certificatesReason || reason.endsWith(rolloutAfterReason));

/** Lists the reasons to replace a machine, in upstream's texts; empty if it is up to date. */
export function rolloutReasons(input: RolloutInput): string[] {
  const { provider, controlPlane, machine, config, infrastructure, nowMs } = input;
  const { spec } = controlPlane;
  const settings = provider.settingsOf(controlPlane);
  const reasons: string[] = [];
  const renewAt = certificatesDueAt(settings, machine);
  if (renewAt !== undefined && nowMs >= renewAt) reasons.push(certificatesReason);
  if (isOlderThanRollout(settings, machine, nowMs)) reasons.push(`${provider.resource.kind} ${rolloutAfterReason}`);
  if (machine.spec.version !== spec.version) {
    reasons.push(`Version ${machine.spec.version ?? ''}, ${spec.version} required`);
  }
  if (config && !provider.isConfigUpToDate(controlPlane, config, machine)) {
    reasons.push(`${provider.configs.kind} is not up-to-date`);
  }
  if (
    infrastructure &&
    isClone(infrastructure) &&
    !isCloneOf(infrastructure, spec.machineTemplate.spec.infrastructureRef)
  ) {
    reasons.push(`${machine.spec.infrastructureRef.kind} is not up-to-date`);
  }
  return reasons;
}

/**
 * Tells whether the object was cloned from a template. Adopted machines have no template and are not compared with it.
 */
function isClone({ metadata }: UnstructuredObject): boolean {
  const { annotations = {} } = metadata;
  return (
    annotations[clonedFromNameAnnotation] !== undefined && annotations[clonedFromGroupKindAnnotation] !== undefined
  );
}

/** Returns the time in milliseconds at which expiring certificates require a new machine. */
export function certificatesDueAt({ rollout }: PlaneSettings, { status }: Machine): number | undefined {
  const days = rollout?.before?.certificatesExpiryDays;
  const end = parseRfc3339(status?.certificatesExpiryDate ?? '');
  return days === undefined || end === undefined ? undefined : end - days * dayMs;
}

function isOlderThanRollout({ rollout }: PlaneSettings, { metadata }: Machine, nowMs: number): boolean {
  const after = parseRfc3339(rollout?.after ?? '');
  const created = parseRfc3339(metadata.creationTimestamp ?? '');
  return after !== undefined && after <= nowMs && created !== undefined && created < after;
}

/** Returns the time at which machines become outdated without an event; undefined if never. */
export function nextRolloutAt(
  settings: PlaneSettings,
  machines: readonly Machine[],
  nowMs: number,
): number | undefined {
  const times = machines.map((machine) => certificatesDueAt(settings, machine));
  times.push(parseRfc3339(settings.rollout?.after ?? ''));
  const ahead = times.filter((time): time is number => time !== undefined && time > nowMs);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

export function mostDuringRollout({ rollout }: PlaneSettings, replicas: number | undefined): number {
  return (replicas ?? 1) + Number(rollout?.strategy?.rollingUpdate?.maxSurge ?? 1);
}
