import {
  type Node,
  type PersistentVolume,
  PersistentVolumes,
  type Pod,
  type VolumeAttachment,
  VolumeAttachments,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { listAll } from './drain-node.ts';

/** Attached volumes that block the deletion of a machine. */
export interface AttachedVolumes {
  claims: string[];
  volumesWithoutClaim: string[];
  /** names in node.status.volumesAttached without a PersistentVolume */
  unknownOnNode: string[];
  /** missing PersistentVolumes that a VolumeAttachment names */
  unknownAttachments: string[];
}

interface NodeVolumes {
  volumesAttached?: { name: string }[];
}

/** Lists attached volumes from the Node and VolumeAttachments. Claims of `keeping` Pods stay attached on purpose. */
export async function attachedVolumes(
  workload: Client,
  node: Node,
  keeping: () => Promise<readonly Pod[]>,
  signal: AbortSignal,
): Promise<AttachedVolumes | undefined> {
  const onNode = ((node.status as NodeVolumes | undefined)?.volumesAttached ?? []).map(({ name }) => name);
  const attachments = (await listAll(workload, VolumeAttachments, signal)).filter(
    ({ spec, status }) => status?.attached === true && spec.nodeName === node.metadata.name,
  );
  if (onNode.length === 0 && attachments.length === 0) return undefined;
  const volumes = await listAll(workload, PersistentVolumes, signal);
  return waitingVolumes(onNode, attachments, volumes, await keeping());
}

/** Computes which volumes still block; undefined if none does. */
export function waitingVolumes(
  onNode: readonly string[],
  attachments: readonly VolumeAttachment[],
  volumes: readonly PersistentVolume[],
  keeping: readonly Pod[],
): AttachedVolumes | undefined {
  const kept = new Set<string>();
  for (const pod of keeping) {
    for (const volume of pod.spec?.volumes ?? []) {
      const claim = (volume as { persistentVolumeClaim?: { claimName?: string } }).persistentVolumeClaim?.claimName;
      if (claim !== undefined) kept.add(`${pod.metadata.namespace}/${claim}`);
    }
  }
  const nodeNames = new Set(onNode);
  // inline volumes have no PersistentVolume; only the Node status lists them
  const attached = new Set(attachments.flatMap(({ spec }) => spec.source.persistentVolumeName ?? []));
  const claims = new Set<string>();
  const volumesWithoutClaim: string[] = [];
  for (const { metadata, spec } of volumes) {
    const name = metadata.name ?? '';
    const handle = spec.csi ? `kubernetes.io/csi/${spec.csi.driver}^${spec.csi.volumeHandle}` : '';
    const seenOnNode = nodeNames.delete(handle);
    const seenAttached = attached.delete(name);
    if (!seenOnNode && !seenAttached) continue;
    const { claimRef } = spec;
    if (claimRef?.name === undefined) volumesWithoutClaim.push(name);
    else claims.add(`${claimRef.namespace}/${claimRef.name}`);
  }
  const found: AttachedVolumes = {
    claims: [...claims].filter((claim) => !kept.has(claim)).sort(),
    volumesWithoutClaim: volumesWithoutClaim.sort(),
    unknownOnNode: [...nodeNames].sort(),
    unknownAttachments: [...attached].sort(),
  };
  return Object.values(found).some((list: string[]) => list.length > 0) ? found : undefined;
}

const maxNames = 5;

function named(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ');
  return names.length > maxNames ? `${shown}, ... (${names.length - maxNames} more)` : shown;
}

export function volumesMessage(volumes: AttachedVolumes, startedAt: string): string {
  const lines = [`Waiting for Node volumes to be detached (started at ${startedAt})`];
  if (volumes.claims.length > 0) lines.push(`* PersistentVolumeClaims: ${named(volumes.claims)}`);
  if (volumes.volumesWithoutClaim.length > 0) {
    lines.push(
      `* PersistentVolumes without a .spec.claimRef to a PersistentVolumeClaim: ${named(volumes.volumesWithoutClaim)}`,
    );
  }
  if (volumes.unknownOnNode.length > 0) {
    lines.push(
      `* Node with .status.volumesAttached entries not matching a PersistentVolume: ${named(volumes.unknownOnNode)}`,
    );
  }
  if (volumes.unknownAttachments.length > 0) {
    lines.push(
      `* VolumeAttachment with .spec.source.persistentVolumeName not matching a PersistentVolume: ${named(volumes.unknownAttachments)}`,
    );
  }
  return lines.join('\n');
}
