import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  StorageClass,
} from '../../../api/index.ts';

// Interface between claims and the storage backend.

export interface ProvisionRequest {
  /**
   * name of the PersistentVolume; the same for the same claim, so that a repeated request finds the volume of an
   * earlier one
   */
  readonly name: string;
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly capacityBytes: number;
}

/** Volume created for a claim. */
export interface ProvisionedVolume {
  /** the volume source of the PersistentVolume, e.g. `{ hostPath: { path } }` */
  readonly source: Partial<PersistentVolumeSpec>;
  /** set if larger than requested */
  readonly capacity?: string;
}

/** Creates and removes the storage of claims. Errors are reported as events and retried. */
export interface Provisioner {
  provision(request: ProvisionRequest): Promise<ProvisionedVolume>;
  /** removes the data; succeeds if it does not exist */
  remove(volume: PersistentVolume): Promise<void>;
  /** expands the volume; absent if not supported */
  expand?(volume: PersistentVolume, capacityBytes: number): Promise<void>;
}

/** Provisioners by the name that storage classes use. */
export type Provisioners = Readonly<Record<string, Provisioner>>;

/** finalizer that keeps a claim while its volume is created, so that no volume is orphaned */
export const provisioningFinalizer = 'capstan.dev/provisioning';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/** Name of the provisioner that created a volume; empty for volumes created by hand. */
export function provisionerOf({ metadata }: PersistentVolume): string {
  return metadata.annotations?.[provisionedBy] ?? '';
}
