import { parseIso8601 } from '../core/checks/iso8601.ts';
import type { ImageRecord } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import { resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { textRoutes } from '../core/texts.ts';
import { zulu } from '../core/time-formats.ts';
import { badRequest, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { pagedList } from './paging.ts';
import { readMetadata } from './server-schema.ts';

/** Last microversions with image proxy routes. */
const lastVersion = 35;
const lastWithMetadata = 38;

/** Glance states mapped to nova's state and progress in percent. */
const states: Readonly<Record<string, readonly [string, number]>> = {
  queued: ['SAVING', 25],
  saving: ['SAVING', 50],
  active: ['ACTIVE', 100],
  killed: ['ERROR', 0],
};

const stateOf = ({ status }: ImageRecord): readonly [string, number] => states[status] ?? ['UNKNOWN', 0];

/** Routes of nova's deprecated image proxy. */
export function imageProxyRoutes(compute: Compute): Route[] {
  const glance = (): Compute['core']['services']['image'] => compute.core.services.image;
  const find = (context: RequestContext): ImageRecord => {
    const image = glance().record(context.param('id'));
    if (!image || !glance().canUse(image, context.project, context.caller.isAdmin)) throw notFound('Image not found.');
    return image;
  };
  const mustOwn = (context: RequestContext, { owner }: ImageRecord): void => {
    if (owner !== context.caller.projectId && !context.caller.isAdmin) {
      throw forbidden('You are not allowed to access the image.');
    }
  };
  const list = (context: RequestContext, renderOne: (image: ImageRecord) => object): Answer => {
    const rows = glance().visible(context.project, context.caller.isAdmin).filter(filterOf(context));
    return pagedList(context, 'images', rows, renderOne);
  };
  return [
    ...resourceRoutes<ImageRecord>({
      path: '/v2.1/images',
      name: 'image',
      policy: (operation) => ({ name: 'os_compute_api:images', level: operation === 'delete' ? 'member' : 'reader' }),
      versions: () => ({ until: lastVersion }),
      find,
      view: (image, context) => render(context, image),
      list: (context) => list(context, ({ id, name }) => ({ id, name, links: links(context, id) })),
      detail: (context) => list(context, (image) => render(context, image)),
      delete(image, context) {
        mustOwn(context, image);
        if (image.isProtected) throw forbidden('You are not allowed to delete the image.');
        glance().deleteImage(image.id);
      },
    }),
    ...metadataRoutes(compute, find, mustOwn),
  ];
}

function metadataRoutes(
  compute: Compute,
  find: (context: RequestContext) => ImageRecord,
  mustOwn: (context: RequestContext, image: ImageRecord) => void,
): Route[] {
  return textRoutes({
    path: '/v2.1/images/{id}/metadata',
    key: 'metadata',
    single: 'meta',
    isReplaceable: true,
    deleted: 204,
    versions: { until: lastWithMetadata },
    policy: (_operation, level) => ({ name: 'os_compute_api:image-metadata', level }),
    parse: readMetadata,
    read: (context) => find(context).properties,
    write(context, metadata) {
      const image = find(context);
      mustOwn(context, image);
      const limit = compute.core.quotas.limit('compute', context.project, 'metadata_items');
      if (limit >= 0 && Object.keys(metadata).length > limit) throw forbidden('Image metadata limit exceeded');
      compute.core.services.image.setProperties(image.id, metadata);
    },
    unknown: ({ method }) => (method === 'DELETE' ? 'Invalid metadata key' : 'The resource could not be found.'),
  });
}

function filterOf({ query }: RequestContext): (image: ImageRecord) => boolean {
  const [name, status, type] = [query.get('name'), query.get('status'), query.get('type')];
  const [minDisk, minRam] = [Number(query.get('minDisk') ?? 0), Number(query.get('minRam') ?? 0)];
  // Clients send the id of a server or its URL.
  const server = query.get('server')?.split('/').at(-1);
  const text = query.get('changes-since');
  const since = text === undefined ? undefined : parseIso8601(text);
  if (text !== undefined && since === undefined) throw badRequest('Invalid changes-since value');
  return (image) =>
    (name === undefined || image.name === name) &&
    (status === undefined || stateOf(image)[0] === status.toUpperCase()) &&
    (type === undefined || image.properties['image_type'] === type) &&
    (server === undefined || image.properties['instance_uuid'] === server) &&
    (since === undefined || image.updatedAt >= since) &&
    image.minDisk >= minDisk &&
    image.minRam >= minRam;
}

function links(context: RequestContext, id: string): object[] {
  return [
    { rel: 'self', href: `${context.serviceUrl}/v2.1/images/${id}` },
    { rel: 'bookmark', href: `${context.serviceUrl}/images/${id}` },
    { rel: 'alternate', type: 'application/vnd.openstack.image', href: `${context.origin}/image/images/${id}` },
  ];
}

function render(context: RequestContext, image: ImageRecord): object {
  const [status, progress] = stateOf(image);
  const server = image.properties['instance_uuid'];
  return {
    id: image.id,
    name: image.name,
    minRam: image.minRam,
    minDisk: image.minDisk,
    metadata: image.properties,
    created: zulu(image.createdAt),
    updated: zulu(image.updatedAt),
    status,
    progress,
    'OS-EXT-IMG-SIZE:size': image.size ?? 0,
    links: links(context, image.id),
    ...(server !== undefined && {
      server: {
        id: server,
        links: [
          { rel: 'self', href: `${context.serviceUrl}/v2.1/servers/${server}` },
          { rel: 'bookmark', href: `${context.serviceUrl}/servers/${server}` },
        ],
      },
    }),
  };
}
