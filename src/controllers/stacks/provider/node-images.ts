import {
  familyName,
  type Image,
  type NodeImageOptions,
  type OpenStackNodeImageReleaseSpec,
} from '../../../api/index.ts';
import { isJsonObject, type JsonObject } from '../../../machinery/index.ts';
import { readMapping, readText } from '../release/documents.ts';
import type { StackRelease } from '../release/release.ts';
import { StackReleaseError } from '../release/release-error.ts';

const file = 'node-images.yaml';

/** A node image of a release: object name and spec. */
export interface NodeImage {
  readonly name: string;
  readonly image: OpenStackNodeImageReleaseSpec['image'];
}

/** Parses node-images.yaml; releases without it have no images. */
export function nodeImagesOf({ id, metadata, nodeImages }: StackRelease): NodeImage[] {
  if (nodeImages === undefined) return [];
  const list = readMapping(file, nodeImages)['openStackNodeImages'];
  if (!Array.isArray(list)) throw new StackReleaseError(`${file}: openStackNodeImages must be a list`);
  return list.map((entry, i) => {
    const mapping = isJsonObject(entry) ? entry : {};
    const options = isJsonObject(mapping['createOpts']) ? mapping['createOpts'] : {};
    const url = readText(file, mapping, 'url');
    const name = readText(file, options, 'name');
    if (url === undefined || name === undefined) {
      throw new StackReleaseError(`${file}: openStackNodeImages[${i}] has no url or no createOpts.name`);
    }
    const version = (metadata.nodeImageVersion ?? 'v0').replace('.', '-');
    const object = `${familyName(id)}-${name}-${version}`.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
    return { name: object, image: { url, createOpts: optionsOf(options, name) } };
  });
}

/** Selects known options; the schema of the kind validates their types. */
function optionsOf(options: JsonObject, name: string): NodeImageOptions {
  const known = [
    'id',
    'visibility',
    'os_hidden',
    'tags',
    'container_format',
    'disk_format',
    'min_disk',
    'min_ram',
    'protected',
    'properties',
  ];
  const picked = Object.fromEntries(Object.entries(options).filter(([key]) => known.includes(key)));
  return { ...(picked as Partial<NodeImageOptions>), name };
}

/**
 * Builds the ORC Image of a node image. The cloud image stays when the object is deleted, because machines of other
 * clusters may boot from it.
 */
export function imageFor({ identityRef, image }: OpenStackNodeImageReleaseSpec): Image['spec'] {
  const { createOpts } = image;
  const { properties = {} } = createOpts;
  const [distro, version] = [properties['os_distro'], properties['os_version']];
  const known = {
    ...(properties['architecture'] && { architecture: properties['architecture'] }),
    ...(createOpts.min_disk && { minDiskGB: createOpts.min_disk }),
    ...(createOpts.min_ram && { minMemoryMB: createOpts.min_ram }),
    ...((distro || version) && { operatingSystem: { ...(distro && { distro }), ...(version && { version }) } }),
  };
  type Content = NonNullable<NonNullable<Image['spec']['resource']>['content']>;
  return {
    cloudCredentialsRef: { secretName: identityRef.name, cloudName: 'openstack' },
    managementPolicy: 'managed',
    managedOptions: { onDelete: 'detach' },
    resource: {
      name: createOpts.name,
      ...(createOpts.tags && { tags: createOpts.tags }),
      ...(createOpts.protected !== undefined && { protected: createOpts.protected }),
      ...(createOpts.visibility && { visibility: createOpts.visibility as 'private' }),
      ...(Object.keys(known).length > 0 && { properties: known }),
      content: {
        diskFormat: (createOpts.disk_format ?? 'qcow2') as Content['diskFormat'],
        containerFormat: (createOpts.container_format ?? 'bare') as 'bare',
        download: { url: image.url },
      },
    },
  };
}
