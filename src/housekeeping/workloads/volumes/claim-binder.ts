import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  Pods,
  type StorageClass,
  StorageClasses,
} from '../../../api/index.ts';
import { type Lister, type ObjectKey, objectKey } from '../../../client/index.ts';
import { ignoreNotFound, must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { fieldManager } from '../common/names.ts';
import { isFinished } from '../common/pods.ts';
import { bind, settleBound } from './binding.ts';
import { claimsOf, classOf, defaultClass, hasNoClass, isDefaultClass, matchingVolume } from './claims.ts';
import type { Provisioners } from './provisioner.ts';
import { finishAbandoned, isBeingProvisioned, provisionFor } from './provisioning.ts';

const podsByClaim = 'by-claim';

/** Binds claims to existing or newly provisioned volumes. */
export function claimBinder(provisioners: Provisioners): ControllerDefinition {
  let claims: Lister<PersistentVolumeClaim> | undefined;
  let volumes: Lister<PersistentVolume> | undefined;
  let classes: Lister<StorageClass> | undefined;
  let pods: Lister<Pod> | undefined;

  const waiting = (isConcerned: (claim: PersistentVolumeClaim) => boolean): ObjectKey[] =>
    (claims?.list({ filter: (claim) => !claim.spec.volumeName && isConcerned(claim) }) ?? []).map(objectKey);

  return defineController({
    name: 'persistentvolume-controller',
    for: PersistentVolumeClaims,
    concurrency: 4,
    watches: [
      watchObjects(PersistentVolumeClaims),
      watchMapped(PersistentVolumes, (volume) => [
        ...claimKey(volume),
        ...(volume.spec.claimRef ? [] : waiting((claim) => classOf(claim) === classOf(volume))),
      ]),
      watchMapped(StorageClasses, (one) =>
        waiting((claim) => classOf(claim) === one.metadata.name || (hasNoClass(claim) && isDefaultClass(one))),
      ),
      watchMapped(
        Pods,
        (pod) =>
          claimsOf(pod).map((name) => ({ namespace: must(pod.metadata.namespace, 'pod.metadata.namespace'), name })),
        {
          predicates: [({ type }) => type === 'add'],
        },
      ),
    ],
    setup(cache) {
      claims = cache.informer(PersistentVolumeClaims).lister;
      volumes = cache.informer(PersistentVolumes).lister;
      classes = cache.informer(StorageClasses).lister;
      const informer = cache.informer(Pods);
      informer.addIndexer(podsByClaim, (pod) => claimsOf(pod).map((name) => `${pod.metadata.namespace}/${name}`));
      pods = informer.lister;
    },
    async reconcile(context, key) {
      const claim = must(claims, 'claims').get(key);
      if (!claim) return done();
      const { volumeName } = claim.spec;
      const storageClass = must(classes, 'classes').get({ name: classOf(claim) });
      if (claim.metadata.deletionTimestamp !== undefined) {
        if (isBeingProvisioned(claim)) await finishAbandoned(context, claim, storageClass, provisioners);
        return done();
      }
      if (volumeName) {
        await settleBound(
          context,
          claim,
          must(volumes, 'volumes').get({ name: volumeName }),
          storageClass,
          provisioners,
        );
        return done();
      }
      const isUsed = (): boolean =>
        must(pods, 'pods')
          .byIndex(podsByClaim, `${key.namespace}/${key.name}`)
          .some((pod) => !isFinished(pod));
      const mustWait = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && !isUsed();
      const volume = mustWait ? undefined : matchingVolume(claim, must(volumes, 'volumes').list());
      const standard = hasNoClass(claim) ? defaultClass(must(classes, 'classes').list()) : undefined;
      if (volume) await bind(context, claim, volume);
      // The claim waited for a default class and gets it now. The change enqueues it again.
      else if (standard) await giveClass(context, claim, standard);
      else await provisionFor(context, claim, storageClass, { provisioners, mustWait });
      return done();
    },
  });
}

async function giveClass(
  { client }: ReconcileContext,
  claim: PersistentVolumeClaim,
  { metadata }: StorageClass,
): Promise<void> {
  const { resourceVersion } = claim.metadata;
  const patch = {
    metadata: { resourceVersion: must(resourceVersion, 'resourceVersion') },
    spec: { storageClassName: must(metadata.name, 'metadata.name') },
  };
  await client.patch(PersistentVolumeClaims, objectKey(claim), 'merge', patch, { fieldManager }).catch(ignoreNotFound);
}

function claimKey({ spec }: PersistentVolume): ObjectKey[] {
  const { namespace, name } = spec.claimRef ?? {};
  return namespace !== undefined && name !== undefined ? [{ namespace, name }] : [];
}
