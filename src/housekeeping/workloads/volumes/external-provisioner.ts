import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type StorageClass,
  StorageClasses,
} from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import { must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { isTerminating } from '../common/pods.ts';
import { grown, writeBoundStatus } from './binding.ts';
import { classOf } from './claims.ts';
import { type Provisioners, provisionerOf } from './provisioner.ts';
import { makeVolume, storageProvisioner } from './provisioning.ts';
import { reclaim } from './volume-reclaimer.ts';

const selectedNode = 'volume.kubernetes.io/selected-node';

export interface ExternalProvisionerOptions {
  readonly provisioners: Provisioners;
  /** node that holds the volumes; claims assigned to other nodes are ignored */
  readonly nodeName: string;
}

/**
 * Provisions and deletes volumes for a cluster whose own controllers bind claims. They write the provisioner's name on
 * a claim that needs a volume, bind the volume, and release it when it is no longer needed.
 */
export function externalProvisionerControllers(options: ExternalProvisionerOptions): ControllerDefinition[] {
  return [claimServer(options), volumeRemover(options)];
}

function claimServer({ provisioners, nodeName }: ExternalProvisionerOptions): ControllerDefinition {
  let claims: Lister<PersistentVolumeClaim> | undefined;
  let volumes: Lister<PersistentVolume> | undefined;
  let classes: Lister<StorageClass> | undefined;
  return defineController({
    name: 'external-provisioner',
    for: PersistentVolumeClaims,
    concurrency: 4,
    setup(cache) {
      claims = cache.informer(PersistentVolumeClaims).lister;
      volumes = cache.informer(PersistentVolumes).lister;
      classes = cache.informer(StorageClasses).lister;
    },
    async reconcile(context, key) {
      const claim = must(claims, 'claims').get(key);
      if (!claim || isTerminating(claim)) return done();
      const storageClass = must(classes, 'classes').get({ name: classOf(claim) });
      const { volumeName } = claim.spec;
      if (volumeName) {
        const volume = must(volumes, 'volumes').get({ name: volumeName });
        if (!volume || claim.status?.phase !== 'Bound' || !provisioners[provisionerOf(volume)]) return done();
        await writeBoundStatus(context, claim, await grown(context, claim, volume, storageClass, provisioners));
        return done();
      }
      const { annotations = {} } = claim.metadata;
      const provisioner = provisioners[annotations[storageProvisioner] ?? ''];
      if (!provisioner || !storageClass) return done();
      if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && annotations[selectedNode] !== nodeName) {
        return done();
      }
      await makeVolume(context, claim, storageClass, provisioner, nodeName);
      return done();
    },
  });
}

function volumeRemover({ provisioners }: ExternalProvisionerOptions): ControllerDefinition {
  let volumes: Lister<PersistentVolume> | undefined;
  return defineController({
    name: 'external-volume-remover',
    for: PersistentVolumes,
    concurrency: 4,
    watches: [
      watchObjects(PersistentVolumes),
      watchMapped(PersistentVolumeClaims, ({ spec }) => (spec.volumeName ? [{ name: spec.volumeName }] : []), {
        predicates: [({ type }) => type === 'delete'],
      }),
    ],
    setup(cache) {
      volumes = cache.informer(PersistentVolumes).lister;
    },
    async reconcile(context, key) {
      const volume = must(volumes, 'volumes').get(key);
      // The controllers that bind claims decide when a volume is released.
      if (volume?.status?.phase !== 'Released') return done();
      const isToGo = isTerminating(volume) || volume.spec.persistentVolumeReclaimPolicy === 'Delete';
      if (isToGo) await reclaim(context, volume, provisioners);
      return done();
    },
  });
}
