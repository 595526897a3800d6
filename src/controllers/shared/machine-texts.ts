import { compareKubernetesVersions, type Machine, parseKubernetesVersion, withLeadingV } from '../../api/index.ts';
import { parseRfc3339 } from '../../machinery/index.ts';
import { conditionOf } from './conditions.ts';

/** Reason of UpToDate if the kubelet version differs from the machine's version. */
export const kubeletVersionReason = 'KubeletVersionDiffers';

/** Describes how the kubelet version on the Node differs from the desired one; distribution suffixes are ignored. */
export function kubeletDifference({ spec, status }: Machine): string | undefined {
  const running = status?.nodeInfo?.kubeletVersion;
  const [has, wants] = [running, spec.version].map((text) =>
    text === undefined || text === '' ? undefined : parseKubernetesVersion(withLeadingV(text)),
  );
  if (!has || !wants || compareKubernetesVersions(has, wants) === 0) return undefined;
  return `* Node.status.nodeInfo.kubeletVersion ${running}, ${spec.version} required: the image of the machine brings another version; use an image with ${spec.version}`;
}

const quarterHourMs = 15 * 60_000;
const drainPatienceMs = 5 * 60_000;
const delays: readonly (readonly [string, string])[] = [
  ["cannot evict pod as it would violate the pod's disruption budget.", 'PodDisruptionBudgets'],
  ['deletionTimestamp set, but still not removed from the Node', 'Pods not terminating'],
  ['failed to evict Pod', 'Pod eviction errors'],
  ['waiting for completion', 'Pods not completed yet'],
];

/** Lists short reasons why the deletion of a machine takes long; empty if it does not. */
export function deletionDelays(machine: Machine, nowMs: number): string[] {
  const started = parseRfc3339(machine.status?.deletion?.nodeDrainStartTime ?? '');
  const deleting = conditionOf(machine, 'Deleting');
  if (deleting?.reason !== 'DrainingNode' || started === undefined || nowMs - started <= drainPatienceMs) return [];
  return delays.filter(([text]) => deleting.message.includes(text)).map(([, cause]) => cause);
}

export function isDeletingForLong(machine: Machine, nowMs: number): boolean {
  const begun = parseRfc3339(machine.metadata.deletionTimestamp ?? '');
  return begun !== undefined && nowMs - begun > quarterHourMs;
}

const maxNames = 3;
const causesInOrder = ['PodDisruptionBudgets', 'Pods not terminating', 'Pod eviction errors', 'Pods not completed yet'];

function named(machines: readonly Machine[]): string {
  const names = machines.map(({ metadata }) => metadata.name ?? '').sort();
  const shown = names.slice(0, maxNames).join(', ');
  const more = names.length > maxNames ? `, ... (${names.length - maxNames} more)` : '';
  return `Machine${names.length > 1 ? 's' : ''} ${shown}${more} ${names.length > 1 ? 'are' : 'is'} `;
}

/** Describes machines whose deletion takes long, with reasons; empty if there are none. */
export function staleMachinesText(machines: readonly Machine[], nowMs: number): string {
  const stale = machines.filter((machine) => isDeletingForLong(machine, nowMs));
  if (stale.length === 0) return '';
  const causes = new Set(stale.flatMap((machine) => deletionDelays(machine, nowMs)));
  const listed = causesInOrder.filter((cause) => causes.has(cause));
  return `${named(stale)}in deletion since more than 15m${listed.length > 0 ? `, delay likely due to ${listed.join(', ')}` : ''}`;
}

/** Describes unhealthy machines that `owner` does not remediate; empty if there are none. */
export function unhealthyMachinesText(machines: readonly Machine[], owner: string): string {
  return machines.length === 0 ? '' : `${named(machines)}not healthy (not to be remediated by ${owner})`;
}

/** For example "Deleting 3 Machines", followed by a line about delayed ones. */
export function deletingText(machines: readonly Machine[], nowMs: number): string {
  const stale = staleMachinesText(machines, nowMs);
  return `Deleting ${machines.length} Machine${machines.length === 1 ? '' : 's'}${stale === '' ? '' : `\n* ${stale}`}`;
}

/** For example "Scaling down from 3 to 1 replicas", followed by a line about delayed ones. */
export function scalingDownText(machines: readonly Machine[], from: number, to: number, nowMs: number): string {
  const stale = staleMachinesText(machines, nowMs);
  return `Scaling down from ${from} to ${to} replicas${stale === '' ? '' : `\n* ${stale}`}`;
}

/** For example "A and B do not exist"; empty if nothing is missing. */
export function missingText(kinds: readonly string[]): string {
  if (kinds.length === 0) return '';
  return `${kinds.join(' and ')} ${kinds.length === 1 ? 'does' : 'do'} not exist`;
}
