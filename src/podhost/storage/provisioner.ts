import type { CsiDriver, StorageClass } from '../../api/index.ts';
import type { Provisioner } from '../../housekeeping/index.ts';
import { claimDirectory, directoryDriver as driver, type PodBackend } from '../../simkube/index.ts';

/** What storage classes call the directories of this host. */
export const directoryProvisionerName = 'capstan.dev/directory';

/** The class of claims that name none. */
export const standardStorageClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: 'standard',
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: directoryProvisionerName,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
};

/** Volumes are directories: nothing is attached to a node before they can be used. */
export const directoryCsiDriver: CsiDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: driver },
  spec: { attachRequired: false, podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] },
};

/** Makes a directory of the back end for every claim. */
export function directoryProvisioner(backend: PodBackend): Provisioner {
  return {
    async provision({ name, capacityBytes }) {
      const volumeHandle = await backend.createDirectory(name, { capacityBytes });
      return { source: { csi: { driver, volumeHandle } } };
    },
    async remove(volume) {
      const directory = claimDirectory(volume);
      if (directory !== undefined) await backend.removeDirectory(directory);
    },
    // Directories grow by themselves.
    async expand() {},
  };
}
