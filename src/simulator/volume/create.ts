import { type BodySchema, isUuid } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import { badRequest, checkBody, notFound } from '../core/wrapped-refusals.ts';
import { openType } from './types.ts';
import type { Volume, Volumes } from './volumes.ts';

const text: BodySchema = { type: ['string', 'null'], maxLength: 255 };

const schema: BodySchema = {
  type: 'object',
  properties: {
    volume: {
      type: 'object',
      properties: {
        name: { type: ['string', 'null'] },
        description: { type: ['string', 'null'] },
        display_name: { type: ['string', 'null'] },
        display_description: { type: ['string', 'null'] },
        volume_type: text,
        metadata: { type: ['object', 'null'], additionalProperties: { type: 'string', maxLength: 255 } },
        size: { type: ['integer', 'string', 'null'], pattern: '^[0-9]+$', minimum: 1, minLength: 1 },
        availability_zone: text,
        snapshot_id: { type: ['string', 'null'] },
        source_volid: { type: ['string', 'null'] },
        imageRef: text,
        image_id: text,
        multiattach: { type: ['boolean', 'string', 'null'] },
      },
    },
  },
  required: ['volume'],
  additionalProperties: true,
};

/** Reads the body of POST /volumes and creates the volume. */
export function createVolume(volumes: Volumes, context: RequestContext): Readonly<Volume> {
  checkBody(schema, context.json);
  const desired = (context.json as { volume: Readonly<Record<string, unknown>> }).volume;
  const given = (name: string): string | undefined =>
    typeof desired[name] === 'string' && desired[name] !== '' ? desired[name] : undefined;

  for (const key of ['name', 'description']) {
    const length = given(key)?.length ?? 0;
    if (length > 255) throw badRequest(`Invalid input received: ${key} has ${length} characters, more than 255.`);
  }
  const typeName = given('volume_type');
  if (typeName !== undefined && !openType(volumes, context, typeName)) {
    throw notFound(`Volume type ${isUuid(typeName) ? '' : 'with name '}${typeName} could not be found.`);
  }
  const snapshotId = given('snapshot_id');
  const snapshot = snapshotId === undefined ? undefined : volumes.snapshots.get(snapshotId);
  if (snapshotId !== undefined && snapshot?.projectId !== context.project) {
    throw notFound(`Snapshot ${snapshotId} could not be found.`);
  }
  const sourceVolumeId = given('source_volid');
  const source = sourceVolumeId === undefined ? undefined : volumes.volumes.get(sourceVolumeId);
  if (sourceVolumeId !== undefined && source?.projectId !== context.project) {
    throw notFound(`Volume ${sourceVolumeId} could not be found.`);
  }
  const imageId = given('imageRef') ?? given('image_id');
  const image = imageId === undefined ? undefined : findImage(volumes, context, imageId);
  const size = sizeOf(desired['size'], snapshot?.size, source);
  if (image && size < image.minDisk) {
    throw badRequest(
      `Invalid input received: Volume size ${size}GB cannot be smaller than the image minDisk size ${image.minDisk}GB.`,
    );
  }
  const zone = given('availability_zone');
  if (zone !== undefined && !volumes.zones().includes(zone))
    throw badRequest(`Availability zone '${zone}' is invalid.`);

  const volume = volumes.create({
    projectId: context.project,
    userId: context.caller.userId,
    name: given('name') ?? given('display_name') ?? '',
    size,
    description: given('description') ?? given('display_description') ?? null,
    metadata: (desired['metadata'] as Record<string, string> | null | undefined) ?? {},
    isMultiattach: desired['multiattach'] === true || desired['multiattach'] === 'True',
    ...(image && { imageId: image.id }),
    ...(snapshotId !== undefined && { snapshotId }),
    ...(sourceVolumeId !== undefined && { sourceVolumeId }),
    ...(typeName !== undefined && { volumeType: typeName }),
    ...(zone !== undefined && { availabilityZone: zone }),
  });
  // Cinder distinguishes a missing name from an empty one.
  const isNamed = desired['name'] !== undefined || desired['display_name'] !== undefined;
  return isNamed ? volume : volumes.volumes.update(volume.id, { name: null });
}

function findImage(volumes: Volumes, context: RequestContext, id: string): { id: string; minDisk: number } {
  const { image: images } = volumes.core.services;
  const image = isUuid(id) ? images.image(id) : undefined;
  if (!image || !images.canUse(image, context.project, context.caller.isAdmin)) {
    throw badRequest('Invalid image identifier or unable to access requested image.');
  }
  if (image.status !== 'active') {
    throw badRequest(`Image ${id} is not active.`);
  }
  return image;
}

function sizeOf(desired: unknown, snapshotSize: number | undefined, source: Readonly<Volume> | undefined): number {
  const least = snapshotSize ?? source?.size;
  if (desired === undefined || desired === null) {
    if (least !== undefined) return least;
    throw badRequest(
      'The server could not comply with the request since it is either malformed or otherwise incorrect.',
    );
  }
  const size = Number(desired);
  // The schema checks numbers. Only strings get here.
  if (size < 1) {
    throw badRequest(`Invalid input for field/attribute size. Value: ${size}. ${size} is less than the minimum of 1`);
  }
  if (snapshotSize !== undefined && size < snapshotSize) {
    throw badRequest(
      `Invalid input received: Volume size ${size}GB cannot be smaller than the snapshot size ${snapshotSize}GB. They must be >= original snapshot size.`,
    );
  }
  if (source && size < source.size) {
    throw badRequest(
      `Invalid input received: Volume size ${size}GB cannot be smaller than original volume size ${source.size}GB. They must be >= original volume size.`,
    );
  }
  return size;
}
