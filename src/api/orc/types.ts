import type { KubeObject } from '../../machinery/index.ts';
import type { StatusCondition } from '../cluster/types.ts';

export type ImageVisibility = 'public' | 'private' | 'shared' | 'community';
export type ImageHash = { algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512'; value: string };

export interface ImageContent {
  containerFormat?: 'ami' | 'ari' | 'aki' | 'bare' | 'ovf' | 'ova' | 'docker' | 'compressed';
  diskFormat: 'ami' | 'ari' | 'aki' | 'vhd' | 'vhdx' | 'vmdk' | 'raw' | 'qcow2' | 'vdi' | 'ploop' | 'iso';
  download: { url: string; decompress?: 'xz' | 'gz' | 'bz2'; hash?: ImageHash };
}

export interface ImageHardware {
  cdromBus?: string;
  cpuCores?: number;
  cpuPolicy?: string;
  cpuSockets?: number;
  cpuThreadPolicy?: string;
  cpuThreads?: number;
  diskBus?: string;
  qemuGuestAgent?: boolean;
  rngModel?: string;
  scsiModel?: string;
  vifModel?: string;
}

export interface ImageProperties {
  architecture?: string;
  hypervisorType?: string;
  minDiskGB?: number;
  minMemoryMB?: number;
  hardware?: ImageHardware;
  operatingSystem?: { distro?: string; version?: string };
}

export interface ImageResource {
  name?: string;
  protected?: boolean;
  tags?: string[];
  visibility?: ImageVisibility;
  properties?: ImageProperties;
  content?: ImageContent;
}

export interface ImageSpec {
  cloudCredentialsRef: { secretName: string; cloudName: string };
  managementPolicy?: 'managed' | 'unmanaged';
  managedOptions?: { onDelete?: 'delete' | 'detach' };
  import?: { id?: string; filter?: { name?: string; tags?: string[]; visibility?: ImageVisibility } };
  resource?: ImageResource;
}

export interface ImageStatus {
  conditions?: StatusCondition[];
  /** id of the image in the cloud, once known */
  id?: string;
  downloadAttempts?: number;
  resource?: {
    name?: string;
    status?: string;
    protected?: boolean;
    visibility?: string;
    hash?: ImageHash;
    sizeB?: number;
    virtualSizeB?: number;
    tags?: string[];
  };
}

export interface Image extends KubeObject {
  spec: ImageSpec;
  status?: ImageStatus;
}
