import { parseIso8601 } from '../core/checks/iso8601.ts';
import type { ImageRecord } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import { nextHref, pageOf } from '../core/paging.ts';
import type { Answer, Route } from '../core/service.ts';
import { zulu } from '../core/time-formats.ts';
import { badRequest, checkBody, forbidden, notFound, readTexts } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { maxPage, pageLimit } from './server-list.ts';
import { metadataSchema } from './server-schema.ts';

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
  const policy = (level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: 'os_compute_api:images',
    level,
  });
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
  const list = (context: RequestContext, render: (image: ImageRecord) => object): Answer => {
    const matches = filterOf(context);
    const rows = glance()
      .visible(context.project, context.caller.isAdmin)
      .filter((image) => matches(image));
    const page = pageOf(rows, { limit: pageLimit(context, maxPage), marker: context.query.get('marker') });
    if (!page) throw badRequest(`marker [${context.query.get('marker')}] not found`);
    const last = page.items.at(-1);
    return {
      status: 200,
      body: {
        images: page.items.map(render),
        ...(page.isFull && last && { images_links: [{ rel: 'next', href: nextHref(context, last.id) }] }),
      },
    };
  };
  const base = '/v2.1/images';
  return [
    {
      method: 'GET',
      path: base,
      until: lastVersion,
      policy: policy('reader'),
      handle: (context) => list(context, ({ id, name }) => ({ id, name, links: links(context, id) })),
    },
    {
      method: 'GET',
      path: `${base}/detail`,
      until: lastVersion,
      policy: policy('reader'),
      handle: (context) => list(context, (image) => render(context, image)),
    },
    {
      method: 'GET',
      path: `${base}/{id}`,
      until: lastVersion,
      policy: policy('reader'),
      handle: (context) => ({ status: 200, body: { image: render(context, find(context)) } }),
    },
    {
      method: 'DELETE',
      path: `${base}/{id}`,
      until: lastVersion,
      policy: policy('member'),
      handle: (context) => {
        const image = find(context);
        mustOwn(context, image);
        if (image.isProtected) throw forbidden('You are not allowed to delete the image.');
        glance().deleteImage(image.id);
        return { status: 204 };
      },
    },
    ...metadataRoutes(compute, find, mustOwn),
  ];
}

type Find = (context: RequestContext) => ImageRecord;

function metadataRoutes(
  compute: Compute,
  find: Find,
  mustOwn: (context: RequestContext, image: ImageRecord) => void,
): Route[] {
  const policy = (level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: 'os_compute_api:image-metadata',
    level,
  });
  const readAll = (context: RequestContext): Readonly<Record<string, string>> => {
    checkBody(
      { type: 'object', properties: { metadata: metadataSchema }, required: ['metadata'], additionalProperties: false },
      context.json,
    );
    return (context.json as { metadata: Record<string, string> }).metadata;
  };
  const write = (context: RequestContext, metadata: Readonly<Record<string, string>>): void => {
    const image = find(context);
    mustOwn(context, image);
    const limit = compute.core.quotas.limit('compute', context.project, 'metadata_items');
    if (limit >= 0 && Object.keys(metadata).length > limit) throw forbidden('Image metadata limit exceeded');
    compute.core.services.image.setProperties(image.id, metadata);
  };
  const all = '/v2.1/images/{id}/metadata';
  const one = `${all}/{key}`;
  return [
    {
      method: 'GET',
      path: all,
      until: lastWithMetadata,
      policy: policy('reader'),
      handle: (context) => ({ status: 200, body: { metadata: find(context).properties } }),
    },
    ...(['POST', 'PUT'] as const).map(
      (method): Route => ({
        method,
        path: all,
        until: lastWithMetadata,
        policy: policy('member'),
        handle: (context) => {
          const given = readAll(context);
          const metadata = method === 'POST' ? { ...find(context).properties, ...given } : given;
          write(context, metadata);
          return { status: 200, body: { metadata } };
        },
      }),
    ),
    {
      method: 'GET',
      path: one,
      until: lastWithMetadata,
      policy: policy('reader'),
      handle: (context) => {
        const key = context.param('key');
        const { properties } = find(context);
        if (!Object.hasOwn(properties, key)) throw notFound('The resource could not be found.');
        return { status: 200, body: { meta: { [key]: properties[key] } } };
      },
    },
    {
      method: 'PUT',
      path: one,
      until: lastWithMetadata,
      policy: policy('member'),
      handle: (context) => {
        const key = context.param('key');
        const meta = readTexts('meta', context.json);
        if (Object.keys(meta).length !== 1 || !Object.hasOwn(meta, key)) {
          throw badRequest('Request body and URI mismatch');
        }
        write(context, { ...find(context).properties, ...meta });
        return { status: 200, body: { meta } };
      },
    },
    {
      method: 'DELETE',
      path: one,
      until: lastWithMetadata,
      policy: policy('member'),
      handle: (context) => {
        const { [context.param('key')]: removed, ...rest } = find(context).properties;
        if (removed === undefined) throw notFound('Invalid metadata key');
        write(context, rest);
        return { status: 204 };
      },
    },
  ];
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
