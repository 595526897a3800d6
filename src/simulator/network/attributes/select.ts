import type { ListQuery, SortOrder } from './list-query.ts';

/** A value of a row under the name an attribute has on the wire. */
export type ReadAttribute<R> = (row: R, name: string) => unknown;

/** Filters that are not a plain comparison, by attribute. */
export type Matchers<R> = Readonly<Record<string, (row: R, values: readonly unknown[]) => boolean>>;

interface Tagged {
  readonly tags?: readonly string[];
}

/** Whether a row passes every filter. */
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

/** Equality as the usual database has it: the case of letters does not matter. */
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

/** Rows in order; with a page size the id decides where nothing else does, so that pages are stable. */
export function inOrder<R extends { readonly id: string }>(
  rows: R[],
  { sorts, limit }: Pick<ListQuery, 'sorts' | 'limit'>,
  read: ReadAttribute<R>,
): R[] {
  const order = comparison(sorts, limit !== undefined, read);
  return order ? rows.sort(order) : rows;
}

/** The page after (or, in reverse, before) the marker. The marker itself need not pass the filters. */
export function pageOf<R extends { readonly id: string }>(
  ordered: readonly R[],
  query: Pick<ListQuery, 'sorts' | 'limit' | 'isReverse'>,
  marker: R | undefined,
  read: ReadAttribute<R>,
): readonly R[] {
  const { limit } = query;
  if (limit === undefined) return ordered;
  const order = comparison(query.sorts, true, read)!;
  if (query.isReverse) {
    const before = marker ? ordered.filter((row) => order(row, marker) < 0) : ordered;
    return before.slice(Math.max(0, before.length - limit));
  }
  const start = marker ? ordered.findIndex((row) => order(row, marker) > 0) : 0;
  return start < 0 ? [] : ordered.slice(start, start + limit);
}

function comparison<R extends { readonly id: string }>(
  sorts: readonly SortOrder[],
  isPaged: boolean,
  read: ReadAttribute<R>,
): ((a: R, b: R) => number) | undefined {
  const keys =
    isPaged && !sorts.some(({ key }) => key === 'id') ? [...sorts, { key: 'id', isDescending: false }] : sorts;
  if (keys.length === 0) return undefined;
  return (a, b) => {
    for (const { key, isDescending } of keys) {
      const order = compare(read(a, key), read(b, key));
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  };
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1;
  if (b === null || b === undefined) return 1;
  if (typeof a === 'string' && typeof b === 'string') {
    const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()];
    if (lowA !== lowB) return lowA < lowB ? -1 : 1;
    return 0;
  }
  return (a as number) < (b as number) ? -1 : 1;
}
