import type { RequestContext } from '../core/http/context.ts';
import { newestFirst, nextHref, pageOf, type SortKey, sorted } from '../core/paging.ts';
import { badRequest, notFound } from '../core/wrapped-refusals.ts';

const maxPage = 1000;

/** Properties of a list in cinder. */
export interface Listing<T extends { readonly id: string }> {
  /** for example `volumes`, also the key of the answer */
  readonly key: string;
  /** for example `Volume`, the name in refusals */
  readonly noun: string;
  readonly filters: Readonly<Record<string, (row: T, value: string) => boolean>>;
  readonly sortable: Readonly<Record<string, SortKey<T>['read']>>;
}

/** Filters, sorts and pages. Unknown parameters are ignored, as cinder does for members. */
export function listPage<T extends { readonly id: string }>(
  context: RequestContext,
  rows: Iterable<T>,
  listing: Listing<T>,
  render: (row: T) => object,
): object {
  const { query } = context;
  const filters = query.entries.flatMap(([name, value]) => {
    const filter = Object.hasOwn(listing.filters, name) ? listing.filters[name] : undefined;
    return filter ? [{ filter, value }] : [];
  });
  const found: T[] = [];
  for (const row of rows) if (filters.every(({ filter, value }) => filter(row, value))) found.push(row);
  const page = pageOf(inOrder(context, found, listing).slice(offsetOf(context)), {
    limit: limitOf(context),
    marker: query.get('marker'),
  });
  if (!page) throw notFound(`${listing.noun} ${query.get('marker')} could not be found.`);
  const last = page.items.at(-1);
  return {
    [listing.key]: page.items.map(render),
    ...(page.isFull && last && { [`${listing.key}_links`]: [{ rel: 'next', href: nextHref(context, last.id) }] }),
    ...(context.minor >= 45 && query.get('with_count')?.toLowerCase() === 'true' && { count: found.length }),
  };
}

function limitOf({ query }: RequestContext): number {
  const text = query.get('limit');
  if (text === undefined) return maxPage;
  const limit = Number(text);
  if (!Number.isInteger(limit)) throw badRequest('limit param must be an integer');
  if (limit < 0) throw badRequest('limit param must be positive');
  return Math.min(limit, maxPage);
}

function offsetOf({ query }: RequestContext): number {
  const offset = Number(query.get('offset') ?? 0);
  if (!Number.isInteger(offset)) throw badRequest('offset param must be an integer');
  if (offset < 0) throw badRequest('offset param must be positive');
  return offset;
}

function inOrder<T extends { readonly id: string }>(
  { query }: RequestContext,
  rows: readonly T[],
  { sortable }: Listing<T>,
): T[] {
  const desired = query.get('sort') ?? sortFromPair(query.get('sort_key'), query.get('sort_dir'));
  if (desired === undefined) return newestFirst(rows);
  const keys = desired.split(',').map((part): SortKey<T> => {
    const [name = '', direction = 'desc'] = part.trim().split(':');
    const read = sortable[name];
    if (!read) throw badRequest('Invalid input received: Invalid sort key');
    if (direction !== 'asc' && direction !== 'desc') {
      throw badRequest(`Invalid input received: Unknown sort direction, must be 'desc' or 'asc'.`);
    }
    return { read, isDescending: direction === 'desc' };
  });
  return sorted(rows, keys);
}

function sortFromPair(key: string | undefined, direction: string | undefined): string | undefined {
  return key === undefined ? undefined : `${key}:${direction ?? 'desc'}`;
}
