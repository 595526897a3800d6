import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type StorageClass,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import {
  compareQuantities,
  deepEqual,
  errorMessage,
  type JsonObject,
  must,
  quantityValue,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../common/names.ts';
import { writeStatus } from '../common/status.ts';
import { isPromisedTo, requestOf, sizeOf } from './claims.ts';
import { type Provisioners, provisionerOf, provisioningFinalizer } from './provisioner.ts';

const bindCompleted = 'pv.kubernetes.io/bind-completed';
const boundByController = 'pv.kubernetes.io/bound-by-controller';

type Context = Pick<ReconcileContext, 'client' | 'events' | 'clock'>;

/** Sets the claimRef of the volume first, then binds the claim. In this order no two claims can get the same volume. */
export async function bind(context: Context, claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
  const promised = await promise(context, claim, volume);
  const { annotations, finalizers, resourceVersion } = claim.metadata;
  const isHeld = finalizers?.includes(provisioningFinalizer) ?? false;
  const patch = {
    metadata: {
      resourceVersion: must(resourceVersion, 'resourceVersion'),
      annotations: { ...annotations, [bindCompleted]: 'yes', [boundByController]: 'yes' },
      ...(isHeld && { finalizers: must(finalizers, 'finalizers').filter((name) => name !== provisioningFinalizer) }),
    },
    spec: { volumeName: must(volume.metadata.name, 'volume.metadata.name') },
  };
  const { client } = context;
  const told = await client.patch(PersistentVolumeClaims, objectKey(claim), 'merge', patch, { fieldManager });
  await writeBoundStatus(context, told, promised);
}

async function promise(
  { client }: Context,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<PersistentVolume> {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const reference = volume.spec.claimRef;
  if (reference?.uid === uid) return volume;
  const isOurChoice = reference === undefined;
  const patch = {
    metadata: {
      resourceVersion: must(volume.metadata.resourceVersion, 'volume.metadata.resourceVersion'),
      ...(isOurChoice && { annotations: { [boundByController]: 'yes' } }),
    },
    spec: {
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: must(namespace, 'namespace'),
        name: must(name, 'name'),
        uid: must(uid, 'uid'),
        resourceVersion: must(resourceVersion, 'resourceVersion'),
      },
    },
  };
  return await client.patch(PersistentVolumes, objectKey(volume), 'merge', patch, { fieldManager });
}

/** Completes a claim that is bound or names a volume. */
export async function settleBound(
  context: Context,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
  storageClass: StorageClass | undefined,
  provisioners: Provisioners,
): Promise<void> {
  const isComplete = claim.metadata.annotations?.[bindCompleted] !== undefined;
  if (!volume || (volume.spec.claimRef && !isPromisedTo(volume, claim))) {
    // Before the first binding, the volume may still be created or released.
    if (isComplete) await sayLost(context, claim, volume);
    return;
  }
  if (!isComplete || volume.spec.claimRef?.uid !== claim.metadata.uid) return await bind(context, claim, volume);
  await writeBoundStatus(context, claim, await grown(context, claim, volume, storageClass, provisioners));
}

async function sayLost(
  { client, events }: Context,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Promise<void> {
  if (claim.status?.phase === 'Lost') return;
  const message = volume
    ? 'Two claims are bound to the same volume, this one is bound incorrectly'
    : 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
  events.event(claim, 'Warning', volume ? 'ClaimMisbound' : 'ClaimLost', message);
  const { accessModes: _modes, capacity: _capacity, ...rest } = claim.status ?? {};
  await writeStatus(client, PersistentVolumeClaims, claim, { ...rest, phase: 'Lost' });
}

export async function writeBoundStatus(
  { client }: Context,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<void> {
  const before = claim.status ?? {};
  const capacity = volume.spec.capacity ?? {};
  const conditions = (before.conditions ?? []).filter(({ type }) => type !== 'Resizing');
  const { conditions: _conditions, ...rest } = before;
  const status = {
    ...rest,
    phase: 'Bound',
    accessModes: volume.spec.accessModes ?? [],
    capacity: deepEqual(before.capacity, capacity) ? must(before.capacity, 'before.capacity') : capacity,
    ...(conditions.length > 0 && { conditions }),
  };
  await writeStatus(client, PersistentVolumeClaims, claim, status);
}

/** Returns the volume, expanded if the claim requests more than its capacity. */
export async function grown(
  { client, events }: Context,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  storageClass: StorageClass | undefined,
  provisioners: Provisioners,
): Promise<PersistentVolume> {
  const request = requestOf(claim);
  if (compareQuantities(request, sizeOf(volume)) <= 0) return volume;
  const provisioner = provisioners[provisionerOf(volume)];
  if (!provisioner?.expand || storageClass?.allowVolumeExpansion !== true) {
    const message = provisioner
      ? `the storage class "${storageClass?.metadata.name ?? ''}" does not allow volumes to grow`
      : 'waiting for an external controller to expand this PVC';
    events.event(claim, provisioner ? 'Warning' : 'Normal', 'ExternalExpanding', message);
    return volume;
  }
  try {
    await provisioner.expand(volume, quantityValue(request));
  } catch (error) {
    events.event(claim, 'Warning', 'VolumeResizeFailed', `resize volume failed: ${errorMessage(error)}`);
    throw error;
  }
  const patch: JsonObject = { spec: { capacity: { storage: request } } };
  const larger = await client.patch(PersistentVolumes, objectKey(volume), 'merge', patch, { fieldManager });
  events.event(claim, 'Normal', 'VolumeResizeSuccessful', `Resize volume succeeded: ${volume.metadata.name}`);
  return larger;
}
