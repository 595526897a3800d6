import type { RequestContext } from '../core/http/context.ts';
import { microseconds, wholeSeconds } from '../core/time-formats.ts';
import { isAttached, type Snapshot, type Volume, type Volumes, type VolumeType } from './volumes.ts';

/** host of all volumes, with its backend */
export const hostName = 'simulated@pool';

/** pool of all volumes */
export const poolName: string = `${hostName}#pool`;

/** id of the only `cinder-volume` service */
const serviceId = '6f0e2b8c-52a5-5d6f-a0f3-6b7a3c0d1e42';

function links(context: RequestContext, kind: string, id: string): object[] {
  const project = context.caller.projectId ?? '';
  return [
    { rel: 'self', href: `${context.serviceUrl}/v3/${project}/${kind}/${id}` },
    { rel: 'bookmark', href: `${context.serviceUrl}/${project}/${kind}/${id}` },
  ];
}

export function renderVolumeBrief(context: RequestContext, { id, name }: Readonly<Volume>): object {
  return { id, name, links: links(context, 'volumes', id) };
}

/** Renders a volume. The answer to a POST lacks fields that are known only later. */
export function renderVolume(
  volumes: Volumes,
  context: RequestContext,
  volume: Readonly<Volume>,
  moment: 'created' | 'changed' | 'shown',
): object {
  const isNew = moment === 'created';
  const isShown = moment === 'shown';
  const { minor, caller } = context;
  const type = volumes.types.get(volume.typeId);
  return {
    id: volume.id,
    status: volume.status,
    size: volume.size,
    availability_zone: volume.zone,
    // The answer to a POST has fractions of a second. Later answers come from the database, which stores whole seconds.
    created_at: isNew ? microseconds(volume.createdAt) : wholeSeconds(volume.createdAt),
    updated_at: volume.updatedAt === undefined ? null : wholeSeconds(volume.updatedAt),
    name: volume.name,
    description: volume.description,
    volume_type: type?.name ?? null,
    snapshot_id: volume.snapshotId,
    source_volid: volume.sourceVolumeId,
    metadata: volume.metadata,
    links: links(context, 'volumes', volume.id),
    user_id: volume.userId,
    bootable: String(volume.isBootable),
    encrypted: false,
    replication_status: null,
    consistencygroup_id: null,
    multiattach: volume.isMultiattach,
    attachments: volume.attachments.filter(isAttached).map(({ id, serverId, device, host, attachedAt }) => ({
      id: volume.id,
      attachment_id: id,
      volume_id: volume.id,
      server_id: serverId,
      host_name: caller.isAdmin ? host : null,
      device,
      attached_at: wholeSeconds(attachedAt),
    })),
    ...(isShown && { 'os-vol-tenant-attr:tenant_id': volume.projectId }),
    ...(isShown && (volume.image || volume.imageMetadata) && { volume_image_metadata: imageMetadata(volume) }),
    ...(isShown &&
      caller.isAdmin && {
        'os-vol-host-attr:host': poolName,
        'os-vol-mig-status-attr:migstat': null,
        'os-vol-mig-status-attr:name_id': null,
        migration_status: null,
      }),
    ...(minor >= 13 && { group_id: null }),
    ...(minor >= 48 && { shared_targets: false, service_uuid: serviceId }),
    ...(minor >= 61 && caller.isAdmin && { cluster_name: null }),
    ...(minor >= 63 && { volume_type_id: volume.typeId }),
    ...(minor >= 65 && { consumes_quota: true }),
  };
}

/** Returns the image metadata of a volume. */
export function imageMetadata({
  image,
  imageMetadata: written,
}: Readonly<Volume>): Readonly<Record<string, string | null>> {
  if (written) return written;
  if (!image) return {};
  return {
    ...image.properties,
    image_id: image.id,
    image_name: image.name,
    checksum: image.checksum,
    container_format: image.containerFormat,
    disk_format: image.diskFormat,
    min_disk: String(image.minDisk),
    min_ram: String(image.minRam),
    size: String(image.size),
  };
}

export function renderSnapshot(
  snapshot: Readonly<Snapshot>,
  { minor }: RequestContext,
  moment: 'created' | 'listed' | 'shown',
): object {
  const isNew = moment === 'created';
  return {
    id: snapshot.id,
    created_at: isNew ? microseconds(snapshot.createdAt) : wholeSeconds(snapshot.createdAt),
    updated_at: snapshot.updatedAt === undefined ? null : wholeSeconds(snapshot.updatedAt),
    name: snapshot.name,
    description: snapshot.description,
    volume_id: snapshot.volumeId,
    status: snapshot.status,
    size: snapshot.size,
    metadata: snapshot.metadata,
    ...(moment === 'shown' && {
      'os-extended-snapshot-attributes:progress': snapshot.status === 'available' ? '100%' : '0%',
      'os-extended-snapshot-attributes:project_id': snapshot.projectId,
    }),
    ...(minor >= 14 && { group_snapshot_id: null }),
    ...(minor >= 41 && { user_id: snapshot.userId }),
    ...(minor >= 65 && { consumes_quota: true }),
  };
}

/** cinder's answers differ: the default type lacks the access, a changed type also the QoS. */
export function renderType(type: Readonly<VolumeType>, moment: 'made' | 'changed' | 'shown' | 'default'): object {
  const { id, name, isPublic, description, extraSpecs } = type;
  return {
    id,
    name,
    is_public: isPublic,
    description,
    extra_specs: extraSpecs,
    ...((moment === 'shown' || moment === 'default') && { qos_specs_id: type.qosSpecsId ?? null }),
    ...((moment === 'shown' || moment === 'made') && { 'os-volume-type-access:is_public': isPublic }),
  };
}
