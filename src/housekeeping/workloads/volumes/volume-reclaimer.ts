import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
} from '../../../api/index.ts';
import { type Client, type Lister, objectKey } from '../../../client/index.ts';
import { errorMessage, ignoreNotFound, isNotFound, must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { fieldManager } from '../common/names.ts';
import { isTerminating } from '../common/pods.ts';
import { writeStatus } from '../common/status.ts';
import { type Provisioners, provisionerOf } from './provisioner.ts';
import { reclaimFinalizer } from './provisioning.ts';

/** Maintains the phase of volumes, and deletes volumes whose reclaim policy is Delete after their claim is gone. */
export function volumeReclaimer(provisioners: Provisioners): ControllerDefinition {
  let volumes: Lister<PersistentVolume> | undefined;
  let claims: Lister<PersistentVolumeClaim> | undefined;
  return defineController({
    name: 'persistentvolume-reclaimer',
    for: PersistentVolumes,
    concurrency: 4,
    watches: [
      watchObjects(PersistentVolumes),
      watchMapped(PersistentVolumeClaims, ({ spec }) => (spec.volumeName ? [{ name: spec.volumeName }] : [])),
      watchMapped(PersistentVolumeClaims, ({ metadata }) => [{ name: `pvc-${metadata.uid}` }], {
        predicates: [({ type }) => type === 'delete'],
      }),
    ],
    setup(cache) {
      volumes = cache.informer(PersistentVolumes).lister;
      claims = cache.informer(PersistentVolumeClaims).lister;
    },
    async reconcile(context, key) {
      const volume = must(volumes, 'volumes').get(key);
      if (!volume) return done();
      const phase = await phaseOf(context.client, volume, must(claims, 'claims'));
      if (phase === 'Released' && (isTerminating(volume) || volume.spec.persistentVolumeReclaimPolicy === 'Delete')) {
        if (await reclaim(context, volume, provisioners)) return done();
      }
      if (volume.status?.phase !== phase) {
        await writeStatus(context.client, PersistentVolumes, volume, { ...volume.status, phase });
      }
      return done();
    },
  });
}

async function phaseOf(
  client: Client,
  { metadata, spec }: PersistentVolume,
  claims: Lister<PersistentVolumeClaim>,
): Promise<string> {
  const { namespace, name, uid } = spec.claimRef ?? {};
  if (namespace === undefined || name === undefined) return 'Available';
  const cached = claims.get({ namespace, name });
  if (!uid) return cached ? 'Bound' : 'Available';
  if (cached?.metadata.uid === uid) return cached.spec.volumeName === metadata.name ? 'Bound' : 'Pending';
  // Data is about to be deleted and the cache may be stale, so the server is asked.
  const stored = await client.get(PersistentVolumeClaims, { namespace, name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  return stored?.metadata.uid === uid ? 'Pending' : 'Released';
}

/** Deletes the data and the volume. Returns false if another provisioner owns the data. */
export async function reclaim(
  { client, events }: ReconcileContext,
  volume: PersistentVolume,
  provisioners: Provisioners,
): Promise<boolean> {
  const provisioner = provisioners[provisionerOf(volume)];
  const { finalizers = [], resourceVersion } = volume.metadata;
  const isHeld = finalizers.includes(reclaimFinalizer);
  if (!provisioner || !isHeld) return false;
  if (volume.spec.persistentVolumeReclaimPolicy === 'Delete') {
    try {
      await provisioner.remove(volume);
    } catch (error) {
      events.event(volume, 'Warning', 'VolumeFailedDelete', errorMessage(error));
      await writeStatus(client, PersistentVolumes, volume, {
        ...volume.status,
        phase: 'Failed',
        message: errorMessage(error),
      });
      throw error;
    }
  }
  const rest = finalizers.filter((name) => name !== reclaimFinalizer);
  const patch = { metadata: { resourceVersion: must(resourceVersion, 'resourceVersion'), finalizers: rest } };
  await client.patch(PersistentVolumes, objectKey(volume), 'merge', patch, { fieldManager }).catch(ignoreNotFound);
  if (!isTerminating(volume)) await client.delete(PersistentVolumes, objectKey(volume)).catch(ignoreNotFound);
  return true;
}
