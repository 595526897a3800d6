import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { type Query, segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Creatable, type Deletable, deleteAt, type Readable, readable } from '../resource/collection.ts';
import { flag, numberIf, numberOr, text, textIf, textOrEmpty, texts, timeIf } from '../resource/read.ts';

export type ImageVisibility = 'public' | 'private' | 'shared' | 'community';

export interface Image {
  readonly id: string;
  readonly name: string;
  /** `queued`, `saving`, `active`, `deactivated`, … */
  readonly status: string;
  readonly visibility: string;
  readonly owner: string;
  readonly diskFormat: string | undefined;
  readonly containerFormat: string | undefined;
  /** bytes */
  readonly size: number | undefined;
  /** bytes */
  readonly virtualSize: number | undefined;
  readonly checksum: string | undefined;
  /** of the stored content; the cloud chooses the algorithm */
  readonly hash: { readonly algorithm: string; readonly value: string } | undefined;
  /** GiB */
  readonly minDisk: number;
  /** MiB */
  readonly minRam: number;
  readonly protected: boolean;
  readonly hidden: boolean;
  readonly tags: readonly string[];
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  /** other properties: `os_distro`, `os_type`, `hw_…` */
  readonly properties: Readonly<Record<string, string>>;
}

export interface ImageSpec {
  readonly name: string;
  readonly diskFormat: string;
  readonly containerFormat: string;
  readonly visibility?: ImageVisibility | undefined;
  readonly minDisk?: number | undefined;
  readonly minRam?: number | undefined;
  readonly protected?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export interface ImportTask {
  readonly id: string;
  /** `pending`, `processing`, `success` or `failure` */
  readonly status: string;
  /** failure reason in the cloud's words */
  readonly message: string;
}

export interface ImageFilter {
  readonly name?: string | undefined;
  readonly status?: string | undefined;
  readonly visibility?: ImageVisibility | 'all' | undefined;
  readonly owner?: string | undefined;
  /** must have all of these */
  readonly tags?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** such as `created_at:desc` */
  readonly sort?: string | undefined;
}

export interface Images extends Readable<Image, ImageFilter>, Creatable<Image, ImageSpec>, Deletable {
  /** uploads the content, after which the image is `active` */
  upload(id: string, content: Uint8Array | AsyncIterable<Uint8Array>, options?: CallOptions): Promise<void>;
  /** sets properties by glance's names; null removes one */
  setProperties(
    id: string,
    properties: Readonly<Record<string, string | number | boolean | null>>,
    options?: CallOptions,
  ): Promise<Image>;
  /** import methods of the cloud: `web-download`, `glance-direct`, … */
  importMethods(options?: CallOptions): Promise<readonly string[]>;
  /**
   * makes the cloud fetch the content from a URL; the image is `importing` until done, and `queued` again on failure
   */
  webDownload(id: string, url: string, options?: CallOptions): Promise<void>;
  /** import tasks of an image, newest last; not supported before Xena */
  importTasks(id: string, options?: CallOptions): Promise<readonly ImportTask[]>;
  addTag(id: string, tag: string, options?: CallOptions): Promise<void>;
  removeTag(id: string, tag: string, options?: CallOptions): Promise<boolean>;
}

const path = '/images';
/** Uploads may take hours. */
const uploadTimeoutMs = 4 * 3_600_000;

export function images(service: ServiceClient): Images {
  const all = readable<Image, ImageFilter>(service, {
    path,
    one: null,
    many: 'images',
    parse: parseImage,
    query: imageQuery,
    // glance's default is 25.
    pageSize: 1000,
  });
  return {
    ...all,
    async create(desired, options = {}) {
      const answer = await service.request({ method: 'POST', path, json: body(desired), ...options });
      return answer.whole(parseImage);
    },
    async upload(id, content, options = {}) {
      await service.request({
        method: 'PUT',
        path: `${path}/${segment(id)}/file`,
        body: content,
        headers: { 'content-type': 'application/octet-stream' },
        timeoutMs: uploadTimeoutMs,
        repeatable: false,
        ...options,
      });
    },
    async setProperties(id, properties, options = {}) {
      const present = await service.request({ method: 'GET', path: `${path}/${segment(id)}`, ...options });
      const members = present.object();
      const changes = Object.entries(properties).flatMap(([name, value]) => {
        const there = members[name] !== undefined;
        const at = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (value === null) return there ? [{ op: 'remove', path: at }] : [];
        return [{ op: there ? 'replace' : 'add', path: at, value }];
      });
      if (changes.length === 0) return present.whole(parseImage);
      const answer = await service.request({
        method: 'PATCH',
        path: `${path}/${segment(id)}`,
        body: Buffer.from(JSON.stringify(changes)),
        headers: { 'content-type': 'application/openstack-images-v2.1-json-patch' },
        ...options,
      });
      return answer.whole(parseImage);
    },
    async importMethods(options = {}) {
      const answer = await service.request({ method: 'GET', path: '/info/import', ...options });
      const methods = answer.object()['import-methods'];
      return isJsonObject(methods) ? texts(methods, 'value') : [];
    },
    async webDownload(id, url, options = {}) {
      await service.request({
        method: 'POST',
        path: `${path}/${segment(id)}/import`,
        json: { method: { name: 'web-download', uri: url } },
        repeatable: false,
        ...options,
      });
    },
    async importTasks(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: `${path}/${segment(id)}/tasks`, ...options });
      const { tasks } = answer.object();
      return (Array.isArray(tasks) ? tasks : []).filter(isJsonObject).map((task) => ({
        id: textOrEmpty(task, 'id'),
        status: textOrEmpty(task, 'status'),
        message: textOrEmpty(task, 'message'),
      }));
    },
    async addTag(id, tag, options = {}) {
      await service.request({ method: 'PUT', path: `${path}/${segment(id)}/tags/${segment(tag)}`, ...options });
    },
    removeTag: (id, tag, options = {}) => deleteAt(service, `${path}/${segment(id)}/tags/${segment(tag)}`, options),
    delete: (id, options = {}) => deleteAt(service, `${path}/${segment(id)}`, options),
  };
}

