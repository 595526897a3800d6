import { type HostedControlPlane, PersistentVolumeClaims } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import type { PlaneSpec } from '../../../hosting/index.ts';
import { addQuantities, compareQuantities, ignoreNotFound, quantityValue } from '../../../machinery/index.ts';
import type { HostedScope } from './scope.ts';

const startSize = '1Gi';
const stepSize = '1Gi';
/** a volume with less free space than this is enlarged */
const reserveBytes = 500 * 1024 * 1024;

/** Returns the desired size of each etcd volume. With autoGrow, it is the last size or one step more. */
export function desiredVolumeSize({ spec, status }: HostedControlPlane): string {
  const { volumeSize, autoGrow } = spec.etcd ?? {};
  if (volumeSize !== undefined) return String(volumeSize);
  const size = String(status?.etcdVolumeSize ?? startSize);
  if (autoGrow === false || status?.etcdVolumeUsage === undefined) return size;
  const freeBytes = quantityValue(size) - quantityValue(status.etcdVolumeUsage);
  return freeBytes < reserveBytes ? addQuantities(size, stepSize) : size;
}

/**
 * Raises the storage requests of etcd claims that are too small. The storage class decides whether the volume really
 * grows.
 */
export async function growVolumes({ context, draft }: HostedScope, { naming, identity }: PlaneSpec): Promise<void> {
  const { client, cache, signal } = context;
  const size = desiredVolumeSize(draft);
  const prefix = `${naming.etcdVolume}-${naming.etcd}-`;
  const claims = cache.lister(PersistentVolumeClaims).list({
    namespace: identity.namespace,
    filter: ({ metadata }) => metadata.deletionTimestamp === undefined && (metadata.name ?? '').startsWith(prefix),
  });
  for (const claim of claims) {
    // a claim can be resized only once it is bound
    const isBound = claim.status?.phase === 'Bound';
    if (!isBound || compareQuantities(claim.spec.resources?.requests?.['storage'], size) >= 0) continue;
    const patch = { spec: { resources: { requests: { storage: size } } } };
    await client
      .patch(PersistentVolumeClaims, objectKey(claim), 'merge', patch, { fieldManager: naming.fieldManager, signal })
      .catch(ignoreNotFound);
  }
}
