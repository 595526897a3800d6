import type { PersistentVolume } from '../../api/index.ts';

/** CSI driver name of directory volumes. */
export const directoryDriver = 'directory.capstan.dev';

/** Returns the directory of a volume; undefined for other kinds of volumes. */
export function claimDirectory({ spec }: PersistentVolume): string | undefined {
  if (spec.csi?.driver === directoryDriver) return spec.csi.volumeHandle;
  if (spec.hostPath) return `host${spec.hostPath.path}`;
  if (spec.local) return `host${spec.local.path}`;
  return undefined;
}
