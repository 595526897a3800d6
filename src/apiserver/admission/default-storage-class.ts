import { isJsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { coreWrites } from './scope.ts';
import type { AdmissionStep } from './types.ts';

const isDefaultAnnotation = 'storageclass.kubernetes.io/is-default-class';
const legacyClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Sets the default class on claims without one (kube-apiserver: DefaultStorageClass). */
export function defaultStorageClass(store: Store<StoredObject>): AdmissionStep {
  return {
    name: 'DefaultStorageClass',
    ...coreWrites('persistentvolumeclaims', ['CREATE']),
    mutate({ object }) {
      const spec = object?.spec;
      // An empty name explicitly selects no class.
      if (!object || !isJsonObject(spec) || spec['storageClassName'] !== undefined) return;
      if (object.metadata.annotations?.[legacyClassAnnotation] !== undefined) return;
      const chosen = newestDefault(store);
      if (chosen?.metadata.name !== undefined) spec['storageClassName'] = chosen.metadata.name;
    },
  };
}

/** Like upstream, returns the newest of several default classes. */
function newestDefault(store: Store<StoredObject>): UnstructuredObject | undefined {
  const prefix = keyPrefix({ group: 'storage.k8s.io', plural: 'storageclasses' });
  let newest: UnstructuredObject | undefined;
  for (const { value } of store.list(prefix).records) {
    const { metadata } = value.object;
    if (metadata.annotations?.[isDefaultAnnotation] !== 'true') continue;
    if (!newest || (metadata.creationTimestamp ?? '') > (newest.metadata.creationTimestamp ?? ''))
      newest = value.object;
  }
  return newest;
}
