import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import type { Images, Task } from './images.ts';
import { mustOwn } from './ownership.ts';

/** Import methods of image content. */
export const importMethods: readonly string[] = ['glance-direct', 'web-download'];

/** the only store of contents */
export const storeId = 'fs';

const job = 'image.imported';

/** Routes of image import: content is staged first and imported later. */
export function importRoutes(images: Images): Route[] {
  const { core } = images;
  core.timings.declare({ 'image.import': [500, 1500] });
  core.jobs.define<{ uri?: string }>(job, (id, { uri }) => {
    if (images.images.get(id)?.status !== 'importing') return;
    const staged = images.contents.get(id);
    // Nothing is downloaded, because clients could otherwise make the host of this cloud send requests.
    const problem = staged ? undefined : unreachable(uri ?? '');
    for (const task of [...images.tasks.by('image', id)]) {
      if (task.status !== 'processing') continue;
      const outcome: Partial<Task> =
        problem === undefined
          ? { status: 'success', result: { image_id: id } }
          : { status: 'failure', message: problem };
      images.tasks.update(task.id, { ...outcome, updatedAt: core.now() });
    }
    if (problem !== undefined) {
      images.change(id, { status: 'queued' });
      return;
    }
    images.store(id, staged ? Buffer.from(staged.base64, 'base64') : Buffer.from(`simulated download of ${uri}\n`));
  });
  return [
    {
      method: 'GET',
      path: '/v2/info/import',
      handle: (): Answer => ({
        status: 200,
        body: {
          'import-methods': {
            description: 'Import methods available.',
            type: 'array',
            value: importMethods,
          },
        },
      }),
    },
    {
      method: 'GET',
      path: '/v2/info/stores',
      handle: (): Answer => ({ status: 200, body: { stores: [{ id: storeId, default: 'true' }] } }),
    },
    {
      method: 'PUT',
      path: '/v2/images/{id}/stage',
      policy: { name: 'modify_image', level: 'member' },
      handle: (context): Answer => {
        const image = images.find(context);
        mustOwn(context, image, 'modify_image');
        if (image.status !== 'queued') {
          throw new Refusal(409, `Image status transition from ${image.status} to uploading is not allowed`);
        }
        images.stage(image.id, context.bytes);
        return { status: 204 };
      },
    },
    {
      method: 'POST',
      path: '/v2/images/{id}/import',
      policy: { name: 'modify_image', level: 'member' },
      handle: (context): Answer => begin(images, context),
    },
  ];
}

/** Names below `.invalid` never resolve (RFC 2606), so a download from there fails as on a real cloud. */
function unreachable(uri: string): string | undefined {
  const host = URL.canParse(uri) ? new URL(uri).hostname : '';
  if (!/(^|\.)invalid$/.test(host)) return undefined;
  return `Task failed due to Internal Error: <urlopen error [Errno -2] Name or service not known>`;
}

function begin(images: Images, context: RequestContext): Answer {
  const { method } = (context.json ?? {}) as { method?: { name?: unknown; uri?: unknown } };
  const name = method?.name;
  if (typeof name !== 'string' || !importMethods.includes(name)) {
    throw new Refusal(400, `Unknown import method name '${String(name)}'.`);
  }
  const image = images.find(context);
  mustOwn(context, image, 'modify_image');
  if (image.diskFormat === null || image.containerFormat === null) {
    throw new Refusal(400, "'disk_format' and 'container_format' need to be set before import");
  }
  if (name === 'web-download') {
    const { uri } = method as { uri?: unknown };
    if (typeof uri !== 'string' || !/^https?:\/\/[^/]/.test(uri)) {
      throw new Refusal(400, `Invalid uri for web-download: ${String(uri)}`);
    }
    if (image.status !== 'queued') {
      throw new Refusal(409, "Image needs to be in 'queued' state to use 'web-download' method");
    }
  } else if (image.status !== 'uploading') {
    throw new Refusal(409, "Image needs to be staged before 'glance-direct' method can be used");
  }
  images.change(image.id, { status: 'importing' });
  const { ids, jobs, timings } = images.core;
  const now = images.core.now();
  images.tasks.insert({
    id: ids.uuid(),
    type: 'api_image_import',
    status: 'processing',
    owner: context.project,
    input: { image_id: image.id, import_req: context.json as object, backend: [storeId] },
    result: null,
    message: '',
    createdAt: now,
    updatedAt: now,
    imageId: image.id,
    requestId: context.requestId,
    userId: context.caller.userId,
  });
  jobs.schedule(timings.sample('image.import'), job, image.id, { uri: String(method?.uri ?? '') });
  return { status: 202 };
}
