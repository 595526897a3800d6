import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  StorageClass,
} from '../../../api/index.ts';

// Where claims meet what keeps the data.

/** A volume to be made. */
export interface ProvisionRequest {
  /** of the PersistentVolume; the same for the same claim, so that a repeated request finds what an earlier one made */
  readonly name: string;
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly capacityBytes: number;
}

/** What was made for a claim. */
export interface ProvisionedVolume {
  /** the part of the PersistentVolume that says where the data is, e.g. `{ hostPath: { path } }` */
  readonly source: Partial<PersistentVolumeSpec>;
  /** when it is more than was asked for */
  readonly capacity?: string;
}

/** Makes and removes what holds the data of claims. Errors it throws are told to users and tried again. */
export interface Provisioner {
  provision(request: ProvisionRequest): Promise<ProvisionedVolume>;
  /** removes the data; succeeds when there is none any more */
  remove(volume: PersistentVolume): Promise<void>;
  /** makes it larger; absent: it cannot */
  expand?(volume: PersistentVolume, capacityBytes: number): Promise<void>;
}

/** Provisioners by the name storage classes know them by. */
export type Provisioners = Readonly<Record<string, Provisioner>>;

/** holds a claim while its volume is made, so that none is made that nobody knows of */
export const provisioningFinalizer = 'capstan.dev/provisioning';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/** Who made a volume, by the name storage classes know it by; empty when it was brought. */
export function provisionerOf({ metadata }: PersistentVolume): string {
  return metadata.annotations?.[provisionedBy] ?? '';
}
