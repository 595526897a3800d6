import { collect } from '../resource/pages.ts';
import type { VolumeService } from '../volume/volume.ts';
import type { Volume } from '../volume/volumes.ts';
import { createRecorder } from './recorder.ts';
import type { Rehearsal } from './rehearsal.ts';
import { createTable, readFrom, rehearsedPart, type Table } from './table.ts';

export interface VolumeTables {
  readonly volumes: Table<Volume>;
}

const service = 'volume';

export function volumeTables({ volume }: { volume: VolumeService }): VolumeTables {
  return { volumes: createTable({ service, kind: 'volume', load: () => collect(volume.volumes.list()) }) };
}

export function rehearsedVolume(real: VolumeService, { volumes }: VolumeTables, rehearsal: Rehearsal): VolumeService {
  const { made, deleted } = createRecorder(rehearsal);
  return rehearsedPart(real, {
    volumes: rehearsedPart(real.volumes, {
      ...readFrom({ service, kind: 'volumes' }, volumes),
      async create(desired) {
        return made('volume', volumes, {
          id: rehearsal.newId('volume'),
          name: desired.name,
          description: desired.description,
          status: 'available',
          size: desired.size ?? 0,
          volumeType: desired.volumeType,
          availabilityZone: desired.availabilityZone,
          bootable: desired.imageId !== undefined,
          multiattach: false,
          encrypted: false,
          metadata: desired.metadata ?? {},
          attachments: [],
          createdAt: rehearsal.now(),
          updatedAt: rehearsal.now(),
        });
      },
      delete: (id) => deleted('volume', volumes, id),
    }),
  });
}
