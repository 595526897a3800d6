import { createHash } from 'node:crypto';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  Pods,
  type VolumeAttachment,
  VolumeAttachments,
} from '../../api/index.ts';
import { type Lister, type ObjectKey, objectKey } from '../../client/index.ts';
import { ignoreNotFound, isAlreadyExists, must } from '../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  foreignReason,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import { directoryDriver } from '../kubelet/claim-directory.ts';

const fieldManager = 'attachdetach-controller';
const podsByClaim = 'by-claim';

/** Name of a VolumeAttachment, computed like kube-controller-manager because kubelets look for it. */
export function attachmentName(volume: PersistentVolume, nodeName: string): string {
  const { driver = '', volumeHandle = '' } = volume.spec.csi ?? {};
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

/** Creates VolumeAttachments for the nodes whose Pods use volumes, and deletes them afterwards. */
export function attachDetachController(): ControllerDefinition {
  let claims: Lister<PersistentVolumeClaim> | undefined;
  let pods: Lister<Pod> | undefined;
  const volumesOf = (pod: Pod): ObjectKey[] =>
    claimsOf(pod).flatMap((name) => {
      const claim = claims?.get({ namespace: pod.metadata.namespace ?? '', name });
      return claim?.spec.volumeName ? [{ name: claim.spec.volumeName }] : [];
    });
  return defineController({
    name: 'attachdetach',
    for: PersistentVolumes,
    concurrency: 2,
    watches: [
      watchObjects(PersistentVolumes),
      watchMapped(Pods, volumesOf),
      watchMapped(VolumeAttachments, ({ spec }) => [{ name: spec.source.persistentVolumeName ?? '' }]),
    ],
    setup(cache) {
      claims = cache.informer(PersistentVolumeClaims).lister;
      const informer = cache.informer(Pods);
      informer.addIndexer(podsByClaim, (pod) => claimsOf(pod).map((name) => `${pod.metadata.namespace}/${name}`));
      pods = informer.lister;
    },
    async reconcile({ client, cache, events }, key) {
      const volume = cache.lister(PersistentVolumes).get(key);
      const attachments = cache
        .lister(VolumeAttachments)
        .list({ filter: ({ spec }) => spec.source.persistentVolumeName === key.name });
      const users = volume ? usersOf(volume, must(pods, 'pods')) : [];
      const nodes = new Set(users.map(({ spec }) => spec.nodeName ?? ''));
      for (const attachment of attachments) {
        const isGoing = attachment.metadata.deletionTimestamp !== undefined;
        if (nodes.has(attachment.spec.nodeName) || isGoing) continue;
        await client.delete(VolumeAttachments, objectKey(attachment)).catch(ignoreNotFound);
      }
      if (!volume?.spec.csi || volume.spec.csi.driver === directoryDriver) return done();
      for (const nodeName of nodes) {
        if (attachments.some(({ spec }) => spec.nodeName === nodeName)) continue;
        if (attachments.length > 0 && isForOneNode(volume)) {
          const waiting = must(
            users.find(({ spec }) => spec.nodeName === nodeName),
            'waiting',
          );
          const message = `Multi-Attach error for volume "${key.name}" Volume is already exclusively attached to one node and can't be attached to another`;
          events.event(waiting, 'Warning', foreignReason('FailedAttachVolume'), message);
          continue;
        }
        const desired: VolumeAttachment = {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'VolumeAttachment',
          metadata: { name: attachmentName(volume, nodeName) },
          spec: { attacher: volume.spec.csi.driver, nodeName, source: { persistentVolumeName: key.name } },
        };
        await client.create(VolumeAttachments, desired, { fieldManager }).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
        // A single-node volume is attached to one node at a time; the next waits until it is detached.
        if (isForOneNode(volume)) break;
      }
      return done();
    },
  });
}

function usersOf({ spec }: PersistentVolume, pods: Lister<Pod>): readonly Pod[] {
  const { namespace, name } = spec.claimRef ?? {};
  return pods
    .byIndex(podsByClaim, `${namespace}/${name}`)
    .filter((pod) => Boolean(pod.spec.nodeName) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
}

function isForOneNode({ spec }: PersistentVolume): boolean {
  return !(spec.accessModes ?? []).some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany');
}

function claimsOf({ metadata, spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
}
