import type { VolumeService } from '../core/contracts.ts';
import { Refusal } from '../core/refusal.ts';
import { type Volumes, volumeView } from './volumes.ts';

/** Cinder's operations for nova: reserve, attach, detach. */
export function volumeService(volumes: Volumes): VolumeService {
  const { core } = volumes;
  const must = (id: string): NonNullable<ReturnType<Volumes['volumes']['get']>> => {
    const volume = volumes.volumes.get(id);
    if (!volume) throw new Refusal(404, `Volume ${id} could not be found.`);
    return volume;
  };
  return {
    volume: (id) => {
      const volume = volumes.volumes.get(id);
      return volume && volumeView(volume);
    },
    snapshotExists: (id, projectId) => volumes.snapshots.get(id)?.projectId === projectId,
    volumeTypeExists: (nameOrId) => volumes.findType(nameOrId) !== undefined,
    createVolume: (desired) => volumeView(volumes.create(desired)),
    reserve(id) {
      const volume = must(id);
      volumes.mustBeFree(volume);
      if (volume.attachments.length === 0) volumes.change(id, { status: 'reserved' });
    },
    attach(id, { serverId, device, host }) {
      const { attachments } = must(id);
      const attachmentId = core.ids.uuid();
      const attachment = { id: attachmentId, serverId, device, host, attachedAt: core.now() };
      volumes.change(id, { status: 'in-use', attachments: [...attachments, attachment] });
      return attachmentId;
    },
    beginDetach(id) {
      const volume = must(id);
      if (volume.status === 'in-use') volumes.change(id, { status: 'detaching' });
    },
    detach(id, serverId) {
      const { attachments, status } = must(id);
      const left = attachments.filter((each) => each.serverId !== serverId);
      // Releases only volumes that nova held. A volume in another state, such as deleting or error, does not change.
      const isHeld = status === 'in-use' || status === 'detaching' || status === 'reserved' || status === 'attaching';
      volumes.change(id, { attachments: left, ...(isHeld && { status: left.length > 0 ? 'in-use' : 'available' }) });
    },
    setStatus(id, status) {
      if (!volumes.volumes.has(id)) return false;
      volumes.change(id, { status });
      return true;
    },
    deleteVolume(id) {
      const volume = volumes.volumes.get(id);
      if (volume && volume.status !== 'deleting') volumes.remove(volume);
    },
  };
}
