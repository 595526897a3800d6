import type { JsonObject } from '../../machinery/index.ts';
import { type Query, segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import {
  flag,
  numberOr,
  objects,
  text,
  textIf,
  textMap,
  textOrEmpty,
  textUnlessEmpty,
  timeIf,
} from '../resource/read.ts';

export interface Volume {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  /** `creating`, `available`, `in-use`, `error`, `deleting`, … */
  readonly status: string;
  /** GiB */
  readonly size: number;
  readonly volumeType: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly bootable: boolean;
  readonly multiattach: boolean;
  readonly encrypted: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly attachments: readonly { readonly serverId: string; readonly device: string | undefined }[];
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
}

export interface VolumeChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface VolumeSpec extends VolumeChanges {
  readonly name: string;
  /** GiB */
  readonly size?: number | undefined;
  readonly volumeType?: string | undefined;
  readonly availabilityZone?: string | undefined;
  /** image to copy from */
  readonly imageId?: string | undefined;
  readonly snapshotId?: string | undefined;
  readonly sourceVolumeId?: string | undefined;
}

export interface VolumeFilter {
  readonly name?: string | undefined;
  readonly status?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly bootable?: boolean | undefined;
  readonly availabilityZone?: string | undefined;
  /** such as `created_at:asc` */
  readonly sort?: string | undefined;
  /** volumes of all projects; requires administrator rights */
  readonly allTenants?: boolean | undefined;
}

export interface Volumes extends Collection<Volume, VolumeSpec, VolumeChanges, VolumeFilter> {
  /** extends the volume to `size` GiB */
  extend(id: string, size: number, options?: CallOptions): Promise<void>;
}

const path = '/volumes';

export function volumes(service: ServiceClient): Volumes {
  return {
    ...collection<Volume, VolumeSpec, VolumeChanges, VolumeFilter>(service, {
      path,
      listPath: '/volumes/detail',
      one: 'volume',
      many: 'volumes',
      parse: parseVolume,
      desired: (desired) => ({
        size: desired.size,
        volume_type: desired.volumeType,
        availability_zone: desired.availabilityZone,
        imageRef: desired.imageId,
        snapshot_id: desired.snapshotId,
        source_volid: desired.sourceVolumeId,
        ...body(desired),
      }),
      changes: body,
      query: volumeQuery,
    }),
    async extend(id, size, options = {}) {
      await service.request({
        method: 'POST',
        path: `${path}/${segment(id)}/action`,
        json: { 'os-extend': { new_size: size } },
        ...options,
      });
    },
  };
}

export function parseVolume(value: JsonObject): Volume {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    description: textIf(value, 'description'),
    status: text(value, 'status'),
    size: numberOr(value, 'size', 0),
    volumeType: textUnlessEmpty(value, 'volume_type'),
    availabilityZone: textUnlessEmpty(value, 'availability_zone'),
    bootable: flag(value, 'bootable'),
    multiattach: flag(value, 'multiattach'),
    encrypted: flag(value, 'encrypted'),
    metadata: textMap(value, 'metadata'),
    attachments: objects(value, 'attachments', (attachment) => ({
      serverId: textOrEmpty(attachment, 'server_id'),
      device: textUnlessEmpty(attachment, 'device'),
    })),
    createdAt: timeIf(value, 'created_at'),
    updatedAt: timeIf(value, 'updated_at'),
  };
}

function body(desired: VolumeChanges): object {
  return { name: desired.name, description: desired.description, metadata: desired.metadata };
}

function volumeQuery(filter: VolumeFilter): Query {
  return {
    name: filter.name,
    status: filter.status,
    metadata: filter.metadata && JSON.stringify(filter.metadata),
    bootable: filter.bootable,
    availability_zone: filter.availabilityZone,
    sort: filter.sort,
    all_tenants: filter.allTenants === true ? 1 : undefined,
  };
}
