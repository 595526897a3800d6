import { isUuid } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import { badRequest, conflict, forbidden } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { isYes } from './server-schema.ts';
import type { BlockDeviceSpec, Flavor } from './tables.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Boot source and disks of a server. */
export interface BootPlan {
  /** empty if the server boots from a volume */
  readonly imageId: string;
  readonly devices: readonly BlockDeviceSpec[];
}

export function parseBlockDevices(list: unknown): BlockDeviceSpec[] {
  if (!Array.isArray(list)) return [];
  return list.map((each: Fields) => {
    const source =
      textOf(each['source_type']) ||
      (each['volume_id'] ? 'volume' : each['snapshot_id'] ? 'snapshot' : each['image_id'] ? 'image' : '');
    const uuid = textOf(each['uuid'] ?? each['volume_id'] ?? each['snapshot_id'] ?? each['image_id']);
    if (source !== 'blank' && uuid === '') {
      throw badRequest('Block Device Mapping is Invalid: Missing device UUID.');
    }
    const destination =
      textOf(each['destination_type']) || (source === 'image' || source === 'blank' ? 'local' : 'volume');
    const index = each['boot_index'];
    return {
      source,
      destination,
      uuid,
      size: Number(each['volume_size'] ?? 0),
      bootIndex: index === undefined || index === null ? null : Number(index),
      deleteOnTermination: isYes(each['delete_on_termination']),
      volumeType: textOf(each['volume_type']),
      tag: typeof each['tag'] === 'string' ? each['tag'] : null,
    };
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Checks that the boot source and the disks exist and fit the flavor. */
export function checkBoot(
  compute: Compute,
  context: RequestContext,
  desired: { imageId: string; devices: readonly BlockDeviceSpec[]; flavor: Readonly<Flavor> },
): BootPlan {
  const { imageId, devices, flavor } = desired;
  const { image: images } = compute.core.services;
  const root = devices.find(({ bootIndex }) => bootIndex === 0);
  if (!isBootSequence(devices)) {
    throw badRequest(
      'Block Device Mapping is Invalid: Boot sequence for the instance and image/block device mapping combination is not valid.',
    );
  }
  const bootImageId = imageId || (root?.source === 'image' && root.destination === 'local' ? root.uuid : '');
  if (bootImageId !== '') {
    const image = images.image(bootImageId);
    if (!image || !images.canUse(image, context.project, context.caller.isAdmin)) {
      throw badRequest('Can not find requested image');
    }
    if (image.status !== 'active') throw badRequest(`Image ${image.id} is not active.`);
    if (flavor.ram < image.minRam) throw badRequest("Flavor's memory is too small for requested image.");
    const bootsFromVolume = root?.destination === 'volume';
    if (!bootsFromVolume && flavor.disk > 0 && flavor.disk < image.minDisk) {
      throw badRequest(
        `Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is ${flavor.disk * 2 ** 30} bytes, minimum size is ${image.minDisk * 2 ** 30} bytes.`,
      );
    }
  }
  for (const device of devices) checkDevice(compute, context, device);
  if (flavor.disk === 0 && root?.destination !== 'volume') {
    throw forbidden('Only volume-backed servers are allowed for flavors with zero disk.');
  }
  return { imageId: root?.destination === 'volume' ? '' : bootImageId, devices };
}

/** Boot devices are numbered from 0 without gaps. All others have -1 or no index. */
function isBootSequence(devices: readonly BlockDeviceSpec[]): boolean {
  if (devices.length === 0) return true;
  const indexes = devices.map(({ bootIndex }) => bootIndex ?? -1).filter((index) => index >= 0);
  return indexes.length > 0 && indexes.sort((a, b) => a - b).every((index, at) => index === at);
}

function checkDevice(compute: Compute, context: RequestContext, device: BlockDeviceSpec): void {
  const { volume: volumes, image: images } = compute.core.services;
  const { source, destination, uuid, size } = device;
  if (source === 'volume' && destination === 'local' && !volumes.volume(uuid)) {
    throw badRequest(`Volume ${uuid} could not be found.`);
  }
  if (destination !== 'volume') return;
  if (device.volumeType !== '' && !volumes.volumeTypeExists(device.volumeType)) {
    throw badRequest(`Volume type ${device.volumeType} could not be found.`);
  }
  switch (source) {
    case 'image': {
      const image = isUuid(uuid) ? images.image(uuid) : undefined;
      if (!image || !images.canUse(image, context.project, context.caller.isAdmin)) {
        throw badRequest(`Block Device Mapping is Invalid: failed to get image ${uuid}.`);
      }
      if (size === 0) throw badRequest("Images with destination_type 'volume' need to have a non-zero size specified");
      break;
    }
    case 'volume': {
      const volume = volumes.volume(uuid);
      if (!volume || (volume.projectId !== context.project && !context.caller.isAdmin)) {
        throw badRequest(`Block Device Mapping is Invalid: failed to get volume ${uuid}.`);
      }
      if (volume.status !== 'available' && !volume.multiattach) {
        throw badRequest(
          `Invalid volume: Volume ${uuid} status must be available or downloading to reserve, but the current status is ${volume.status}.`,
        );
      }
      if (device.bootIndex === 0 && !volume.bootable) {
        throw badRequest(`Block Device ${uuid} is not bootable.`);
      }
      break;
    }
    case 'snapshot':
      if (!volumes.snapshotExists(uuid, context.project)) {
        throw badRequest(`Snapshot ${uuid} could not be found.`);
      }
      break;
    case 'blank':
      if (size === 0) throw badRequest("Blank volumes (source: 'blank', dest: 'volume') need to have non-zero size");
      break;
  }
}

/** Returns the next free device name. */
export function nextDevice(used: readonly string[]): string {
  for (let code = 'a'.charCodeAt(0); code <= 'z'.charCodeAt(0); code++) {
    const device = `/dev/sd${String.fromCharCode(code)}`;
    if (!used.includes(device)) return device;
  }
  throw conflict('The maximum number of volumes that can be attached to a server was reached.');
}
