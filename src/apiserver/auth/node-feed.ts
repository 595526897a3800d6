import { asTyped } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { type KeySpace, keyPrefix, nameOfKey, namespaceOfKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { NodeRelationIndex } from './node-relations.ts';

type PodObject = Parameters<NodeRelationIndex['setPod']>[0];
type VolumeObject = Parameters<NodeRelationIndex['setPersistentVolume']>[0];
type AttachmentObject = Parameters<NodeRelationIndex['setVolumeAttachment']>[0];

/** Updates the index from stored pods, volumes and attachments. Returns a function that stops the updates. */
export function feedNodeRelations(store: Store<StoredObject>, index: NodeRelationIndex): () => void {
  const follow = (space: KeySpace, set: (value: StoredObject) => void, remove: (key: string) => void): (() => void) => {
    const prefix = keyPrefix(space);
    const present = store.list(prefix);
    for (const { value } of present.records) set(value);
    return store.watch(prefix, present.revision, (events) => {
      for (const event of events) {
        if (event.type === 'put') set(event.record.value);
        else remove(event.key);
      }
    });
  };
  const stops = [
    follow(
      { group: '', plural: 'pods' },
      ({ object }) => index.setPod(asTyped<PodObject>(object)),
      (key) => index.deletePod(namespaceOfKey(key), nameOfKey(key)),
    ),
    follow(
      { group: '', plural: 'persistentvolumes' },
      ({ object }) => index.setPersistentVolume(asTyped<VolumeObject>(object)),
      (key) => index.deletePersistentVolume(nameOfKey(key)),
    ),
    follow(
      { group: 'storage.k8s.io', plural: 'volumeattachments' },
      ({ object }) => index.setVolumeAttachment(asTyped<AttachmentObject>(object)),
      (key) => index.deleteVolumeAttachment(nameOfKey(key)),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