/** Members of an image that are not user-defined properties. */
const known: ReadonlySet<string> = new Set([
  'id',
  'name',
  'status',
  'visibility',
  'owner',
  'disk_format',
  'container_format',
  'size',
  'virtual_size',
  'checksum',
  'min_disk',
  'min_ram',
  'protected',
  'os_hidden',
  'tags',
  'created_at',
  'updated_at',
  'self',
  'file',
  'schema',
  'stores',
  'locations',
  'direct_url',
  'os_hash_algo',
  'os_hash_value',
]);

function hashOf(value: JsonObject): Image['hash'] {
  const [algorithm, hash] = [textIf(value, 'os_hash_algo'), textIf(value, 'os_hash_value')];
  return algorithm === undefined || hash === undefined ? undefined : { algorithm, value: hash };
}

function parseImage(value: JsonObject): Image {
  const properties: Record<string, string> = {};
  for (const [name, item] of Object.entries(value)) {
    if (!known.has(name) && typeof item === 'string') properties[name] = item;
  }
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    status: textOrEmpty(value, 'status'),
    visibility: textOrEmpty(value, 'visibility'),
    owner: textOrEmpty(value, 'owner'),
    diskFormat: textIf(value, 'disk_format'),
    containerFormat: textIf(value, 'container_format'),
    size: numberIf(value, 'size'),
    virtualSize: numberIf(value, 'virtual_size'),
    checksum: textIf(value, 'checksum'),
    hash: hashOf(value),
    minDisk: numberOr(value, 'min_disk', 0),
    minRam: numberOr(value, 'min_ram', 0),
    protected: flag(value, 'protected'),
    hidden: flag(value, 'os_hidden'),
    tags: texts(value, 'tags'),
    createdAt: timeIf(value, 'created_at'),
    updatedAt: timeIf(value, 'updated_at'),
    properties,
  };
}

function body(desired: ImageSpec): object {
  return {
    ...desired.properties,
    name: desired.name,
    disk_format: desired.diskFormat,
    container_format: desired.containerFormat,
    visibility: desired.visibility,
    min_disk: desired.minDisk,
    min_ram: desired.minRam,
    protected: desired.protected,
    tags: desired.tags,
  };
}

function imageQuery(filter: ImageFilter): Query {
  return {
    ...filter.properties,
    // A name with a comma or an operator must be quoted.
    name: filter.name === undefined ? undefined : quoteIfNeeded(filter.name),
    status: filter.status,
    visibility: filter.visibility,
    owner: filter.owner,
    tag: filter.tags,
    sort: filter.sort,
  };
}

/** glance parses `in:a,b` as a list. A quoted name inside it is taken literally. */
function quoteIfNeeded(name: string): string {
  return /^(?:in|eq|neq|gt|gte|lt|lte):/.test(name) ? `in:"${name.replaceAll(/["\\]/g, '\\$&')}"` : name;
}
