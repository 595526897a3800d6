import { must } from '../../machinery/index.ts';
import { parseIso8601 } from '../core/checks/iso8601.ts';
import type { RequestContext } from '../core/http/context.ts';
import { newestFirst, pageOf, type SortKey, sorted } from '../core/paging.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer } from '../core/service.ts';
import { type Image, type Images, renderImage } from './images.ts';

const defaultPage = 25;
const maxPage = 1000;

const sortable: Readonly<Record<string, SortKey<Readonly<Image>>['read']>> = {
  name: ({ name }) => name,
  status: ({ status }) => status,
  container_format: ({ containerFormat }) => containerFormat,
  disk_format: ({ diskFormat }) => diskFormat,
  size: ({ size }) => size,
  id: ({ id }) => id,
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ updatedAt }) => updatedAt,
};

const notFilters: ReadonlySet<string> = new Set(['limit', 'marker', 'sort', 'sort_key', 'sort_dir', 'member_status']);

/** Serves GET /v2/images. */
export function listImages(images: Images, context: RequestContext): Answer {
  const { query, caller } = context;
  const visibility = query.get('visibility');
  if (visibility !== undefined && !['public', 'private', 'shared', 'community', 'all'].includes(visibility)) {
    throw new Refusal(400, `Invalid visibility value: ${visibility}`);
  }
  const wantedMembership = query.get('member_status') ?? 'accepted';
  if (!['pending', 'accepted', 'rejected', 'all'].includes(wantedMembership)) {
    throw new Refusal(400, `Invalid status: ${wantedMembership}`);
  }
  const matches = filterOf(context);
  const wantsHidden = query.get('os_hidden')?.toLowerCase() === 'true';
  const found: Readonly<Image>[] = [];
  for (const image of images.images.all()) {
    if (image.isHidden !== wantsHidden || !isListed(images, image, caller, { visibility, wantedMembership })) continue;
    if (matches(image)) found.push(image);
  }
  const rows = inOrder(context, found);
  const page = pageOf(rows, { limit: limitOf(context), marker: query.get('marker') });
  if (!page) throw new Refusal(400, `No image found with ID ${query.get('marker')}`);
  const rest = query.with({ marker: undefined });
  const last = page.items.at(-1);
  return {
    status: 200,
    body: {
      images: page.items.map(renderImage),
      first: `/v2/images${rest === '' ? '' : `?${rest}`}`,
      schema: '/v2/schemas/images',
      ...(page.isFull && last && { next: `/v2/images?${query.with({ marker: last.id })}` }),
    },
  };
}

/** Reports whether a list with these parameters includes the image. */
export function isListed(
  images: Images,
  image: Readonly<Image>,
  { projectId, isAdmin }: { readonly projectId?: string | undefined; readonly isAdmin: boolean },
  { visibility, wantedMembership = 'accepted' }: { visibility?: string | undefined; wantedMembership?: string } = {},
): boolean {
  if (!images.canSee(image, projectId, isAdmin)) return false;
  const isForeign = image.owner !== projectId;
  // Community images of other projects are listed only on request.
  if (isForeign && image.visibility === 'community' && visibility !== 'community' && visibility !== 'all') return false;
  if (visibility !== undefined && visibility !== 'all' && image.visibility !== visibility) return false;
  if (!isForeign || image.visibility !== 'shared' || wantedMembership === 'all') return true;
  // Shared images of other projects are listed if the membership has the requested status, by default accepted.
  const membership = image.members[projectId ?? ''];
  return membership === wantedMembership || (isAdmin && !membership);
}

function limitOf({ query }: RequestContext): number {
  const text = query.get('limit');
  if (text === undefined) return defaultPage;
  const limit = Number(text);
  if (!Number.isInteger(limit)) throw new Refusal(400, 'limit param must be an integer');
  if (limit < 0) throw new Refusal(400, 'limit param must be positive');
  return Math.min(limit, maxPage);
}

