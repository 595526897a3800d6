import type { Image, ImageResource } from '../../../api/index.ts';
import { type Image as CloudImage, collect, isOpenStackError, type OpenStack } from '../../../openstack/index.ts';
import { ownerMetadataKey } from '../common/names.ts';
import { attempt } from '../common/outcomes.ts';
import { glanceProperties } from './glance-properties.ts';

const reason = 'TransientError';

/** An Image object's access to its cloud. */
export interface ImageCloud {
  readonly openstack: OpenStack;
  /** owner id in the marks of the object's images */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** Returns undefined if the image does not exist. */
export async function imageById({ openstack, signal }: ImageCloud, id: string): Promise<CloudImage | undefined> {
  try {
    return await openstack.image.images.get(id, { signal });
  } catch (error) {
    if (isOpenStackError(error, 'notFound')) return undefined;
    return await attempt(`Image ${id} cannot be read`, reason, () => Promise.reject(error));
  }
}

/** Finds the image of an object by its mark, because the creation response may have been lost. */
export async function imageByMark({ openstack, owner, signal }: ImageCloud): Promise<CloudImage | undefined> {
  const found = await attempt('Images cannot be listed', reason, () =>
    collect(openstack.image.images.list({ properties: { [ownerMetadataKey]: owner } }, { signal })),
  );
  return found.filter(({ properties }) => properties[ownerMetadataKey] === owner).sort(byAge)[0];
}

const byAge = (a: CloudImage, b: CloudImage): number => ((a.createdAt ?? '') < (b.createdAt ?? '') ? -1 : 1);

/** Lists images that match all fields of an import filter. */
export async function imagesByFilter(
  { openstack, signal }: ImageCloud,
  { name, tags, visibility }: NonNullable<NonNullable<Image['spec']['import']>['filter']>,
): Promise<CloudImage[]> {
  return await attempt('Images cannot be listed', reason, () =>
    collect(openstack.image.images.list({ name, tags, visibility }, { signal })),
  );
}

export const nameOf = ({ metadata, spec }: Image): string => spec.resource?.name ?? metadata.name ?? '';

/** Creates the image without content. */
export async function makeImage(cloud: ImageCloud, image: Image, resource: ImageResource): Promise<CloudImage> {
  const { content, properties } = resource;
  return await attempt(`Image ${nameOf(image)} cannot be created`, reason, () =>
    cloud.openstack.image.images.create(
      {
        name: nameOf(image),
        diskFormat: content?.diskFormat ?? 'qcow2',
        containerFormat: content?.containerFormat ?? 'bare',
        visibility: resource.visibility,
        protected: resource.protected,
        tags: resource.tags,
        minDisk: properties?.minDiskGB,
        minRam: properties?.minMemoryMB,
        properties: { ...glanceProperties(properties), [ownerMetadataKey]: cloud.owner },
      },
      { signal: cloud.signal },
    ),
  );
}

/** Updates the mutable fields, and returns the resulting image. */
export async function correctImage(
  { openstack, signal }: ImageCloud,
  image: Image,
  resource: ImageResource,
  live: CloudImage,
): Promise<CloudImage> {
  const { images } = openstack.image;
  const changes: Record<string, string | boolean> = {};
  if (live.name !== nameOf(image)) changes['name'] = nameOf(image);
  if (resource.visibility !== undefined && live.visibility !== resource.visibility) {
    changes['visibility'] = resource.visibility;
  }
  if (live.protected !== (resource.protected ?? false)) changes['protected'] = resource.protected ?? false;
  const tags = new Set(resource.tags ?? []);
  const missing = [...tags].filter((tag) => !live.tags.includes(tag));
  const surplus = live.tags.filter((tag) => !tags.has(tag));
  if (Object.keys(changes).length === 0 && missing.length === 0 && surplus.length === 0) return live;
  return await attempt(`Image ${live.id} cannot be changed`, reason, async () => {
    for (const tag of missing) await images.addTag(live.id, tag, { signal });
    for (const tag of surplus) await images.removeTag(live.id, tag, { signal });
    if (Object.keys(changes).length > 0) await images.setProperties(live.id, changes, { signal });
    return await images.get(live.id, { signal });
  });
}
