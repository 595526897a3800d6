import type { PersistentVolume, StorageClass } from '../../api/index.ts';
import type { Provisioner } from '../../housekeeping/index.ts';
import type { PodBackend } from '../types.ts';

/** What storage classes call the directories of this host. */
export const directoryProvisionerName = 'capstan.dev/directory';
const driver = 'directory.capstan.dev';

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

/** The directory behind a volume; undefined when the volume is of another kind. */
export function claimDirectory({ spec }: PersistentVolume): string | undefined {
  if (spec.csi?.driver === driver) return spec.csi.volumeHandle;
  if (spec.hostPath) return `host${spec.hostPath.path}`;
  if (spec.local) return `host${spec.local.path}`;
  return undefined;
}
