import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type StorageClass,
  StorageClasses,
} from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { errorMessage, ignoreNotFound, isAlreadyExists, quantityValue } from '../../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  foreignReason,
  type ReconcileContext,
  watchObjects,
} from '../../../../runtime/index.ts';
import { versionInTag } from '../../image.ts';
import { zoneTopology } from './driver.ts';
import type { SideCarRun } from './side-car.ts';

const fieldManager = 'csi-provisioner';
const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
const gibibyte = 1024 ** 3;

/** Provisions volumes for claims of its driver's classes, and deletes volumes by their reclaim policy. */
export function provisionerControllers(run: SideCarRun): ControllerDefinition[] {
  return [claimController(run), volumeController(run)];
}

function claimController(run: SideCarRun): ControllerDefinition {
  return defineController({
    name: 'csi-provisioner-claims',
    for: PersistentVolumeClaims,
    concurrency: 4,
    watches: [watchObjects(PersistentVolumeClaims)],
    setup(cache) {
      cache.informer(StorageClasses);
    },
    async reconcile(context, key) {
      const claim = context.cache.lister(PersistentVolumeClaims).get(key);
      if (!claim || claim.spec.volumeName || claim.metadata.deletionTimestamp !== undefined) return done();
      if (claim.metadata.annotations?.[provisionerAnnotation] !== run.driverName) return done();
      const storageClass = context.cache.lister(StorageClasses).get({ name: claim.spec.storageClassName ?? '' });
      if (storageClass) await provision(run, context, claim, storageClass);
      return done();
    },
  });
}

async function provision(
  run: SideCarRun,
  { client, events }: ReconcileContext,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): Promise<void> {
  const { namespace = '', name: claimName = '', uid = '', resourceVersion = '' } = claim.metadata;
  const name = `pvc-${uid}`;
  const provisioning = `External provisioner is provisioning volume for claim "${namespace}/${claimName}"`;
  events.event(claim, 'Normal', foreignReason('Provisioning'), provisioning);
  try {
    const made = await run.driver().createVolume({
      name,
      bytes: quantityValue(claim.spec.resources?.requests?.['storage'] ?? '0'),
      parameters: storageClass.parameters ?? {},
      metadata: {
        'csi.storage.k8s.io/pv/name': name,
        'csi.storage.k8s.io/pvc/name': claimName,
        'csi.storage.k8s.io/pvc/namespace': namespace,
      },
    });
    const volume: PersistentVolume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: {
        name,
        annotations: { [provisionedBy]: run.driverName },
        // Older releases set no finalizer, because they may not patch volumes.
        ...(holdsVolumes(run) && { finalizers: [finalizer] }),
      },
      spec: {
        capacity: { storage: `${Math.ceil(made.bytes / gibibyte)}Gi` },
        accessModes: claim.spec.accessModes ?? [],
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid, resourceVersion },
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
        storageClassName: storageClass.metadata.name ?? '',
        volumeMode: claim.spec.volumeMode ?? 'Filesystem',
        ...(storageClass.mountOptions && { mountOptions: storageClass.mountOptions }),
        csi: {
          driver: run.driverName,
          volumeHandle: made.handle,
          fsType: storageClass.parameters?.['csi.storage.k8s.io/fstype'] ?? 'ext4',
          volumeAttributes: { 'storage.kubernetes.io/csiProvisionerIdentity': `1-0-${run.driverName}` },
        },
        ...(made.zone !== undefined && {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: zoneTopology, operator: 'In', values: [made.zone] }] }],
            },
          },
        }),
      },
    };
    await client.create(PersistentVolumes, volume, { fieldManager }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    events.event(claim, 'Normal', foreignReason('ProvisioningSucceeded'), `Successfully provisioned volume ${name}`);
  } catch (error) {
    const message = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${errorMessage(error)}`;
    if (!run.process.signal.aborted) events.event(claim, 'Warning', foreignReason('ProvisioningFailed'), message);
    throw error;
  }
}

function volumeController(run: SideCarRun): ControllerDefinition {
  return defineController({
    name: 'csi-provisioner-volumes',
    for: PersistentVolumes,
    concurrency: 4,
    async reconcile({ client, cache, events }, key) {
      const volume = cache.lister(PersistentVolumes).get(key);
      const csi = volume?.spec.csi;
      if (!volume || csi?.driver !== run.driverName) return done();
      const { metadata, spec, status } = volume;
      if (metadata.annotations?.[provisionedBy] !== run.driverName) return done();
      const isGoing = metadata.deletionTimestamp !== undefined;
      const isHeld = metadata.finalizers?.includes(finalizer) ?? false;
      const isLeft = status?.phase === 'Released' || status?.phase === 'Failed';
      if (!isLeft || (isGoing && !isHeld)) return done();
      if (spec.persistentVolumeReclaimPolicy === 'Delete') {
        try {
          await run.driver().deleteVolume(csi.volumeHandle);
        } catch (error) {
          if (!run.process.signal.aborted) {
            events.event(volume, 'Warning', foreignReason('VolumeFailedDelete'), errorMessage(error));
          }
          throw error;
        }
        if (!isGoing) await client.delete(PersistentVolumes, key).catch(ignoreNotFound);
      } else if (!isGoing) return done();
      if (isHeld) {
        const rest = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
        const patch = { metadata: { finalizers: rest.length === 0 ? null : rest } };
        await client
          .patch(PersistentVolumes, objectKey(volume), 'merge', patch, { fieldManager })
          .catch(ignoreNotFound);
      }
      return done();
    },
  });
}

function holdsVolumes({ process }: SideCarRun): boolean {
  return Number(versionInTag(process.image)?.split('.')[0] ?? 0) >= 5;
}
