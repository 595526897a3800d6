import type { State } from '../core/state/state.ts';
import type { Row, Table } from '../core/state/table.ts';
import type { SumDefinition } from '../core/state/table-sum.ts';

export interface Flavor extends Row {
  readonly name: string;
  readonly vcpus: number;
  /** MiB */
  readonly ram: number;
  /** GiB */
  readonly disk: number;
  readonly ephemeral: number;
  /** MiB */
  readonly swap: number;
  readonly rxtxFactor: number;
  readonly isPublic: boolean;
  readonly description: string | null;
  readonly extraSpecs: Readonly<Record<string, string>>;
  /** projects that may use a flavor that is not public */
  readonly projects: readonly string[];
}

export interface KeyPair extends Row {
  readonly userId: string;
  readonly name: string;
  readonly type: string;
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly createdAt: number;
}

export interface ServerGroup extends Row {
  readonly name: string;
  readonly projectId: string;
  readonly userId: string;
  readonly policy: string;
  readonly rules: Readonly<Record<string, number>>;
}

export interface Host extends Row {
  readonly zone: string;
  readonly vcpus: number;
  readonly ram: number;
  readonly disk: number;
  /** whether `nova-compute` accepts new servers */
  readonly enabled: boolean;
  readonly up: boolean;
}

export interface Aggregate extends Row {
  readonly uuid: string;
  readonly name: string;
  /** availability zone of the aggregate; null for none */
  readonly zone: string | null;
  readonly hosts: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number | undefined;
}

export type VmState =
  | 'building'
  | 'active'
  | 'stopped'
  | 'paused'
  | 'suspended'
  | 'rescued'
  | 'resized'
  | 'shelved'
  | 'shelved_offloaded'
  | 'soft-delete'
  | 'error'
  | 'deleted';

export interface ServerPort {
  readonly id: string;
  /** created for the server and deleted with it */
  readonly isOurs: boolean;
  readonly tag: string | null;
}

export interface ServerVolume {
  readonly volumeId: string;
  readonly device: string;
  readonly isRoot: boolean;
  readonly deleteOnTermination: boolean;
  readonly tag: string | null;
  readonly attachmentId: string;
  readonly mappingId: string;
  readonly isAttached: boolean;
}

/** A network of a create request that has no port yet. */
export interface NetworkSpec {
  readonly networkId: string;
  readonly portId: string;
  readonly fixedIp: string;
  readonly tag: string | null;
}

export interface BlockDeviceSpec {
  readonly source: string;
  readonly destination: string;
  readonly uuid: string;
  readonly size: number;
  readonly bootIndex: number | null;
  readonly deleteOnTermination: boolean;
  readonly volumeType: string;
  readonly tag: string | null;
}

export interface ServerFault {
  readonly code: number;
  readonly createdAt: number;
  readonly message: string;
  readonly details: string;
}