function inOrder({ query }: RequestContext, images: readonly Readonly<Image>[]): Readonly<Image>[] {
  const combined = query.get('sort');
  const specs =
    combined === undefined
      ? query.all('sort_key').map((key, at) => ({ key, direction: query.all('sort_dir')[at] ?? 'desc' }))
      : combined.split(',').map((part) => {
          const [key = '', direction = 'desc'] = part.split(':');
          return { key, direction };
        });
  if (specs.length === 0) return newestFirst(images);
  const keys = specs.map(({ key, direction }): SortKey<Readonly<Image>> => {
    const read = sortable[key];
    if (!read) {
      const known = Object.keys(sortable).join(', ');
      throw new Refusal(400, `Invalid sort key: ${key}. It must be one of the following: ${known}.`);
    }
    if (direction !== 'asc' && direction !== 'desc') throw new Refusal(400, `Invalid sort direction: ${direction}`);
    return { read, isDescending: direction === 'desc' };
  });
  return sorted(images, keys);
}

type Filter = (image: Readonly<Image>) => boolean;

function filterOf(context: RequestContext): Filter {
  const filters: Filter[] = [];
  for (const [name, value] of context.query.entries) {
    if (notFilters.has(name) || name === 'visibility' || name === 'os_hidden') continue;
    filters.push(filterBy(name, value));
  }
  return (image) => filters.every((filter) => filter(image));
}

function filterBy(name: string, value: string): Filter {
  switch (name) {
    case 'tag':
      return ({ tags }) => tags.includes(value);
    case 'size':
      return ({ size }) => String(size) === value;
    case 'size_min':
      return ({ size }) => (size ?? 0) >= Number(value);
    case 'size_max':
      return ({ size }) => (size ?? 0) <= Number(value);
    case 'created_at':
    case 'updated_at':
      return timeFilter(name, value);
    case 'protected':
      return ({ isProtected }) => isProtected === (value.toLowerCase() === 'true');
    default:
      return textFilter(name, value);
  }
}

function timeFilter(name: 'created_at' | 'updated_at', value: string): Filter {
  const [, operator = 'eq', text = value] = /^(gt|gte|lt|lte|eq|neq):(.*)$/.exec(value) ?? [];
  const limit = parseIso8601(text);
  if (limit === undefined) throw new Refusal(400, `Invalid time format: ${text}`);
  const compare: Readonly<Record<string, (time: number) => boolean>> = {
    gt: (time) => time > limit,
    gte: (time) => time >= limit,
    lt: (time) => time < limit,
    lte: (time) => time <= limit,
    eq: (time) => time === limit,
    neq: (time) => time !== limit,
  };
  const holds = must(compare[operator], operator);
  return (image) => holds(name === 'created_at' ? image.createdAt : image.updatedAt);
}

/** Filters by attribute or property, case-insensitively like MySQL. */
function textFilter(name: string, value: string): Filter {
  const wanted = value.startsWith('in:') ? splitList(value.slice(3)) : [value];
  const set = new Set(wanted.map((each) => each.toLowerCase()));
  return (image) => {
    const actual = renderedText(image, name);
    return actual !== undefined && set.has(actual.toLowerCase());
  };
}

function renderedText(image: Readonly<Image>, name: string): string | undefined {
  switch (name) {
    case 'id':
      return image.id;
    case 'name':
      return image.name ?? '';
    case 'status':
      return image.status;
    case 'owner':
      return image.owner;
    case 'disk_format':
      return image.diskFormat ?? '';
    case 'container_format':
      return image.containerFormat ?? '';
    case 'checksum':
      return image.checksum ?? '';
    case 'min_disk':
      return String(image.minDisk);
    case 'min_ram':
      return String(image.minRam);
    case 'os_hash_value':
      return image.hashValue ?? '';
    default:
      return image.properties[name];
  }
}

/** Splits at commas. Values with commas are in quotes. */
function splitList(text: string): string[] {
  return (text.match(/"[^"]*"|[^,]+/g) ?? []).map((each) => each.replace(/^"|"$/g, ''));
}
