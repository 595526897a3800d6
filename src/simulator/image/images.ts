import { createHash } from 'node:crypto';
import type { ImageView } from '../core/contracts.ts';
import type { Core } from '../core/core.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Row, Table } from '../core/state/table.ts';
import { zulu } from '../core/time-formats.ts';

export interface Image extends Row {
  readonly name: string | null;
  readonly owner: string;
  readonly status: 'queued' | 'saving' | 'uploading' | 'importing' | 'active' | 'killed' | 'deactivated';
  readonly visibility: 'public' | 'private' | 'shared' | 'community';
  readonly diskFormat: string | null;
  readonly containerFormat: string | null;
  readonly size: number | null;
  readonly virtualSize: number | null;
  readonly checksum: string | null;
  readonly hashValue: string | null;
  readonly minDisk: number;
  readonly minRam: number;
  readonly isProtected: boolean;
  readonly isHidden: boolean;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: Readonly<Record<string, string>>;
  /** projects a shared image was shared with, with their membership status */
  readonly members: Readonly<Record<string, 'pending' | 'accepted' | 'rejected'>>;
}

/** An asynchronous task of glance. */
export interface Task extends Row {
  readonly type: string;
  readonly status: 'pending' | 'processing' | 'success' | 'failure';
  readonly owner: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly message: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** existing image of an import */
  readonly imageId?: string;
  readonly requestId?: string;
  readonly userId?: string;
}

interface Content extends Row {
  readonly base64: string;
}

/** State of glance and functions its routes share. */
export interface Images {
  readonly core: Core;
  readonly images: Table<Image>;
  readonly contents: Table<Content>;
  readonly tasks: Table<Task>;
  /** image of a request; refuses if the caller cannot see it */
  find(context: RequestContext): Readonly<Image>;
  canSee(image: Readonly<Image>, projectId: string | undefined, isAdmin: boolean): boolean;
  change(id: string, changes: Partial<Omit<Image, 'id'>>): Readonly<Image>;
  /** Stages content until the image is imported. */
  stage(id: string, bytes: Uint8Array): void;
  /** Removes an image with its content and import tasks. */
  remove(id: string): void;
  /** Stores the content of an image and makes it active. */
  store(id: string, bytes: Uint8Array): Readonly<Image>;
}

export function createImages(core: Core): Images {
  const images = core.state.table<Image>('images', { indexes: { owner: ({ owner }) => owner } });
  const contents = core.state.table<Content>('image_contents');
  const tasks = core.state.table<Task>('image_tasks', { indexes: { image: ({ imageId }) => imageId ?? '' } });
  const canSee: Images['canSee'] = (image, projectId, isAdmin) =>
    isAdmin ||
    image.visibility === 'public' ||
    image.visibility === 'community' ||
    image.owner === projectId ||
    (image.visibility === 'shared' && projectId !== undefined && projectId in image.members);
  const keep = (id: string, bytes: Uint8Array): void => {
    const base64 = Buffer.from(bytes).toString('base64');
    if (contents.has(id)) contents.update(id, { base64 });
    else contents.insert({ id, base64 });
  };
  const change: Images['change'] = (id, changes) => images.update(id, { ...changes, updatedAt: core.now() });
  return {
    core,
    images,
    contents,
    tasks,
    canSee,
    change,
    find(context) {
      const id = context.param('id');
      const image = images.get(id);
      if (!image || !canSee(image, context.caller.projectId, context.caller.isAdmin)) {
        throw new Refusal(404, `No image found with ID ${id}`);
      }
      return image;
    },
    stage(id, bytes) {
      keep(id, bytes);
      change(id, { status: 'uploading', size: bytes.length });
    },
    remove(id) {
      for (const task of [...tasks.by('image', id)]) tasks.delete(task.id);
      contents.delete(id);
      images.delete(id);
    },
    store(id, bytes) {
      keep(id, bytes);
      return change(id, {
        status: 'active',
        size: bytes.length,
        // Glance determines the virtual size of raw images from their size.
        virtualSize: images.get(id)?.diskFormat === 'raw' ? bytes.length : null,
        checksum: createHash('md5').update(bytes).digest('hex'),
        hashValue: createHash('sha512').update(bytes).digest('hex'),
      });
    },
  };
}

export function imageView(image: Readonly<Image>): ImageView {
  const { id, owner, status, visibility, diskFormat, containerFormat, size, checksum, minDisk, minRam, properties } =
    image;
  return {
    id,
    name: image.name ?? '',
    owner,
    status,
    visibility,
    diskFormat,
    containerFormat,
    size,
    checksum,
    minDisk,
    minRam,
    properties,
  };
}

/** Renders an image. Properties are next to the attributes, on the same level. */
export function renderImage(image: Readonly<Image>): Record<string, unknown> {
  return {
    ...image.properties,
    name: image.name,
    disk_format: image.diskFormat,
    container_format: image.containerFormat,
    visibility: image.visibility,
    size: image.size,
    virtual_size: image.virtualSize,
    status: image.status,
    checksum: image.checksum,
    protected: image.isProtected,
    min_ram: image.minRam,
    min_disk: image.minDisk,
    owner: image.owner,
    os_hidden: image.isHidden,
    os_hash_algo: image.hashValue === null ? null : 'sha512',
    os_hash_value: image.hashValue,
    id: image.id,
    created_at: zulu(image.createdAt),
    updated_at: zulu(image.updatedAt),
    tags: image.tags,
    self: `/v2/images/${image.id}`,
    file: `/v2/images/${image.id}/file`,
    schema: '/v2/schemas/image',
    ...(image.status === 'active' && { stores: 'fs' }),
  };
}
