import type { CsiDriver, StorageClass } from '../../api/index.ts';
import type { Provisioner } from '../../housekeeping/index.ts';
import { claimDirectory, directoryDriver as driver, type PodBackend } from '../../simkube/index.ts';

/** Provisioner name of this host in storage classes. */
export const directoryProvisionerName = 'capstan.dev/directory';

/** The default storage class. */
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

/** Volumes are directories, which need no attach step. */
export const directoryCsiDriver: CsiDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: driver },
  spec: { attachRequired: false, podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] },
};

/** Creates a directory of the backend for every claim. */
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
    // Directories have no fixed size.
    async expand() {},
  };
}
