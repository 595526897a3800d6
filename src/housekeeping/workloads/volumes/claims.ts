import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../../api/index.ts';
import { compareQuantities, labelSelectorFromObject, must } from '../../../machinery/index.ts';
import { isTerminating } from '../common/pods.ts';

/** annotation from before the class was a field; it still takes precedence */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

export function classOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '';
}

/** Reports whether the claim leaves the class open. An empty class name means no class at all. */
export function hasNoClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[classAnnotation] === undefined && spec.storageClassName === undefined;
}

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export function isDefaultClass({ metadata }: StorageClass): boolean {
  return defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true');
}

/** Default class of claims: the newest one marked as default; among equals the first by name. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  let best: StorageClass | undefined;
  for (const one of classes) {
    if (!isDefaultClass(one)) continue;
    const [time = '', bestTime = ''] = [one.metadata.creationTimestamp, best?.metadata.creationTimestamp];
    if (
      !best ||
      time > bestTime ||
      (time === bestTime &&
        must(one.metadata.name, 'one.metadata.name') < must(best.metadata.name, 'best.metadata.name'))
    )
      best = one;
  }
  return best;
}

/** Reports whether the volume's claimRef is this claim; the uid must match if it is set. */
export function isPromisedTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = spec.claimRef;
  if (reference?.name !== metadata.name || reference?.namespace !== metadata.namespace) return false;
  return !reference?.uid || reference.uid === metadata.uid;
}

/** Finds the volume for a claim: a reserved one, else the smallest free one that is large enough. */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const usable = volumes.filter((volume) => !isTerminating(volume) && isFit(volume, claim));
  const promised = usable.find((volume) => isPromisedTo(volume, claim));
  if (promised) return promised;
  let best: PersistentVolume | undefined;
  for (const volume of usable) {
    if (volume.spec.claimRef !== undefined || !isSelected(volume, claim)) continue;
    if (!best || compareQuantities(sizeOf(volume), sizeOf(best)) < 0) best = volume;
  }
  return best;
}

export function sizeOf({ spec }: PersistentVolume): string | undefined {
  return spec.capacity?.['storage'];
}

export function requestOf({ spec }: PersistentVolumeClaim): string {
  return spec.resources?.requests?.['storage'] ?? '0';
}

function isFit(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const modes = volume.spec.accessModes ?? [];
  return (
    classOf(volume) === classOf(claim) &&
    (volume.spec.volumeMode ?? 'Filesystem') === (claim.spec.volumeMode ?? 'Filesystem') &&
    (claim.spec.accessModes ?? []).every((mode) => modes.includes(mode)) &&
    compareQuantities(sizeOf(volume), requestOf(claim)) >= 0
  );
}

function isSelected({ metadata }: PersistentVolume, { spec }: PersistentVolumeClaim): boolean {
  return spec.selector === undefined || labelSelectorFromObject(spec.selector).matches(metadata.labels ?? {});
}

/** Names of the claims a Pod uses, including its ephemeral volumes. */
export function claimsOf({ metadata, spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
}
