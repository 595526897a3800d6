import { must } from '../../machinery/index.ts';
import type { ImageView, NewImage, NewVolume, VolumeView } from '../core/contracts.ts';
import type { Core } from '../core/core.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Row, Table } from '../core/state/table.ts';
import { notFound } from '../core/wrapped-refusals.ts';

export interface VolumeType extends Row {
  readonly name: string;
  readonly description: string | null;
  readonly isPublic: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
  /** projects that may use a private type; absent in data of earlier versions */
  readonly projects?: readonly string[];
  readonly encryption?: Readonly<Record<string, string | number | null>> | undefined;
  readonly qosSpecsId?: string | undefined;
}

/** Limits shared by volume types. */
export interface QosSpecs extends Row {
  readonly name: string;
  readonly consumer: string;
  readonly specs: Readonly<Record<string, string>>;
}

export interface Attachment {
  readonly id: string;
  readonly serverId: string;
  readonly device: string;
  readonly host: string;
  readonly attachedAt: number;
  /** absent: attached */
  readonly status?: 'reserved' | 'attaching' | 'attached';
  /** absent: `rw` */
  readonly mode?: string;
}

export interface Volume extends Row {
  readonly name: string | null;
  readonly description: string | null;
  readonly projectId: string;
  readonly userId: string;
  readonly status: string;
  readonly size: number;
  readonly zone: string;
  readonly typeId: string;
  readonly snapshotId: string | null;
  readonly sourceVolumeId: string | null;
  readonly image: ImageView | undefined;
  /** changes of the image's own metadata; absent: unchanged */
  readonly imageMetadata?: Readonly<Record<string, string>> | undefined;
  readonly isBootable: boolean;
  readonly isMultiattach: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly attachments: readonly Attachment[];
  readonly createdAt: number;
  readonly updatedAt: number | undefined;
}

export interface Snapshot extends Row {
  readonly name: string | null;
  readonly description: string | null;
  readonly projectId: string;
  readonly userId: string;
  readonly volumeId: string;
  readonly size: number;
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number | undefined;
}

const defaultTypeName = '__DEFAULT__';

/** State of cinder, its jobs, and functions its routes share. */
export interface Volumes {
  readonly core: Core;
  readonly volumes: Table<Volume>;
  readonly snapshots: Table<Snapshot>;
  readonly types: Table<VolumeType>;
  readonly qosSpecs: Table<QosSpecs>;
  /** finds the volume of the path, or another one, if the caller may see it */
  find(context: RequestContext, id?: string): Readonly<Volume>;
  findSnapshot(context: RequestContext): Readonly<Snapshot>;
  defaultType(): Readonly<VolumeType>;
  findType(nameOrId: string): Readonly<VolumeType> | undefined;
  zones(): readonly string[];
  change(id: string, changes: Partial<Omit<Volume, 'id'>>): Readonly<Volume>;
  /** Refuses a request above the project's quota. */
  afford(projectId: string, desired: { volumes?: number; gigabytes?: number; snapshots?: number }): void;
  create(desired: NewVolume & VolumeExtras): Readonly<Volume>;
  /** Refuses to reserve a volume that is in use, unless it supports multiattach. */
  mustBeFree(volume: Readonly<Volume>): void;
  /** Writes an image to an existing volume. */
  reimage(volume: Readonly<Volume>, image: ImageView): void;
  /** Creates an image of a volume and returns its id. */
  upload(volume: Readonly<Volume>, image: Omit<NewImage, 'projectId' | 'size'>): string;
  extend(volume: Readonly<Volume>, size: number): void;
  remove(volume: Readonly<Volume>): void;
  createSnapshot(desired: Omit<Snapshot, 'id' | 'status' | 'createdAt' | 'updatedAt'>): Readonly<Snapshot>;
  removeSnapshot(snapshot: Readonly<Snapshot>): void;
}

export interface VolumeExtras {
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly sourceVolumeId?: string;
  readonly isMultiattach?: boolean;
}

const job = {
  download: 'volume.download',
  created: 'volume.created',
  deleted: 'volume.deleted',
  extended: 'volume.extended',
  uploaded: 'volume.uploaded',
  snapshotCreated: 'volume.snapshotCreated',
  snapshotDeleted: 'volume.snapshotDeleted',
} as const;

interface StepData {
  readonly size?: number;
  /** a fault has already struck this step, so the next check is skipped */
  readonly isSpared?: boolean;
}

