import type { RequestContext } from './http/context.ts';

export interface PageOptions {
  /** undefined: no limit */
  readonly limit: number | undefined;
  /** id of the last row of the previous page */
  readonly marker: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** the page reached the limit; the services then show a next link without checking for more rows */
  readonly isFull: boolean;
}

/** Returns a page of sorted rows, or undefined if the marker is not among them. */
export function pageOf<T extends { readonly id: string }>(
  rows: readonly T[],
  options: PageOptions,
): Page<T> | undefined {
  let start = 0;
  if (options.marker !== undefined) {
    const at = rows.findIndex(({ id }) => id === options.marker);
    if (at < 0) return undefined;
    start = at + 1;
  }
  if (options.limit === undefined) return { items: start === 0 ? rows : rows.slice(start), isFull: false };
  const items = rows.slice(start, start + options.limit);
  return { items, isFull: options.limit > 0 && items.length === options.limit };
}

/** Returns the URL of the next page: the same query sorted by name, with the marker last. */
export function nextHref(context: RequestContext, marker: string): string {
  return `${context.serviceUrl}${context.path}?${context.query.sorted().with({ marker })}`;
}

export interface SortKey<T> {
  readonly read: (row: T) => string | number | boolean | null | undefined;
  readonly isDescending: boolean;
}

/** Returns a sorted copy. Null sorts first, as in the services' databases. */
export function sorted<T>(rows: Iterable<T>, keys: readonly SortKey<T>[]): T[] {
  const list = [...rows];
  if (keys.length === 0) return list;
  return list.sort((a, b) => {
    for (const { read, isDescending } of keys) {
      const order = compare(read(a), read(b));
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  });
}

type Comparable = string | number | boolean | null | undefined;

function compare(a: Comparable, b: Comparable): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1;
  if (b === null || b === undefined) return 1;
  return a < b ? -1 : 1;
}

/** Returns rows newest first. Tables keep them oldest first. */
export function newestFirst<T>(rows: Iterable<T>): T[] {
  return [...rows].reverse();
}
