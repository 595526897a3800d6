export interface ServerAddress {
  readonly address: string;
  readonly version: number;
  readonly type: 'fixed' | 'floating';
  readonly macAddress: string | undefined;
}

/** Reason why a server failed, in nova's words. */
export interface ServerFault {
  readonly code: number;
  readonly message: string;
}

export interface Server {
  readonly id: string;
  readonly name: string;
  /** `ACTIVE`, `BUILD`, `ERROR`, `SHUTOFF`, …; `DELETED` only in lists of changes */
  readonly status: string;
  readonly taskState: string | undefined;
  readonly vmState: string | undefined;
  readonly powerState: number | undefined;
  readonly fault: ServerFault | undefined;
  /** by network name */
  readonly addresses: Readonly<Record<string, readonly ServerAddress[]>>;
  /** undefined when the server boots from a volume */
  readonly imageId: string | undefined;
  readonly flavor: {
    /** only with microversions before 2.47 */
    readonly id: string | undefined;
    readonly name: string | undefined;
    readonly vcpus: number | undefined;
    /** MiB */
    readonly ram: number | undefined;
    /** GiB */
    readonly disk: number | undefined;
  };
  readonly keyName: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly availabilityZone: string | undefined;
  readonly hostId: string | undefined;
  readonly configDrive: boolean;
  readonly securityGroupNames: readonly string[];
  readonly volumes: readonly { readonly id: string; readonly deleteOnTermination: boolean }[];
  readonly serverGroupIds: readonly string[];
  readonly projectId: string;
  readonly userId: string;
  readonly description: string | undefined;
  readonly locked: boolean;
  readonly created: string | undefined;
  readonly updated: string | undefined;
  readonly launchedAt: string | undefined;
}

export type ServerNetwork =
  | { readonly portId: string }
  | { readonly networkId: string; readonly fixedIp?: string | undefined };

/** A disk of a new server. */
export interface BlockDevice {
  readonly source: 'image' | 'volume' | 'snapshot' | 'blank';
  readonly destination: 'local' | 'volume';
  /** id of the image, volume or snapshot */
  readonly id?: string | undefined;
  /** 0 is the root disk, -1 a disk that is not bootable */
  readonly bootIndex: number;
  /** GiB */
  readonly size?: number | undefined;
  readonly deleteOnTermination?: boolean | undefined;
  readonly volumeType?: string | undefined;
  readonly tag?: string | undefined;
}

export interface ServerSpec {
  readonly name: string;
  readonly flavorId: string;
  /** undefined when the server boots from a volume */
  readonly imageId?: string | undefined;
  readonly networks: readonly ServerNetwork[] | 'auto' | 'none';
  readonly availabilityZone?: string | undefined;
  /** as the server receives it, not encoded */
  readonly userData?: string | Uint8Array | undefined;
  readonly keyName?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly configDrive?: boolean | undefined;
  readonly blockDevices?: readonly BlockDevice[] | undefined;
  readonly serverGroupId?: string | undefined;
  /** scheduler hints besides the server group */
  readonly schedulerHints?: Readonly<Record<string, unknown>> | undefined;
  /** names or ids, for ports that nova creates */
  readonly securityGroups?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

export interface ServerChanges {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
}

export interface ServerFilter {
  /** regular expression, matched anywhere in the name */
  readonly name?: string | undefined;
  readonly status?: string | undefined;
  readonly imageId?: string | undefined;
  readonly flavorId?: string | undefined;
  /** regular expression */
  readonly ip?: string | undefined;
  /** must have all of these */
  readonly tags?: readonly string[] | undefined;
  readonly tagsAny?: readonly string[] | undefined;
  readonly notTags?: readonly string[] | undefined;
  readonly notTagsAny?: readonly string[] | undefined;
  /** changed at or after this time; includes deleted servers */
  readonly changesSince?: string | undefined;
  readonly sortKey?: string | undefined;
  readonly sortDir?: 'asc' | 'desc' | undefined;
  /** servers of all projects; requires administrator rights */
  readonly allTenants?: boolean | undefined;
}

export interface InterfaceAttachment {
  readonly portId: string;
  readonly networkId: string;
  readonly macAddress: string;
  readonly state: string;
  readonly fixedIps: readonly { readonly subnetId: string; readonly address: string }[];
}

export interface VolumeAttachment {
  readonly volumeId: string;
  readonly serverId: string;
  readonly device: string | undefined;
}

export interface ServerAction {
  readonly action: string;
  readonly requestId: string;
  readonly startTime: string | undefined;
  /** `Error` if it failed */
  readonly message: string | undefined;
}