export function createVolumes(core: Core): Volumes {
  const { state, jobs, timings, quotas } = core;
  const volumes = state.table<Volume>('volumes', {
    indexes: { project: ({ projectId }) => projectId, type: ({ projectId, typeId }) => `${projectId} ${typeId}` },
    sums: {
      gigabytes: ({ projectId, size }) => ({ key: projectId, amount: size }),
      typeGigabytes: ({ projectId, typeId, size }) => ({ key: `${projectId} ${typeId}`, amount: size }),
    },
  });
  const snapshots = state.table<Snapshot>('snapshots', {
    indexes: { project: ({ projectId }) => projectId, volume: ({ volumeId }) => volumeId },
    sums: { gigabytes: ({ projectId, size }) => ({ key: projectId, amount: size }) },
  });
  const types = state.table<VolumeType>('volume_types', { indexes: { name: ({ name }) => name } });
  const qosSpecs = state.table<QosSpecs>('volume_qos_specs', { indexes: { name: ({ name }) => name } });
  timings.declare({
    'volume.create': [200, 500],
    'volume.download': [800, 2000],
    'volume.delete': [200, 500],
    'volume.extend': [200, 500],
    'volume.upload': [1000, 2500],
    'snapshot.create': [200, 500],
    'snapshot.delete': [200, 500],
  });
  core.atBirth(() => {
    const description = 'Default Volume Type';
    types.insert({ id: core.ids.uuid(), name: defaultTypeName, description, isPublic: true, extraSpecs: {} });
  });
  const change: Volumes['change'] = (id, changes) => volumes.update(id, { ...changes, updatedAt: core.now() });

  /** Reports whether a fault prevents a step from completing. `failed` is the status after an error. */
  const strikes = (
    volume: Readonly<Volume>,
    { operation, kind, data, failed }: { operation: string; kind: string; data: StepData; failed: string },
  ): boolean => {
    if (data.isSpared) return false;
    const effect = outcomeOf(core, operation, { projectId: volume.projectId, name: volume.name ?? '' });
    if (!effect || effect.kind === 'over-quota') return false;
    if (effect.kind === 'error') change(volume.id, { status: failed });
    if (effect.kind === 'slow')
      jobs.schedule(core.faults.duration(effect.ms), kind, volume.id, { ...data, isSpared: true });
    return true;
  };

  jobs.define(job.download, (id) => {
    if (volumes.get(id)?.status !== 'creating') return;
    change(id, { status: 'downloading' });
    jobs.schedule(timings.sample('volume.download'), job.created, id);
  });
  jobs.define<StepData | undefined>(job.created, (id, data = {}) => {
    const volume = volumes.get(id);
    if (!volume || (volume.status !== 'creating' && volume.status !== 'downloading')) return;
    if (strikes(volume, { operation: 'volume.create', kind: job.created, data, failed: 'error' })) return;
    change(id, { status: 'available', isBootable: volume.image !== undefined });
  });
  jobs.define<StepData | undefined>(job.deleted, (id, data = {}) => {
    const volume = volumes.get(id);
    if (volume?.status !== 'deleting') return;
    if (!strikes(volume, { operation: 'volume.delete', kind: job.deleted, data, failed: 'error_deleting' }))
      volumes.delete(id);
  });
  jobs.define<StepData>(job.extended, (id, data) => {
    const volume = volumes.get(id);
    if (volume?.status !== 'extending') return;
    if (strikes(volume, { operation: 'volume.extend', kind: job.extended, data, failed: 'error_extending' })) return;
    change(id, { status: volume.attachments.length > 0 ? 'in-use' : 'available', size: data.size ?? volume.size });
  });
  jobs.define(job.uploaded, (id) => {
    const volume = volumes.get(id);
    if (volume?.status === 'uploading') change(id, { status: volume.attachments.length > 0 ? 'in-use' : 'available' });
  });
  jobs.define(job.snapshotCreated, (id) => {
    if (snapshots.get(id)?.status === 'creating') snapshots.update(id, { status: 'available', updatedAt: core.now() });
  });
  jobs.define(job.snapshotDeleted, (id) => void snapshots.delete(id));

  const self: Volumes = {
    core,
    volumes,
    snapshots,
    types,
    qosSpecs,
    change,
    find(context, id = context.param('id')) {
      const volume = volumes.get(id);
      if (!volume || (volume.projectId !== context.project && !context.caller.isAdmin)) {
        throw notFound(`Volume ${id} could not be found.`);
      }
      return volume;
    },
    findSnapshot(context) {
      const id = context.param('id');
      const snapshot = snapshots.get(id);
      if (!snapshot || (snapshot.projectId !== context.project && !context.caller.isAdmin)) {
        throw notFound(`Snapshot ${id} could not be found.`);
      }
      return snapshot;
    },
    // The default type cannot be deleted, but renamed. It is the oldest type.
    defaultType: () => must(types.first('name', defaultTypeName) ?? types.all().next().value, 'default type'),
    findType: (nameOrId) => types.get(nameOrId) ?? types.first('name', nameOrId),
    zones: () => {
      const zones = core.services.compute.availabilityZones();
      return zones.includes('nova') ? zones : [...zones, 'nova'];
    },
    afford(projectId, desired) {
      const effect = outcomeOf(core, 'volume.quota', { projectId, name: '' });
      const excess = quotas.excess('volume', projectId, desired as Record<string, number>);
      const limit = quotas.limit('volume', projectId, 'gigabytes');
      const used = quotas.used('volume', projectId, 'gigabytes');
      if (excess?.resource === 'gigabytes' || effect?.kind === 'over-quota') {
        const quota = effect ? Math.max(used, 0) : limit;
        throw new Refusal(
          413,
          `VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested ${desired.gigabytes}G, quota is ${quota}G and ${used}G has been consumed.`,
        );
      }
      if (excess) {
        const kind = excess.resource === 'volumes' ? 'VolumeLimitExceeded' : 'SnapshotLimitExceeded';
        throw new Refusal(
          413,
          `${kind}: Maximum number of ${excess.resource} allowed (${excess.limit}) exceeded for quota '${excess.resource}'.`,
        );
      }
    },
    create(desired) {
      self.afford(desired.projectId, { volumes: 1, gigabytes: desired.size });
      const image = desired.imageId === undefined ? undefined : core.services.image.image(desired.imageId);
      const source = desired.sourceVolumeId === undefined ? undefined : volumes.get(desired.sourceVolumeId);
      const type = desired.volumeType === undefined ? self.defaultType() : self.findType(desired.volumeType);
      const volume = volumes.insert({
        id: core.ids.uuid(),
        name: desired.name,
        description: desired.description ?? null,
        projectId: desired.projectId,
        userId: desired.userId,
        status: 'creating',
        size: desired.size,
        zone: desired.availabilityZone ?? 'nova',
        typeId: (type ?? self.defaultType()).id,
        snapshotId: desired.snapshotId ?? null,
        sourceVolumeId: desired.sourceVolumeId ?? null,
        image: image ?? source?.image,
        isBootable: false,
        isMultiattach: desired.isMultiattach === true || isForMany(type),
        metadata: desired.metadata ?? {},
        attachments: [],
        createdAt: core.now(),
        updatedAt: undefined,
      });
      jobs.schedule(timings.sample('volume.create'), image ? job.download : job.created, volume.id);
      return volume;
    },
    mustBeFree({ id, status, isMultiattach }) {
      if (status === 'available' || (isMultiattach && status === 'in-use')) return;
      throw new Refusal(
        400,
        `Invalid volume: Volume ${id} status must be available or downloading to reserve, but the current status is ${status}.`,
      );
    },
    reimage(volume, image) {
      change(volume.id, { status: 'downloading', image, imageMetadata: undefined });
      jobs.schedule(timings.sample('volume.download'), job.created, volume.id);
    },
    upload(volume, image) {
      change(volume.id, { status: 'uploading' });
      jobs.schedule(timings.sample('volume.upload'), job.uploaded, volume.id);
      return core.services.image.createImage({ ...image, projectId: volume.projectId, size: volume.size });
    },
    extend(volume, size) {
      self.afford(volume.projectId, { gigabytes: size - volume.size });
      change(volume.id, { status: 'extending' });
      jobs.schedule(timings.sample('volume.extend'), job.extended, volume.id, { size });
    },
    remove(volume) {
      change(volume.id, { status: 'deleting' });
      jobs.schedule(timings.sample('volume.delete'), job.deleted, volume.id);
    },
    createSnapshot(desired) {
      self.afford(desired.projectId, { snapshots: 1, gigabytes: desired.size });
      const id = core.ids.uuid();
      jobs.schedule(timings.sample('snapshot.create'), job.snapshotCreated, id);
      return snapshots.insert({ ...desired, id, status: 'creating', createdAt: core.now(), updatedAt: undefined });
    },
    removeSnapshot(snapshot) {
      snapshots.update(snapshot.id, { status: 'deleting', updatedAt: core.now() });
      jobs.schedule(timings.sample('snapshot.delete'), job.snapshotDeleted, snapshot.id);
    },
  };
  return self;
}

/** Reports whether it is attached, not only reserved. */
export function isAttached({ status = 'attached' }: Attachment): boolean {
  return status === 'attached';
}

/** Reports whether the type has the extra spec `multiattach` with the value `<is> True`. */
function isForMany(type: Readonly<VolumeType> | undefined): boolean {
  return type?.extraSpecs['multiattach']?.toLowerCase() === '<is> true';
}

export function volumeView(volume: Readonly<Volume>): VolumeView {
  return {
    id: volume.id,
    name: volume.name,
    projectId: volume.projectId,
    status: volume.status,
    size: volume.size,
    availabilityZone: volume.zone,
    bootable: volume.isBootable,
    multiattach: volume.isMultiattach,
    image: volume.image,
    attachedTo: volume.attachments.filter(isAttached).map(({ serverId }) => serverId),
  };
}