/** Copy of the flavor at creation. Later changes of the flavor do not affect the server. */
export interface ServerFlavor {
  readonly id: string;
  readonly name: string;
  readonly vcpus: number;
  readonly ram: number;
  readonly disk: number;
  readonly ephemeral: number;
  readonly swap: number;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

export interface Server extends Row {
  readonly name: string;
  readonly hostname: string;
  readonly projectId: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly launchedAt: number | undefined;
  readonly terminatedAt: number | undefined;
  readonly vmState: VmState;
  readonly taskState: string | null;
  readonly powerState: number;
  readonly fault: ServerFault | undefined;
  readonly flavor: ServerFlavor;
  /** image of a shelved server; absent in data of earlier versions */
  readonly shelvedImageId?: string;
  /** set while a resize waits for confirmation */
  readonly previousFlavor: ServerFlavor | undefined;
  /** empty if the server boots from a volume */
  readonly imageId: string;
  readonly keyName: string | null;
  readonly publicKey: string;
  /** requested zone; empty for any */
  readonly wantedZone: string;
  readonly zone: string;
  readonly host: string;
  readonly hostId: string;
  readonly groupId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly description: string | null;
  /** base64, as received */
  readonly userData: string;
  readonly configDrive: boolean;
  readonly diskConfig: string;
  readonly isLocked: boolean;
  readonly lockedReason: string | null;
  readonly accessIPv4: string;
  readonly accessIPv6: string;
  readonly securityGroups: readonly string[];
  readonly networkRequests: readonly NetworkSpec[];
  readonly deviceRequests: readonly BlockDeviceSpec[];
  readonly ports: readonly ServerPort[];
  readonly volumes: readonly ServerVolume[];
  readonly reservationId: string;
  readonly launchIndex: number;
}

export interface InstanceAction extends Row {
  readonly serverId: string;
  readonly action: string;
  readonly requestId: string;
  readonly userId: string;
  readonly projectId: string;
  readonly startedAt: number;
  readonly finishedAt: number | undefined;
  readonly message: string | null;
}

export interface ConsoleLog extends Row {
  readonly text: string;
}

/** A file of a machine's disk. The path of a directory ends in a slash. */
export interface DiskFile extends Row {
  readonly serverId: string;
  readonly path: string;
  readonly content: string;
  readonly mode: number;
}

export interface ComputeTables {
  readonly flavors: Table<Flavor>;
  readonly keyPairs: Table<KeyPair>;
  readonly serverGroups: Table<ServerGroup>;
  readonly hosts: Table<Host>;
  readonly aggregates: Table<Aggregate>;
  readonly servers: Table<Server>;
  /** recently deleted servers, for `changes-since` */
  readonly deletedServers: Table<Server>;
  readonly actions: Table<InstanceAction>;
  readonly consoles: Table<ConsoleLog>;
  readonly files: Table<DiskFile>;
}

export function declareComputeTables(state: State): ComputeTables {
  const used = (amount: (flavor: ServerFlavor) => number): SumDefinition<Server> => ({
    of: ['projectId', 'flavor'],
    part: ({ projectId, flavor }) => ({ key: projectId, amount: amount(flavor) }),
  });
  const onHost = (amount: (flavor: ServerFlavor) => number): SumDefinition<Server> => ({
    of: ['host', 'flavor'],
    part: ({ host, flavor }) => (host === '' ? undefined : { key: host, amount: amount(flavor) }),
  });
  // names of these fields in data of 0.1
  const renamed = { networkWishes: 'networkRequests', deviceWishes: 'deviceRequests' } as const; // words-ok: in saved files
  return {
    flavors: state.table<Flavor>('flavors', { indexes: { name: ({ name }) => name } }),
    keyPairs: state.table<KeyPair>('key_pairs', { indexes: { user: ({ userId }) => userId } }),
    serverGroups: state.table<ServerGroup>('server_groups', { indexes: { project: ({ projectId }) => projectId } }),
    hosts: state.table<Host>('hosts', { indexes: { zone: ({ zone }) => zone } }),
    aggregates: state.table<Aggregate>('aggregates'),
    servers: state.table<Server>('servers', {
      indexes: {
        project: { of: ['projectId'], key: ({ projectId }) => projectId },
        group: { of: ['groupId'], key: ({ groupId }) => (groupId === '' ? undefined : groupId) },
        host: { of: ['host'], key: ({ host }) => (host === '' ? undefined : host) },
      },
      sums: {
        cores: used(({ vcpus }) => vcpus),
        ram: used(({ ram }) => ram),
        disk: used(({ disk }) => disk),
        hostCores: onHost(({ vcpus }) => vcpus),
        hostRam: onHost(({ ram }) => ram),
      },
      renamed,
    }),
    deletedServers: state.table<Server>('deleted_servers', {
      indexes: { project: ({ projectId }) => projectId },
      renamed,
    }),
    actions: state.table<InstanceAction>('instance_actions', {
      indexes: { server: { of: ['serverId'], key: ({ serverId }) => serverId } },
    }),
    consoles: state.table<ConsoleLog>('consoles'),
    files: state.table<DiskFile>('disk_files', {
      indexes: { server: { of: ['serverId'], key: ({ serverId }) => serverId } },
    }),
  };
}
