import { must } from '../../../machinery/index.ts';
import type { ListQuery, SortOrder } from './list-query.ts';

/** Reads the value of an attribute from a row, by its name on the wire. */
export type ReadAttribute<R> = (row: R, name: string) => unknown;

/** Filters other than equality, by attribute. */
export type Matchers<R> = Readonly<Record<string, (row: R, values: readonly unknown[]) => boolean>>;

interface Tagged {
  readonly tags?: readonly string[];
}

/** Reports whether a row matches all filters. */
export function matches<R extends object>(
  row: R,
  filters: ListQuery['filters'],
  read: ReadAttribute<R>,
  matchers: Matchers<R>,
): boolean {
  for (const [name, values] of filters) {
    const matcher = matchers[name] ?? tagMatchers[name];
    if (matcher) {
      if (!matcher(row, values)) return false;
    } else if (!isAnyOf(read(row, name), values)) {
      return false;
    }
  }
  return true;
}

/** Compares case-insensitively, like MySQL. */
function isAnyOf(value: unknown, wanted: readonly unknown[]): boolean {
  if (value === null || value === undefined) return false;
  const text = typeof value === 'string' ? value.toLowerCase() : String(value);
  return wanted.some((each) => (typeof each === 'string' ? each.toLowerCase() : String(each)) === text);
}

const tagMatchers: Matchers<object> = {
  tags: (row, wanted) => wanted.every((tag) => tagsOf(row).includes(tag as string)),
  'tags-any': (row, wanted) => wanted.some((tag) => tagsOf(row).includes(tag as string)),
  'not-tags': (row, wanted) => !wanted.every((tag) => tagsOf(row).includes(tag as string)),
  'not-tags-any': (row, wanted) => !wanted.some((tag) => tagsOf(row).includes(tag as string)),
};

function tagsOf(row: Tagged): readonly string[] {
  return row.tags ?? [];
}

/** Sorts rows. With paging, the id is the last sort key, so that pages are stable. */
export function inOrder<R extends { readonly id: string }>(
  rows: R[],
  { sorts, limit }: Pick<ListQuery, 'sorts' | 'limit'>,
  read: ReadAttribute<R>,
): R[] {
  const order = comparison(sorts, { isPaged: limit !== undefined });
  if (!order) return rows;
  return rows
    .map((row) => placed(row, sorts, read))
    .sort(order)
    .map(({ row }) => row);
}

/** Returns the page after the marker, or before it in reverse order. The marker itself need not match the filters. */
export function pageOf<R extends { readonly id: string }>(
  ordered: readonly R[],
  query: Pick<ListQuery, 'sorts' | 'limit' | 'isReverse'>,
  marker: R | undefined,
  read: ReadAttribute<R>,
): readonly R[] {
  const { limit, sorts, isReverse } = query;
  if (limit === undefined) return ordered;
  let [from, to] = [0, ordered.length];
  if (marker) {
    const order = must(comparison(sorts, { isPaged: true }), 'order');
    const place = placed(marker, sorts, read);
    // Binary search for the position of the marker.
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBefore = order(placed(must(ordered[middle], 'ordered[middle]'), sorts, read), place);
      if (isReverse ? isBefore < 0 : isBefore <= 0) low = middle + 1;
      else high = middle;
    }
    if (isReverse) to = low;
    else from = low;
  }
  return isReverse ? ordered.slice(Math.max(from, to - limit), to) : ordered.slice(from, Math.min(to, from + limit));
}

/** A row with its sort values, read once. */
interface Placed<R> {
  readonly row: R;
  readonly values: readonly unknown[];
}

function placed<R>(row: R, sorts: readonly SortOrder[], read: ReadAttribute<R>): Placed<R> {
  if (sorts.length === 0) return { row, values: [] };
  return {
    row,
    values: sorts.map(({ key }) => {
      const value = read(row, key);
      return typeof value === 'string' ? value.toLowerCase() : value;
    }),
  };
}

function comparison(
  sorts: readonly SortOrder[],
  { isPaged }: { isPaged: boolean },
): (<R extends { readonly id: string }>(a: Placed<R>, b: Placed<R>) => number) | undefined {
  if (sorts.length === 0 && !isPaged) return undefined;
  return (a, b) => {
    for (let i = 0; i < sorts.length; i++) {
      const order = compare(a.values[i], b.values[i]);
      if (order !== 0) return must(sorts[i], 'sorts[i]').isDescending ? -order : order;
    }
    if (!isPaged || a.row.id === b.row.id) return 0;
    return a.row.id < b.row.id ? -1 : 1;
  };
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1;
  if (b === null || b === undefined) return 1;
  return (a as number) < (b as number) ? -1 : 1;
}
