import type { ImageRecord } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import { htmlAnswer } from '../core/http/fixed-answers.ts';
import { newestFirst } from '../core/paging.ts';
import { Refusal } from '../core/refusal.ts';
import type { Room } from '../core/room.ts';
import type { Answer, Route } from '../core/service.ts';
import { createImages, type Image, imageView } from './images.ts';
import { isListed } from './list.ts';
import { imageRoutes } from './routes.ts';
import { schemaRoutes } from './schemas.ts';

const minors = [15, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

function versions(context: RequestContext): object {
  const links = [{ rel: 'self', href: `${context.serviceUrl}/v2/` }];
  const version = (minor: number, index: number): object => ({
    id: `v2.${minor}`,
    status: index === 0 ? 'CURRENT' : 'SUPPORTED',
    links,
  });
  return { versions: minors.map(version) };
}

const versionRoutes: readonly Route[] = [
  { method: 'GET', path: '/', open: true, handle: (context) => ({ status: 300, body: versions(context) }) },
  { method: 'GET', path: '/versions', open: true, handle: (context) => ({ status: 200, body: versions(context) }) },
];

type Uploaded = Pick<Image, 'name' | 'owner' | 'diskFormat' | 'containerFormat' | 'minDisk' | 'minRam' | 'properties'> &
  Partial<Pick<Image, 'visibility' | 'isProtected'>>;

export const imageRoom: Room = (core) => {
  const images = createImages(core);
  core.quotas.declare('image', { images: -1 }, (projectId) => images.images.count('owner', projectId));
  core.timings.declare({ 'image.snapshot': [2000, 5000] });
  core.jobs.define('image.snapshotDone', (id) => {
    if (images.images.has(id)) images.store(id, Buffer.from(`simulated snapshot ${id}\n`));
  });
  /** Creates an image that becomes active later. */
  const upload = (wanted: Uploaded): string => {
    const now = core.now();
    const { id } = images.images.insert({
      visibility: 'private',
      isProtected: false,
      ...wanted,
      id: core.ids.uuid(),
      status: 'queued',
      size: null,
      virtualSize: null,
      checksum: null,
      hashValue: null,
      isHidden: false,
      tags: [],
      createdAt: now,
      updatedAt: now,
      members: {},
    });
    core.jobs.schedule(core.timings.sample('image.snapshot'), 'image.snapshotDone', id);
    return id;
  };
  core.provide('image', {
    image: (id) => {
      const image = images.images.get(id);
      return image && imageView(image);
    },
    record: (id) => {
      const image = images.images.get(id);
      return image && recordOf(image);
    },
    visible: (projectId, isAdmin) => {
      const caller = { projectId, isAdmin };
      const shown = [...images.images.all()].filter((image) => !image.isHidden && isListed(images, image, caller));
      return newestFirst(shown).map(recordOf);
    },
    setProperties: (id, properties) => void images.change(id, { properties }),
    canUse: (view, projectId, isAdmin) => {
      const image = images.images.get(view.id);
      return image !== undefined && images.canSee(image, projectId, isAdmin);
    },
    createSnapshot(desired) {
      const base = images.images.get(desired.baseImageId);
      return upload({
        name: desired.name,
        owner: desired.projectId,
        diskFormat: base?.diskFormat ?? 'qcow2',
        containerFormat: base?.containerFormat ?? 'bare',
        minDisk: base?.minDisk ?? 0,
        minRam: base?.minRam ?? 0,
        properties: {
          ...base?.properties,
          image_type: 'snapshot',
          instance_uuid: desired.serverId,
          user_id: desired.userId,
          base_image_ref: desired.baseImageId,
          ...desired.properties,
        },
      });
    },
    createImage: ({ name, projectId, diskFormat, containerFormat, size, properties, visibility, isProtected }) =>
      upload({
        name,
        owner: projectId,
        diskFormat,
        containerFormat,
        minDisk: size,
        minRam: 0,
        properties,
        ...(visibility !== undefined && { visibility }),
        ...(isProtected !== undefined && { isProtected }),
      }),
    deleteImage(id) {
      if (!images.images.has(id)) return;
      images.remove(id);
    },
  });
  return {
    type: 'image',
    name: 'glance',
    root: '/image',
    catalogPath: '',
    jsonContentType: 'application/json',
    routes: [...versionRoutes, ...imageRoutes(images), ...schemaRoutes],
    renderRefusal: ({ status, message }) => htmlAnswer(status, message),
    renderUnauthenticated: (context): Answer => ({
      ...htmlAnswer(
        401,
        'This server could not verify that you are authorized to access the document you requested. Either you supplied the wrong credentials (e.g., bad password), or your browser does not understand how to supply the credentials required.',
      ),
      headers: { 'www-authenticate': `Keystone uri="${context.origin}/identity"` },
    }),
    // Glance answers all unknown paths outside of a version with the list of versions.
    renderUnknownPath: (context) =>
      context.path.startsWith('/v2/')
        ? htmlAnswer(404, 'The resource could not be found.')
        : { status: 300, body: versions(context) },
    renderWrongMethod: (_context, allowed) => ({
      ...htmlAnswer(
        405,
        'The server could not comply with the request since it is either malformed or otherwise incorrect.',
      ),
      headers: { allow: allowed.join(', ') },
    }),
    forbidden: ({ name }) => new Refusal(403, `You are not authorized to complete ${name} action.`),
    badJson: () => new Refusal(400, 'Malformed JSON in request body.'),
    headers: (context, { status, body, bytes }): Record<string, string> => {
      if (status === 401 || !context.path.startsWith('/v2/')) return {};
      const isEmpty = body === undefined && bytes === undefined;
      const type = isEmpty ? { 'content-type': 'text/html; charset=UTF-8' } : {};
      return { 'x-openstack-request-id': context.requestId, ...type };
    },
  };
};

function recordOf(image: Readonly<Image>): ImageRecord {
  const { isProtected, createdAt, updatedAt } = image;
  return { ...imageView(image), isProtected, createdAt, updatedAt };
}
