import type { Policy, PolicyLevel } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import { type Operation as ResourceOperation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkImage, columnsOf, isProperty, isReadOnly, propertiesOf } from './attributes.ts';
import { type Image, type Images, renderImage } from './images.ts';
import { importMethods, importRoutes, storeId } from './import.ts';
import { listImages } from './list.ts';
import { memberRoutes } from './members.ts';
import { mustOwn } from './ownership.ts';
import { taskRoutes } from './tasks.ts';

const patchType = 'application/openstack-images-v2.1-json-patch';
const olderPatchType = 'application/openstack-images-v2.0-json-patch';

export function imageRoutes(images: Images): Route[] {
  const policy = (name: string, level: PolicyLevel): Policy => ({ name, level });
  const policies: Readonly<Record<ResourceOperation, Policy>> = {
    list: policy('get_images', 'reader'),
    create: policy('add_image', 'member'),
    show: policy('get_image', 'reader'),
    update: policy('modify_image', 'member'),
    delete: policy('delete_image', 'member'),
  };
  const own = (context: RequestContext, action: string): Readonly<Image> => {
    const image = images.find(context);
    mustOwn(context, image, action);
    return image;
  };
  return [
    ...resourceRoutes<Image>({
      path: '/v2/images',
      updateMethod: 'PATCH',
      policy: (operation) => policies[operation],
      find(context, operation) {
        const id = context.param('id');
        if (operation === 'delete' && !images.images.has(id)) {
          throw new Refusal(404, `Failed to find image ${id} to delete`);
        }
        return operation === 'delete' ? own(context, 'delete_image') : images.find(context);
      },
      view: renderImage,
      list: (context) => listImages(images, context),
      create: (context) => create(images, context),
      createdHeaders: ({ id }, { serviceUrl }) => ({
        location: `${serviceUrl}/v2/images/${id}`,
        'openstack-image-import-methods': importMethods.join(','),
        'openstack-image-store-ids': storeId,
      }),
      update: (context) => patch(images, context),
      delete(image) {
        if (image.isProtected) throw new Refusal(403, `Image ${image.id} is protected and cannot be deleted.`);
        images.remove(image.id);
      },
    }),
    {
      method: 'PUT',
      path: '/v2/images/{id}/file',
      policy: policy('upload_image', 'member'),
      handle: (context) => upload(images, context),
    },
    {
      method: 'GET',
      path: '/v2/images/{id}/file',
      policy: policy('download_image', 'reader'),
      handle: (context) => {
        const { id, status, checksum } = images.find(context);
        const content = images.contents.get(id);
        if (status === 'queued' || !content) return { status: 204 };
        if (status === 'deactivated' && !context.caller.isAdmin) {
          throw new Refusal(403, 'The requested image has been deactivated. Image data download is forbidden.');
        }
        return {
          status: 200,
          headers: { 'content-md5': checksum ?? '' },
          bytes: Buffer.from(content.base64, 'base64'),
        };
      },
    },
    {
      method: 'PUT',
      path: '/v2/images/{id}/tags/{tag}',
      policy: policy('modify_image', 'member'),
      handle: (context) => {
        const image = own(context, 'modify_image');
        const tag = context.param('tag');
        if (tag.length > 255) throw new Refusal(400, `Provided object does not match schema 'tag'`);
        if (!image.tags.includes(tag)) images.change(image.id, { tags: [...image.tags, tag] });
        return { status: 204 };
      },
    },
    {
      method: 'DELETE',
      path: '/v2/images/{id}/tags/{tag}',
      policy: policy('modify_image', 'member'),
      handle: (context) => {
        const image = own(context, 'modify_image');
        const tag = context.param('tag');
        if (!image.tags.includes(tag)) throw new Refusal(404, 'The resource could not be found.');
        images.change(image.id, { tags: image.tags.filter((each) => each !== tag) });
        return { status: 204 };
      },
    },
    ...(['deactivate', 'reactivate'] as const).map(
      (action): Route => ({
        method: 'POST',
        path: `/v2/images/{id}/actions/${action}`,
        policy: policy(action, 'member'),
        handle: (context) => {
          images.change(own(context, action).id, { status: action === 'deactivate' ? 'deactivated' : 'active' });
          return { status: 204 };
        },
      }),
    ),
    ...memberRoutes(images),
    ...importRoutes(images),
    ...taskRoutes(images),
  ];
}

function mayPublish({ caller }: RequestContext, visibility: unknown): void {
  if (visibility === 'public' && !caller.isAdmin) {
    throw new Refusal(403, 'You are not authorized to complete publicize_image action.');
  }
}

