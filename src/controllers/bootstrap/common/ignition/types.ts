// Ignition specification version; docs/decisions explains why not 2.3.0 as upstream.

export const ignitionVersion = '3.3.0';

export interface IgnitionDropin {
  name: string;
  contents?: string;
}

export interface IgnitionUnit {
  name: string;
  enabled?: boolean;
  mask?: boolean;
  contents?: string;
  dropins?: IgnitionDropin[];
}

export interface IgnitionResource {
  source: string;
  compression?: string;
  verification?: { hash?: string };
}

export interface IgnitionNode {
  path: string;
  user?: { name?: string; id?: number };
  group?: { name?: string; id?: number };
  overwrite?: boolean;
}

export interface IgnitionFile extends IgnitionNode {
  contents?: IgnitionResource;
  append?: IgnitionResource[];
  mode?: number;
}

export interface IgnitionDirectory extends IgnitionNode {
  mode?: number;
}

export interface IgnitionLink extends IgnitionNode {
  target: string;
  hard?: boolean;
}

export interface IgnitionPartition {
  label?: string;
  number?: number;
  sizeMiB?: number;
  startMiB?: number;
  typeGuid?: string;
  guid?: string;
  wipePartitionEntry?: boolean;
  shouldExist?: boolean;
}

export interface IgnitionDisk {
  device: string;
  wipeTable?: boolean;
  partitions?: IgnitionPartition[];
}

export interface IgnitionRaid {
  name: string;
  level: string;
  devices: string[];
  spares?: number;
  options?: string[];
}

export interface IgnitionFilesystem {
  device: string;
  format?: string;
  path?: string;
  label?: string;
  uuid?: string;
  wipeFilesystem?: boolean;
  options?: string[];
  mountOptions?: string[];
}

export interface IgnitionUser {
  name: string;
  gecos?: string;
  groups?: string[];
  homeDir?: string;
  noCreateHome?: boolean;
  noLogInit?: boolean;
  noUserGroup?: boolean;
  passwordHash?: string;
  primaryGroup?: string;
  shell?: string;
  sshAuthorizedKeys?: string[];
  system?: boolean;
  uid?: number;
}

export interface IgnitionGroup {
  name: string;
  gid?: number;
  passwordHash?: string;
  system?: boolean;
}

/** Lists of an Ignition configuration; absent and empty are equal. */
export interface IgnitionContent {
  users?: IgnitionUser[];
  groups?: IgnitionGroup[];
  units?: IgnitionUnit[];
  disks?: IgnitionDisk[];
  raid?: IgnitionRaid[];
  filesystems?: IgnitionFilesystem[];
  files?: IgnitionFile[];
  directories?: IgnitionDirectory[];
  links?: IgnitionLink[];
}
