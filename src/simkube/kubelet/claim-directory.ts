import type { PersistentVolume } from '../../api/index.ts';

/** What volumes of directories name as their driver. */
export const directoryDriver = 'directory.capstan.dev';

/** The directory behind a volume; undefined when the volume is of another kind. */
export function claimDirectory({ spec }: PersistentVolume): string | undefined {
  if (spec.csi?.driver === directoryDriver) return spec.csi.volumeHandle;
  if (spec.hostPath) return `host${spec.hostPath.path}`;
  if (spec.local) return `host${spec.local.path}`;
  return undefined;
}