function create(images: Images, context: RequestContext): Readonly<Image> {
  const fields = context.json ?? {};
  checkImage(fields);
  mayPublish(context, fields['visibility']);
  const { core } = images;
  const id = typeof fields['id'] === 'string' ? fields['id'].toLowerCase() : core.ids.uuid();
  if (images.images.has(id)) throw new Refusal(409, `Image ID ${id} already exists!`);
  const limit = core.quotas.excess('image', context.project, { images: 1 });
  if (limit) throw new Refusal(413, `Quota exceeded, too many images: ${limit.limit}`);
  const now = core.now();
  const owner = context.caller.isAdmin && typeof fields['owner'] === 'string' ? fields['owner'] : context.project;
  return images.images.insert({
    id,
    name: null,
    owner,
    status: 'queued',
    visibility: 'shared',
    diskFormat: null,
    containerFormat: null,
    size: null,
    virtualSize: null,
    checksum: null,
    hashValue: null,
    minDisk: 0,
    minRam: 0,
    isProtected: false,
    isHidden: false,
    tags: [],
    createdAt: now,
    updatedAt: now,
    properties: propertiesOf(fields),
    members: {},
    ...columnsOf(fields),
  });
}

function upload(images: Images, context: RequestContext): Answer {
  const type = context.headers['content-type']?.split(';')[0]?.trim();
  if (type !== 'application/octet-stream') {
    throw new Refusal(415, `The request media type ${type} is not supported by this server.`);
  }
  const image = images.find(context);
  mustOwn(context, image, 'upload_image');
  if (image.status !== 'queued') {
    throw new Refusal(409, `Image status transition from ${image.status} to saving is not allowed`);
  }
  if (image.diskFormat === null || image.containerFormat === null) {
    throw new Refusal(400, `Properties disk_format, container_format must be set prior to saving data.`);
  }
  images.store(image.id, context.bytes);
  return { status: 204 };
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

const operationNames = ['add', 'remove', 'replace'] as const;

function operationOf(given: Readonly<Record<string, unknown>>): Operation {
  if (given['op'] === undefined) {
    throw new Refusal(
      400,
      `Unable to find \`op\` in JSON Schema change. It must be one of the following: ${operationNames.join(', ')}.`,
    );
  }
  return given as unknown as Operation;
}

/** Parses the old patch format `{"replace": "/name", "value": …}`, in which the operation is the key of its path. */
function olderOperation(given: Readonly<Record<string, unknown>>): Operation {
  const [op, another] = operationNames.filter((name) => Object.hasOwn(given, name));
  if (op === undefined || another !== undefined) {
    const count = another === undefined ? 'exactly' : 'only';
    throw new Refusal(400, `Operation objects must contain ${count} one member named "add", "remove", or "replace".`);
  }
  if (op !== 'remove' && !Object.hasOwn(given, 'value')) {
    throw new Refusal(400, `Operation "${op}" requires a member named "value".`);
  }
  return { op, path: given[op] as string, value: given['value'] };
}

/** Applies a JSON patch of a flat object. Each operation refers to one attribute. */
function patch(images: Images, context: RequestContext): Readonly<Image> {
  const type = context.headers['content-type']?.split(';')[0]?.trim() ?? '';
  if (type !== patchType && type !== olderPatchType) {
    throw new Refusal(415, `The request media type ${type} is not supported by this server.`);
  }
  const operations = context.json;
  if (!Array.isArray(operations)) throw new Refusal(400, 'Request body must be a JSON array of operation objects.');
  const image = images.find(context);
  mustOwn(context, image, 'modify_image');
  for (const given of operations as Readonly<Record<string, unknown>>[]) {
    const operation = type === olderPatchType ? olderOperation(given) : operationOf(given);
    apply(images, context, images.images.known(image.id), operation);
  }
  return images.images.known(image.id);
}

function apply(images: Images, context: RequestContext, image: Readonly<Image>, { op, path, value }: Operation): void {
  if (!['add', 'replace', 'remove'].includes(op))
    throw new Refusal(400, `Invalid operation: \`${op}\`. It must be one of the following: add, remove, replace.`);
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new Refusal(400, `Invalid JSON pointer for this resource: '${path}'`);
  const name = path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
  if (isReadOnly(name)) throw new Refusal(403, `Attribute '${name}' is read-only.`);
  if (isProperty(name)) {
    const { [name]: existing, ...others } = image.properties;
    if (op !== 'add' && existing === undefined) throw new Refusal(409, `Property ${name} does not exist.`);
    if (op !== 'remove') checkImage({ [name]: value });
    images.change(image.id, { properties: op === 'remove' ? others : { ...others, [name]: String(value) } });
    return;
  }
  if (op === 'remove') throw new Refusal(403, `Property ${name} may not be removed.`);
  checkImage({ [name]: value });
  if (name === 'visibility') mayPublish(context, value);
  images.change(image.id, columnsOf({ [name]: value }));
}
