import type { Machine } from '../../../../api/index.ts';
import { type KubeObject, parseRfc3339, type UnstructuredObject } from '../../../../machinery/index.ts';
import { clonedFromGroupKindAnnotation, clonedFromNameAnnotation, isCloneOf } from '../../../shared/index.ts';
import type { MachinePlane, PlaneProvider, PlaneSettings } from '../provider.ts';

export interface RolloutInput {
  provider: PlaneProvider;
  controlPlane: MachinePlane;
  machine: Machine;
  /** absent objects speak for nothing: a cache may be late */
  config: KubeObject | undefined;
  infrastructure: UnstructuredObject | undefined;
  nowMs: number;
}

const dayMs = 24 * 3_600_000;
const certificatesReason = 'Certificates will expire soon';
const rolloutAfterReason = 'spec.rolloutAfter expired';

/** Whether only a new machine will do, whoever could change this one. */
export const isNewMachineRequired = (reasons: readonly string[]): boolean =>
  reasons.some((reason) => reason === certificatesReason || reason.endsWith(rolloutAfterReason));

/** Why a machine is to be replaced, in upstream's words; nothing when it is as desired. */
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

/** Machines that were adopted know no template, and are not judged by it. */
function isClone({ metadata }: UnstructuredObject): boolean {
  const { annotations = {} } = metadata;
  return (
    annotations[clonedFromNameAnnotation] !== undefined && annotations[clonedFromGroupKindAnnotation] !== undefined
  );
}

/** When the certificates of a machine call for a new one, in milliseconds. */
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

/** When time alone will make machines outdated; undefined when it will not. */
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

/** How many machines there may be while old ones are replaced. */
export function mostDuringRollout({ rollout }: PlaneSettings, replicas: number | undefined): number {
  return (replicas ?? 1) + Number(rollout?.strategy?.rollingUpdate?.maxSurge ?? 1);
}
