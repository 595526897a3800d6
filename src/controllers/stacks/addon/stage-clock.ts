import type { Cluster, ClusterAddon } from '../../../api/index.ts';
import { formatTime, parseDuration } from '../../../machinery/index.ts';
import { stageSinceAnnotation, stageTimeoutAnnotation } from './names.ts';

// How long the running stage takes, recorded in an annotation of the ClusterAddon.

const defaultTimeoutMs = 10 * 60_000;

/** Records the start of a stage, unless it already runs. */
export function noteStart({ metadata }: ClusterAddon, stage: string, nowMs: number): void {
  if (metadata.annotations?.[stageSinceAnnotation]?.startsWith(`${stage} `)) return;
  metadata.annotations = { ...metadata.annotations, [stageSinceAnnotation]: `${stage} ${formatTime(nowMs)}` };
}

export function forgetStart({ metadata }: ClusterAddon): void {
  const { [stageSinceAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  metadata.annotations = annotations;
}

function startOf({ metadata }: ClusterAddon, stage: string): string | undefined {
  const since = metadata.annotations?.[stageSinceAnnotation];
  return since?.startsWith(`${stage} `) ? since.slice(stage.length + 1) : undefined;
}

export function elapsedMs(addon: ClusterAddon, stage: string, nowMs: number): number | undefined {
  const since = startOf(addon, stage);
  return since === undefined ? undefined : nowMs - Date.parse(since);
}

/** Describes a stage that takes too long; it continues anyway. */
export function lateness(
  { addon, cluster }: { addon: ClusterAddon; cluster: Cluster },
  stage: string,
  nowMs: number,
): string | undefined {
  const elapsed = elapsedMs(addon, stage, nowMs);
  const given = cluster.metadata.annotations?.[stageTimeoutAnnotation];
  const limitMs = (given === undefined ? undefined : parseDuration(given)) ?? defaultTimeoutMs;
  if (elapsed === undefined || !(elapsed > limitMs)) return undefined;
  return `; it is not done since ${startOf(addon, stage)}, which is longer than the ${Math.round(limitMs / 1000)} s it may take`;
}
