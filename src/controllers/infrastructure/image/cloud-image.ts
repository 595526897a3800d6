import type { Image, ImageResource } from '../../../api/index.ts';
import { type Image as CloudImage, collect, isOpenStackError, type OpenStack } from '../../../openstack/index.ts';
import { ownerMetadataKey } from '../common/names.ts';
import { attempt } from '../common/outcomes.ts';
import { glanceProperties } from './glance-properties.ts';

const reason = 'TransientError';

/** What an Image object does with its cloud. */
export interface ImageCloud {
  readonly openstack: OpenStack;
  /** the mark images made for the object carry */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** undefined: there is no such image */
export async function imageById({ openstack, signal }: ImageCloud, id: string): Promise<CloudImage | undefined> {
  try {
    return await openstack.image.images.get(id, { signal });
  } catch (error) {
    if (isOpenStackError(error, 'notFound')) return undefined;
    return await attempt(`Image ${id} cannot be read`, reason, () => Promise.reject(error));
  }
}

/** The image that was made for an object: an answer may have been lost, so it is found by its mark. */
export async function imageByMark({ openstack, owner, signal }: ImageCloud): Promise<CloudImage | undefined> {
  const found = await attempt('Images cannot be listed', reason, () =>
    collect(openstack.image.images.list({ properties: { [ownerMetadataKey]: owner } }, { signal })),
  );
  return found.filter(({ properties }) => properties[ownerMetadataKey] === owner).sort(byAge)[0];
}

const byAge = (a: CloudImage, b: CloudImage): number => ((a.createdAt ?? '') < (b.createdAt ?? '') ? -1 : 1);

/** Images that have all the fields of an import. */
export async function imagesByFilter(
  { openstack, signal }: ImageCloud,
  { name, tags, visibility }: NonNullable<NonNullable<Image['spec']['import']>['filter']>,
): Promise<CloudImage[]> {
  return await attempt('Images cannot be listed', reason, () =>
    collect(openstack.image.images.list({ name, tags, visibility }, { signal })),
  );
}

export const nameOf = ({ metadata, spec }: Image): string => spec.resource?.name ?? metadata.name ?? '';

/** Makes the image, without content. */
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

/** Brings what may be changed to what is desired; the image as it is afterwards. */
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
