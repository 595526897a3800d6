import type { RequestContext } from './http/context.ts';

export interface PageOptions {
  /** undefined: everything */
  readonly limit: number | undefined;
  /** id of the last row of the page before */
  readonly marker: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** as many as asked for: there may be more, and the services say so without looking */
  readonly isFull: boolean;
}

/** Cuts a page out of sorted rows; undefined when the marker is not among them. */
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

/** The address of the next page: the same query in alphabetical order, the marker last. */
export function nextHref(context: RequestContext, marker: string): string {
  return `${context.serviceUrl}${context.path}?${context.query.sorted().with({ marker })}`;
}

export interface SortKey<T> {
  readonly read: (row: T) => string | number | boolean | null | undefined;
  readonly isDescending: boolean;
}

/** A sorted copy; null sorts first, as in the services' databases. */
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

/** Rows newest first: tables keep them oldest first. */
export function newestFirst<T>(rows: Iterable<T>): T[] {
  return [...rows].reverse();
}
